#!/usr/bin/env python
"""Alignment of two lists of equal length, nine tenths of them common: both parties here, on all cores of this machine.

Seconds are those of the whole, one party's work after the other's; processor time is that of this process and its
workers, for one party. Traffic is what crosses both ways, memory the most that this process, which holds both parties,
has had, and a worker.
"""

import os
import resource
import secrets
import time

import numpy as np
from _lab import make_parser, publish

from party.compute import ComputeSettings, make_compute
from party.wire.codec import encode
from protocols.role import Transcript, run_pair
from protocols.tables.schema import Attribute
from protocols.tables.table import Table
from protocols.two_party.agreement import Objection
from protocols.two_party.alignment import Overlap, align
from protocols.two_party.inputs import PartyInputs, Secrets
from protocols.work import Compute

SIZES = (10_000, 100_000)


class Anybody:
    """Objects to nothing."""

    def judge_list(self, mine: int, yours: int, lists: tuple[bytes, bytes]) -> Objection | None:
        """Accept."""
        del mine, yours, lists
        return None

    def judge_points(self, lists: tuple[bytes, bytes], points: bytes) -> Objection | None:
        """Accept."""
        del lists, points
        return None

    def judge_overlap(self, overlap: Overlap) -> Objection | None:
        """Accept."""
        del overlap
        return None


def party(name: str, first: int, size: int, compute: Compute) -> PartyInputs:
    table = Table((Attribute(name, "x", ("v",)),), np.zeros((size, 1), dtype=np.uint8))
    ids = tuple(f"customer-{number:09}" for number in range(first, first + size))
    hidden = Secrets(secrets.token_bytes(32), {}, secrets)
    return PartyInputs(name, table, False, ids, ((0,),), "d", hidden, compute)


def processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(size: int) -> dict[str, object]:
    transcript, started, began = Transcript(), time.perf_counter(), processor()
    with make_compute(ComputeSettings()) as compute:
        alice, bob = party("alice", 0, size, compute), party("bob", size // 10, size, compute)
        ends = run_pair(align(alice, "bob", b"n", Anybody()), align(bob, "alice", b"n", Anybody()), transcript)
        seconds = time.perf_counter() - started
    crossed = sum(len(encode(message)) for message in (*transcript.sent_by_a, *transcript.sent_by_b))
    peaks = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "ids": size,
        "common": ends[0].overlap.both,
        "seconds": seconds,
        "processor_seconds_of_one": (processor() - began) / 2,
        "megabytes": crossed / 1e6,
        "memory_mib": peaks[0],
        "worker_mib": peaks[1],
    }


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    publish([measure(size) for size in ((200,) if arguments.quick else SIZES)], arguments.out)


if __name__ == "__main__":
    main()
