#!/usr/bin/env python
"""Oblivious transfer: processor time of each side and bytes, of a session, of a transfer and of a number under a mask.

Both sides run in one process; a session's time is that of both. The check is part of a transfer's time. Then follows a
whole tree of adult, of which all counts are opened: of both sides, both ways, per tree; and one of five levels that
alone is revealed, with the part of its time that is no transfer, hash or sum. The last rows are by the clock, so for an
idle machine: the same corrections made by one thread, two threads and two worker processes in turn, the least time of
each. What bounds threads is the interpreter, which one of them holds between two calls of numpy or AES; what bounds
processes is that keys and cells are copied to them.
"""

import secrets
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

import numpy as np
from _lab import make_parser, publish

from party.compute import LocalPool, Threads
from party.datasets.included import load_table
from party.wire.codec import encode
from protocols.counting.checks import Checks
from protocols.counting.oblivious import ObliviousChooser, ObliviousCorrector, sides_of
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.replies import CountReceiver, CountSender
from protocols.counts import Counts
from protocols.learning.id3 import HybridId3, Result
from protocols.learning.tree import Tree
from protocols.oblivious.aes import hash_columns
from protocols.oblivious.extension import DEPTHS, TREE_DEPTH, Choices, Transfers, set_up
from protocols.oblivious.gates import Gates, Triples
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import SummedShares, bits_as_numbers, receive_products, send_products
from protocols.role import Message, Receive, Role, Send, T, Transcript, run_alone, run_pair
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.growth import SecretTree
from protocols.secret_tree.shares import SharedCounts
from protocols.tables import Attribute, Schema, Table, joint_schema
from protocols.terms import ALL, Growth
from protocols.work import INLINE, Workers

TRANSFERS, CELLS, WIDTH = 1 << 18, 40, 15
FEW = 1 << 12
RECORDS = 26_049


@dataclass(frozen=True)
class Side:
    """What one side did alone: its seconds, and what it sent."""

    seconds: float
    sent: tuple[Message, ...]


def timed(role: Role[T], heard: Sequence[Message] = ()) -> tuple[Side, T]:
    """Play one side of a protocol in which only one sends."""
    sent: list[Message] = []
    waiting, answer = iter(heard), None
    started = time.thread_time()
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            return Side(time.thread_time() - started, tuple(sent)), stop.value
        if isinstance(effect, Send):
            sent.append(effect.message)
        answer = next(waiting) if isinstance(effect, Receive) else None


def size(messages: Sequence[Message]) -> int:
    return sum(len(encode(message)) for message in messages)


def wire_size(crossed: Transcript) -> int:
    return size(crossed.sent_by_a) + size(crossed.sent_by_b)


def session(depth: int) -> tuple[float, int, tuple[Transfers, Transfers]]:
    crossed, started = Transcript(), time.thread_time()
    pair = run_pair(set_up(depth, secrets), set_up(depth, secrets), crossed)
    return time.thread_time() - started, wire_size(crossed) // 2, pair


def best(call: Callable[[], tuple[float, ...]], rounds: int) -> tuple[float, ...]:
    return tuple(map(min, zip(*(call() for _ in range(rounds)), strict=True)))


