"""Sessions of two sides with fixed chance, and what is done with them."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy, deepcopy
from functools import cache
from itertools import count
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from protocols.messages import OpenedPage
from protocols.oblivious import masks
from protocols.oblivious.extension import Chooser, Sender, Transfers, set_up
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import Numbers, ProductShares, SummedShares, receive_products, send_products
from protocols.randomness import Randomness
from protocols.role import Message, Receive, Role, Send, Transcript, run_pair
from protocols.work import AT_HOME, Places
from tests.protocols.ciphers.paillier.chance import Chance

Bits = NDArray[np.bool_]
MADE = 8


def at_its_beginning(made: Transfers, randomness: Randomness, places: Places = AT_HOME) -> Transfers:
    """Return a copy of one side of a session that has made no transfer; streams say nothing of what was read."""
    chooser, sender = copy(made.chooser), copy(made.sender)
    chooser._randomness, chooser._workers, sender._workers = randomness, places.home, places.home
    return Transfers(chooser, sender, places)


@contextmanager
def sessions_made_before() -> Iterator[None]:
    """Let whole runs begin with one of a few sessions, turn by turn: to make them is most of the work of a small run.

    What a side sends, and what it has in the end, follows from its chance and what it hears: each is worked out once. A
    peer that sends something else is answered as it is without this. Where a test looks at masks, or has its own
    chance, all sessions are made then.
    """
    turns, formed = count(), masks._hashed

    def begin(depth: int, randomness: Randomness, places: Places = AT_HOME) -> Role[Transfers]:
        if randomness is not secrets or masks._hashed is not formed:
            return (yield from set_up(depth, randomness, places))
        number, heard = next(turns) % MADE, list[Message]()
        while not isinstance(step := _step(depth, number, tuple(heard)), Transfers):
            yield Send(step)
            heard.append((yield Receive(type(step))))
        return at_its_beginning(step, randomness, places)

    users = [f"protocols.two_party.{name}" for name in ("alignment", "crosstab", "prediction", "secret", "secure")]
    with ExitStack() as stack:
        for name in (*users, "protocols.counting.oblivious", "party.forecast.speed"):
            stack.enter_context(patch(f"{name}.set_up", begin))
        yield


@cache
def _step(depth: int, number: int, heard: tuple[Message, ...]) -> Message | Transfers:
    """Return what a side sends after it has heard this, or has in the end."""
    role, answer, left = set_up(depth, Chance(number)), None, list(heard)
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            made: Transfers = stop.value
            return made
        answer = left.pop(0) if isinstance(effect, Receive) else None
        if isinstance(effect, Send) and not left:
            return effect.message


def meet(depth: int, seed: int = 1, transcript: Transcript | None = None) -> tuple[Transfers, Transfers]:
    """Return both sides of a session that is at its beginning; one that nobody listens to is a copy of the first."""
    if transcript is not None:
        return _met(depth, seed, transcript)
    one, other = (at_its_beginning(made, deepcopy(made.chooser._randomness)) for made in _kept(depth, seed))
    return one, other


def _met(depth: int, seed: int, transcript: Transcript | None) -> tuple[Transfers, Transfers]:
    return run_pair(set_up(depth, Chance(seed)), set_up(depth, Chance(seed + 10**6)), transcript)


@cache
def _kept(depth: int, seed: int) -> tuple[Transfers, Transfers]:
    return _met(depth, seed, None)


@cache
def usual(depth: int) -> tuple[Chooser, Sender]:
    """Return a direction of a session that many tests use, one after the other: its counters only grow."""
    one, other = meet(depth)
    return one.chooser, other.sender


def extend(
    chooser: Chooser, sender: Sender, vectors: Sequence[Bits], transcript: Transcript | None = None
) -> tuple[list[ChosenKeys], list[BothKeys]]:
    return run_pair(chooser.extend(vectors), sender.extend(list(map(len, vectors))), transcript)


def multiply(
    chosen: Sequence[ChosenKeys],
    both: Sequence[BothKeys],
    widths: Sequence[Sequence[int]],
    numbers: Sequence[Numbers],
    transcript: Transcript | None = None,
) -> tuple[SummedShares, SummedShares]:
    """Return the chooser's and the sender's shares of the sums."""
    shapes = [(len(keys), each) for keys, each in zip(chosen, widths, strict=True)]
    ours, theirs = SummedShares(shapes), SummedShares(shapes)
    run_pair(
        receive_products(list(zip(chosen, widths, strict=True)), ours),
        send_products(list(zip(both, widths, numbers, strict=True)), theirs),
        transcript,
    )
    return ours, theirs


def products(
    chosen: ChosenKeys, both: BothKeys, widths: Sequence[int], numbers: Numbers
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the chooser's and the sender's shares of each product, word by word."""
    ours, theirs = (ProductShares([(len(chosen), widths)]) for _ in range(2))
    run_pair(receive_products([(chosen, widths)], ours), send_products([(both, widths, numbers)], theirs))
    return ours.shares[0], theirs.shares[0]


def opened(ours: SummedShares, theirs: SummedShares, widths: Sequence[Sequence[int]]) -> list[list[int]]:
    return [
        [(a + b) % 2**width for a, b, width in zip(one, other, each, strict=True)]
        for one, other, each in zip(ours.shares, theirs.shares, widths, strict=True)
    ]


def pages_opened(transcript: Transcript) -> list[bytes]:
    """Return what both sides' shares add up to, opening by opening, lanes that nobody uses included."""
    pages = ([each.words for each in sent if isinstance(each, OpenedPage)] for sent in vars(transcript).values())
    return [exclusive_or(one, other) for one, other in zip(*pages, strict=True)]


def exclusive_or(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def lengths(*transcripts: Transcript) -> list[list[tuple[Any, ...]]]:
    """Return the kind of each message that a side has sent, with the length of each part that has one."""
    return [[length_of(each) for each in sent] for crossed in transcripts for sent in vars(crossed).values()]


def length_of(message: Message) -> tuple[Any, ...]:
    return type(message), *(len(part) for part in vars(message).values() if isinstance(part, bytes | tuple))


def random_bits(length: int, seed: int) -> Bits:
    return np.random.default_rng(seed).random(length) < 0.5
