"""A proof that a modulus `N` hides what is encrypted under it: `gcd(N, phi(N)) = 1` (FAULTS A4).

Only then has every residue one N-th root, so that a random N-th power hides a ciphertext perfectly. The key holder, who
can take roots, shows one of each of a few residues that a hash has drawn. Where a prime above the bound of trial
division divides both `N` and `phi(N)`, at most one residue in as many as that prime has a root, so that `ROUNDS` are
found by luck with a chance below `2**-128` (Goldberg, Reyzin, Sagga and Baldimtsi, Efficient Noninteractive
Certification of RSA Moduli and Beyond, ASIACRYPT 2019). The hash covers the run and the prover: no proof serves twice.

A prime would pass: compositeness, small factors and powers are tested beside it (`check_peer_modulus`).

Discloses: nothing of the factors; what is shown could be made by drawing the roots first.
"""

import hashlib
from collections.abc import Iterator, Sequence

from protocols.ciphers.paillier.arithmetic import SMALL_FACTOR_LIMIT, Integer, from_bytes, gcd, powmod
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey
from protocols.errors import PeerError
from protocols.randomness import canonical

SECURITY_BITS = 128
ROUNDS = -(-SECURITY_BITS // (SMALL_FACTOR_LIMIT.bit_length() - 1))
_EXCESS_BYTES = 16  # beyond the modulus, so that residues are drawn evenly but for 2**-128


def prove(key: PrivateKey, context: bytes) -> list[Integer]:
    """Return the N-th roots of the residues that this context draws.

    Args:
        key: The prover's.
        context: What names the run and the prover, and no other.
    """
    return [key.root(residue) for residue in _residues(key.public_key, context)]


def verify(key: PublicKey, roots: Sequence[Integer], context: bytes) -> None:
    """Refuse a modulus whose owner cannot take roots.

    Args:
        key: Let in by `check_peer_modulus`: without small factors, no power, no prime.
        roots: What the peer showed.
        context: As the prover should have it.

    Raises:
        PeerError: A root is missing or is none.
    """
    n = key.n
    found = len(roots) == ROUNDS and all(
        0 < root < n and gcd(residue, n) == 1 and powmod(root, n, n) == residue
        for root, residue in zip(roots, _residues(key, context), strict=True)
    )
    if not found:
        raise PeerError("the peer's modulus is not proved to hide what is encrypted under it")


def _residues(key: PublicKey, context: bytes) -> Iterator[Integer]:
    data = key.modulus_bytes
    for number in range(ROUNDS):
        seed = canonical(b"cotally modulus proof", context, data, number.to_bytes(4, "big"))
        yield from_bytes(hashlib.shake_256(seed).digest(len(data) + _EXCESS_BYTES)) % key.n