def measure(count: int, rounds: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    choices = np.array([secrets.randbelow(2) for _ in range(count)], dtype=np.bool_)
    for depth in DEPTHS:
        seconds, crossed, (one, other) = session(depth)
        rows.append(row(f"k = {depth}: a session, both sides", seconds, crossed))
        chooser, sender, each = best(partial(extend, one, other, choices), rounds)
        rows.append(row(f"k = {depth}: a transfer, its chooser", chooser, each))
        rows.append(row(f"k = {depth}: a transfer, its sender", sender, 0))
    columns = np.zeros((128, count // 8), np.uint8)
    (check,) = best(lambda: (of_call(lambda: hash_columns(bytes(16), columns)) / count,), rounds)
    rows.append(row("the check's hash of a transfer", check, 0))
    (chosen,), (both,) = run_pair(one.chooser.extend([choices]), other.sender.extend([count]))
    sender, chooser, each = best(partial(numbers, chosen, both), rounds)
    rows.append(row(f"a number of {WIDTH} bits, its sender", sender, each))
    rows.append(row(f"a number of {WIDTH} bits, its chooser", chooser, 0))
    return rows


def adult(records: int) -> tuple[Table, Schema]:
    table = load_table("adult", records)
    *names, label = table.attributes
    attributes = [Attribute("alice" if at < 7 else "bob", each.name, each.values) for at, each in enumerate(names)]
    return table, joint_schema(attributes, Attribute("bob", label.name, label.values), ("bob",))


def measure_tree(records: int) -> dict[str, object]:
    """Count a tree of adult, whose first columns the chooser holds, and compare it with the plain one."""
    table, schema = adult(records)
    plain, sides, nobody = (
        PlaintextEngine(schema, table.codes, table.codes[:0]),
        sides_of(schema, "alice"),
        (records, 0),
    )

    def grown(engine: Counts) -> Role[Result]:
        return HybridId3(schema, plain.class_counts, ALL, engine).build()

    def counted(engine: ObliviousChooser | ObliviousCorrector) -> Role[Result]:
        yield from engine.set_up()
        return (yield from grown(engine))

    checks = Checks(schema, records, None)
    chooser = ObliviousChooser(sides, table.codes, table.codes[:0], CountSender(checks, nobody), secrets)
    corrector = ObliviousCorrector(sides, table.codes, table.codes[:0], CountReceiver(checks, nobody), secrets)
    crossed, started = Transcript(), time.thread_time()
    one, other = run_pair(counted(chooser), counted(corrector), crossed)
    seconds = time.thread_time() - started
    if not one == other == run_alone(grown(plain)):
        raise SystemExit("the tree is another one than the plain tree")
    return row(f"{one.computations:,} counts of {records:,} records", seconds, wire_size(crossed))


def measure_tree_alone(records: int) -> list[dict[str, object]]:
    """Grow a tree of which nothing else is revealed, and look every millisecond of work at which module does it."""
    table, schema = adult(records)
    sides, samples, crossed = sides_of(schema, "alice"), Counter[bool](), Transcript()

    def side(*, first: bool) -> Role[Tree]:
        transfers = yield from set_up(TREE_DEPTH, secrets)
        counts = SharedCounts(sides, np.asfortranarray(table.codes), transfers, is_chooser=first)
        gates = Gates(first, transfers, Triples(transfers, secrets))
        return (yield from SecretTree(Allowance(schema, 5), Growth(5, 20), counts, gates).build())

    def look(_: int, frame: FrameType | None) -> None:
        while frame is not None and "protocols" not in (path := Path(frame.f_code.co_filename)).parts:
            frame = frame.f_back
        samples[frame is not None and path.parent.name == "oblivious" and path.stem not in ("gates", "numbers")] += 1

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    started = time.thread_time()
    run_pair(side(first=True), side(first=False), crossed)
    seconds = time.thread_time() - started
    signal.setitimer(signal.ITIMER_PROF, 0)
    of_rest = seconds * samples[False] / max(samples.total(), 1)
    return [
        row("a tree alone", seconds, wire_size(crossed)),
        {**row("a tree alone, beside transfers, hashes and sums", of_rest, 0), "percent": 100 * of_rest / seconds},
    ]


def measure_cores(records: int, rounds: int) -> list[dict[str, object]]:
    """Return the time of a correction by the clock, by who works at blocks of records."""
    (one, other), widths = session(TREE_DEPTH)[2], [WIDTH] * CELLS
    columns = [np.arange(records) % (2 + at) == 0 for at in range(CELLS)]
    _, (both,) = run_pair(one.chooser.extend(columns[:1]), other.sender.extend([records]))
    bits = bits_as_numbers(columns, widths)

    def seconds(workers: Workers) -> float:
        started = time.perf_counter()
        for _ in send_products([(both, widths, bits)], SummedShares([(records, widths)]), workers):
            pass
        return (time.perf_counter() - started) / (records * CELLS)

    with Threads(2) as threads, LocalPool.started(2) as pool:
        ways: dict[str, Workers] = {"one thread": INLINE, "two threads": threads, "two processes": pool}
        times = [{name: seconds(workers) for name, workers in ways.items()} for _ in range(1 + rounds)]
    return [row(f"a correction, {name}", min(each[name] for each in times[1:]), 0) for name in ways]


def extend(one: Transfers, other: Transfers, choices: Choices) -> tuple[float, ...]:
    ours, _ = timed(one.chooser.extend([choices]))
    theirs, _ = timed(other.sender.extend([len(choices)]), ours.sent)
    return tuple(each / len(choices) for each in (ours.seconds, theirs.seconds, size(ours.sent)))


def numbers(chosen: ChosenKeys, both: BothKeys) -> tuple[float, ...]:
    count, widths, columns = len(chosen), [WIDTH] * CELLS, [chosen.choices] * CELLS
    theirs, _ = timed(
        send_products([(both, widths, bits_as_numbers(columns, widths))], SummedShares([(count, widths)]))
    )
    ours, _ = timed(receive_products([(chosen, widths)], SummedShares([(count, widths)])), theirs.sent)
    total = count * CELLS
    return theirs.seconds / total, ours.seconds / total, size(theirs.sent) / total


def of_call(call: Callable[[], object]) -> float:
    started = time.thread_time()
    call()
    return time.thread_time() - started


def row(operation: str, seconds: float, crossed: float) -> dict[str, object]:
    return {"operation": operation, "microseconds": seconds * 1e6, "bytes": crossed}


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    rows = measure(FEW if arguments.quick else TRANSFERS, 1 if arguments.quick else 3)
    records = 400 if arguments.quick else RECORDS
    rows += [measure_tree(records), *measure_tree_alone(records)]
    publish([*rows, *measure_cores(FEW if arguments.quick else TRANSFERS, 1 if arguments.quick else 9)], arguments.out)


if __name__ == "__main__":
    main()
