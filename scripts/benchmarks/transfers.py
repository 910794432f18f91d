#!/usr/bin/env python
"""Oblivious transfer: processor time of each side and bytes, of a session, of a transfer and of a number under a mask.

Both sides run in one process; a session's time is that of both. The check is part of a transfer's time.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from _lab import make_parser, publish

from protocols.oblivious.aes import hash_columns
from protocols.oblivious.extension import DEPTHS, Choices
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import SummedShares, bits_as_numbers, receive_products, send_products
from protocols.oblivious.session import Transfers, set_up
from protocols.role import Message, Role, Send, T, Transcript, run_pair

TRANSFERS, CELLS, WIDTH = 1 << 18, 40, 15
FEW = 1 << 12


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
        answer = None if isinstance(effect, Send) else next(waiting)


def size(messages: Sequence[Message]) -> int:
    return sum(len(part) for message in messages for part in vars(message).values())


def session(depth: int) -> tuple[float, int, tuple[Transfers, Transfers]]:
    crossed, started = Transcript(), time.thread_time()
    pair = run_pair(set_up(depth, secrets), set_up(depth, secrets), crossed)
    return time.thread_time() - started, size(crossed.sent_by_a), pair


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
    publish(measure(FEW if arguments.quick else TRANSFERS, 1 if arguments.quick else 3), arguments.out)


if __name__ == "__main__":
    main()
