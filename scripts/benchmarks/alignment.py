#!/usr/bin/env python
"""Alignment of two lists of equal length, nine tenths of them common: processor time of both sides, and bytes.

Both sides run in one process, each with and without the gate (`least_overlap`), and where they only count. Traffic is
what crosses both ways, memory the most that this process, which holds both sides, has had so far.
"""

import resource
import secrets
import time
from fractions import Fraction

import numpy as np
from _lab import make_parser, publish

from party.wire.codec import encode
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.role import Transcript, run_pair
from protocols.tables import Attribute, Table
from protocols.two_party.alignment import Overlap, align
from protocols.two_party.inputs import PartyInputs, Secrets
from protocols.two_party.objections import Objection

SIZES = (10_000, 100_000, 1_000_000)
NO_KEY = PaillierKeyHolder(PrivateKey(5, 7))  # nothing is encrypted


class Anybody:
    """Objects to nothing but fewer than a share."""

    def __init__(self, least: Fraction) -> None:
        self.least = least

    def judge_list(self, mine: int, yours: int, lists: tuple[bytes, bytes]) -> Objection | None:
        """Accept."""
        del mine, yours, lists
        return None

    def judge_few(self, yours: int, least: int, alike: tuple[str, ...]) -> Objection:
        """Object."""
        del yours, least, alike
        return Objection("overlap", "too few")

    def judge_people(self, overlap: Overlap, lists: tuple[bytes, bytes], people: bytes) -> Objection | None:
        """Accept."""
        del overlap, lists, people
        return None


def party(name: str, first: int, size: int) -> PartyInputs:
    table = Table((Attribute(name, "x", ("v",)),), np.zeros((size, 1), dtype=np.uint8))
    ids = tuple(f"customer-{number:09}" for number in range(first, first + size))
    return PartyInputs(name, table, False, ids, ((0,),), "d", Secrets(secrets.token_bytes(32), NO_KEY, secrets))


def measure(size: int, what: str) -> dict[str, object]:
    judge, count_only = Anybody(Fraction(what == "gate", 2)), what == "count only"
    alice, bob, transcript = party("alice", 0, size), party("bob", size // 10, size), Transcript()
    began = time.process_time()
    one, other = (
        align(own, peer, b"n", judge, count_only=count_only) for own, peer in ((alice, "bob"), (bob, "alice"))
    )
    ends = run_pair(one, other, transcript)
    return {
        "ids": size,
        "what": what,
        "common": ends[0].overlap.both,
        "processor_seconds_of_both": time.process_time() - began,
        "megabytes": sum(len(encode(each)) for each in (*transcript.sent_by_a, *transcript.sent_by_b)) / 1e6,
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    sizes = (200,) if arguments.quick else SIZES
    publish([measure(size, what) for size in sizes for what in ("no gate", "gate", "count only")], arguments.out)


if __name__ == "__main__":
    main()
