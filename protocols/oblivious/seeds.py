"""From pairs of keys, trees of seeds: the chooser of an extension knows all leaves, the sender all but one of each.

A puncturable pseudorandom function from transfers (Roy, SoftSpokenOT, CRYPTO 2022, figures 13 and 14; the tree of
Goldreich, Goldwasser and Micali). A tree of depth `k` has `2**k` leaves; bit `j` of a leaf's place is the side to which
the path turns at level `j`. The sender lacks the leaf whose place is its secret offset there: at each level its
transfer gave it the key of the other side, and that opens the sum of the nodes of this side, of which it lacks one.

*Functionality*: per tree, all leaves for the one, all but a secret one for the other. Who made the tree may guess bits
of that place: a wrong guess ends the session (Roy: selective abort), a right one reveals nothing else.
*Consistency* (Roy 2022, after Boyle et al., CCS 2019): each leaf gives its seed and 32 bytes of proof; the sum of the
proofs of each tree, and one digest of all of them, cross. The missing proof follows from the sum, and the digest
decides.
*Assumed*: SHA-256 and SHA-512 as random oracles.
*Deviations*: these hashes in the place of a generator; one digest for all trees; the check at `k = 1` too, where it is
not needed and costs 4 kB.
*Never again*: a tree serves one session and direction; its leaves are seeds of streams that are read once.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from protocols.errors import DeviationError, PeerError
from protocols.messages import SeedHints
from protocols.oblivious.aes import BLOCK_BYTES
from protocols.oblivious.base import TRANSFERS, KeyPair
from protocols.randomness import Randomness, canonical

PROOF_BYTES: Final = 32
Trees = list[list[bytes]]
"""The seeds of each tree by place; zeros stand in the place of the one that is not known."""

_NONE: Final = bytes(BLOCK_BYTES)


def grow(session: bytes, pairs: Sequence[KeyPair], depth: int) -> tuple[Trees, SeedHints]:
    """Return the seeds of all trees of this depth (`k`), and what lets the sender follow."""
    trees, hints, proofs = [], [], []
    for start in range(0, TRANSFERS, depth):
        nodes = list(pairs[start])
        for level in range(1, depth):
            sides = _children(session, start, level, nodes)
            hints += [_sum([*side, key]) for side, key in zip(sides, pairs[start + level], strict=True)]
            nodes = [*sides[0], *sides[1]]
        seeds, own = _leaves(session, start, nodes)
        trees.append(seeds)
        proofs.append(own)
    return trees, SeedHints(b"".join(hints), b"".join(map(_sum, proofs)), _digest(proofs))


@dataclass(frozen=True, repr=False)
class Follower:
    """What the sender follows the trees by: of each transfer where the path turns, and the key of the other side."""

    session: bytes
    depth: int
    missing: Sequence[int]
    keys: Sequence[bytes]

    def follow(self, hints: SeedHints) -> Trees:
        """Return the seeds of all trees but for one each."""
        if tuple(map(len, (hints.hints, hints.sums, hints.digest))) != (*self._lengths(), PROOF_BYTES):
            raise PeerError("the peer sent seeds of other lengths than the protocol has")
        trees, digest = self._follow(hints)
        if digest != hints.digest:
            raise DeviationError
        return trees

    def simulate(self, randomness: Randomness) -> SeedHints:
        """Return hints as the sender sees them, from its own keys and uniform strings."""
        uniform = (randomness.randbelow(1 << 8 * size).to_bytes(size, "big") for size in self._lengths())
        hints = SeedHints(next(uniform), next(uniform), b"")
        return replace(hints, digest=self._follow(hints)[1])

    def _lengths(self) -> tuple[int, int]:
        trees = TRANSFERS // self.depth
        return 2 * BLOCK_BYTES * (TRANSFERS - trees), PROOF_BYTES * trees

    def _follow(self, hints: SeedHints) -> tuple[Trees, bytes]:
        halves, sums = iter(_split(hints.hints, BLOCK_BYTES)), iter(_split(hints.sums, PROOF_BYTES))
        trees, proofs = [], []
        for start in range(0, TRANSFERS, self.depth):
            hole = self.missing[start]
            nodes = [_NONE, _NONE]
            nodes[1 - hole] = self.keys[start]
            for level in range(1, self.depth):
                turn = self.missing[start + level]
                sides = _children(self.session, start, level, nodes)
                sides[0][hole] = sides[1][hole] = _NONE
                hint = (next(halves), next(halves))[1 - turn]
                sides[1 - turn][hole] = _sum([*sides[1 - turn], self.keys[start + level], hint])
                nodes = [*sides[0], *sides[1]]
                hole += turn << level
            seeds, own = _leaves(self.session, start, nodes)
            seeds[hole], own[hole] = _NONE, bytes(PROOF_BYTES)
            own[hole] = _sum([*own, next(sums)])
            trees.append(seeds)
            proofs.append(own)
        return trees, _digest(proofs)


def _children(session: bytes, tree: int, level: int, nodes: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return all left and all right children; that of place `p` and side `s` has the place `p + s * 2**level`."""
    start = hashlib.sha256(canonical(b"tree", session, bytes([tree, level])))
    both = [_finish(start, node) for node in nodes]
    return [each[:BLOCK_BYTES] for each in both], [each[BLOCK_BYTES:] for each in both]


def _leaves(session: bytes, tree: int, nodes: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return the seed and the proof of each leaf."""
    start = hashlib.sha512(canonical(b"leaf", session, bytes([tree])))
    both = [_finish(start, node) for node in nodes]
    return [each[:BLOCK_BYTES] for each in both], [each[-PROOF_BYTES:] for each in both]


def _finish(start: "hashlib._Hash", node: bytes) -> bytes:
    hashing = start.copy()
    hashing.update(node)
    return hashing.digest()


def _sum(strings: Sequence[bytes]) -> bytes:
    """Add strings of one length bit by bit."""
    rows = np.frombuffer(b"".join(strings), np.uint8).reshape(len(strings), -1)
    return bytes(np.bitwise_xor.reduce(rows))


def _digest(proofs: Sequence[Sequence[bytes]]) -> bytes:
    return hashlib.sha256(b"".join(map(b"".join, proofs))).digest()


def _split(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
