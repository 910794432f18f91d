"""A peer that deviates from either secure protocol ends the run, and is told nothing."""

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.encryption import Encryptor
from protocols.ciphers.paillier.packing import slot_width
from protocols.errors import DeviationError, PeerError
from protocols.messages import ChoicePage, CiphertextPage, CountShares, ExactCounts, PackedCounts, Verdict
from protocols.role import Message
from tests.support.duel import Tamper
from tests.support.secure_engines import (
    CODES,
    ENGINES,
    FIRST,
    HOLDER,
    KEY,
    TEST,
    TREE,
    by_dots,
    by_transfers,
    known,
    play,
)

SIZE = KEY.public_key.ciphertext_bytes
RECORDS, COINS = len(CODES), 6 * 2 - 1


def swap(sender: str, kind: type[Message], change: Callable[[Any], Message | None]) -> Tamper:
    """Change the first message of this kind that this side sends."""
    done: list[int] = []

    def tamper(who: str, number: int, message: Message) -> Message | None:
        if who != sender or not isinstance(message, kind) or done:
            return message
        done.append(number)
        return change(message)

    return tamper


def page(change: Callable[[bytes], bytes]) -> Callable[[Any], Message]:
    return lambda message: type(message)(change(message.ciphertexts))


def identity(instead: Message, message: Message) -> Message:
    del message
    return instead


HOLDER_DEVIATES: dict[str, tuple[type[Exception], type[Message], Callable[[Any], Message | None]]] = {
    "an empty page": (PeerError, CiphertextPage, page(lambda data: b"")),
    "a ciphertext too many": (PeerError, CiphertextPage, page(lambda data: data + data[-SIZE:])),
    "half a ciphertext": (PeerError, CiphertextPage, page(lambda data: data[:-1])),
    "a ciphertext of zero": (DeviationError, CiphertextPage, page(lambda data: data[:-SIZE] + bytes(SIZE))),
    "a count too few": (DeviationError, ExactCounts, lambda m: ExactCounts(m.values[:-1])),
    "a count too many": (DeviationError, ExactCounts, lambda m: ExactCounts((*m.values, 0))),
    "a count above all": (DeviationError, ExactCounts, lambda m: ExactCounts((31, *m.values[1:]))),
    "a count of less than none": (DeviationError, ExactCounts, lambda m: ExactCounts((-1, *m.values[1:]))),
    "counts that are not kept": (DeviationError, ExactCounts, lambda m: ExactCounts((m.values[0] ^ 1, *m.values[1:]))),
    "encrypted counts instead of counts": (PeerError, ExactCounts, lambda m: PackedCounts(b"")),
}


DEVIATIONS = [
    (name, deviation)
    for deviation, (_, kind, _) in HOLDER_DEVIATES.items()
    for name in (["dot products"] if kind is CiphertextPage else ENGINES)
]


@pytest.mark.parametrize(("name", "deviation"), DEVIATIONS)
def test_a_key_holder_that_deviates_is_caught_by_the_evaluator(name: str, deviation: str) -> None:
    error, kind, change = HOLDER_DEVIATES[deviation]
    evaluator, _ = play(ENGINES[name](), FIRST, tamper=swap("b", kind, change))
    assert type(evaluator.error) is error


@pytest.mark.parametrize("values", [(), (1, 1), (11,), (-1,)])
@pytest.mark.parametrize("name", ENGINES)
def test_an_accuracy_that_cannot_be_is_caught(name: str, values: tuple[int, ...]) -> None:
    evaluator, _ = play(ENGINES[name](), tree=TREE, tamper=swap("b", ExactCounts, lambda m: ExactCounts(values)))
    assert type(evaluator.error) is DeviationError


@pytest.mark.parametrize("name", ENGINES)
def test_an_accuracy_at_the_ends_is_accepted(name: str) -> None:
    for told in (ExactCounts((0,)), ExactCounts((10,))):
        evaluator, _ = play(ENGINES[name](), tree=TREE, tamper=swap("b", ExactCounts, partial(identity, told)))
        assert evaluator.result == [told.values[0]]


def test_a_missing_page_leaves_the_evaluator_waiting() -> None:
    evaluator, _ = play(by_dots(), FIRST, tamper=swap("b", CiphertextPage, lambda m: None))
    assert isinstance(evaluator.error, PeerError) or evaluator.waits
    for name in ENGINES:
        first = ChoicePage if name == "oblivious transfer" else CiphertextPage
        evaluator, _ = play(ENGINES[name](), FIRST, tamper=swap("b", first, lambda message: Verdict("")))
        assert type(evaluator.error) is PeerError


def encrypt(message: int) -> bytes:
    (ciphertext,) = Encryptor(KEY, secrets).encrypt([message])
    return int(ciphertext.value).to_bytes(SIZE, "big")


def last_slot(data: bytes) -> bytes:
    """Add 31 to the last ciphertext's lowest slot, which makes that count larger than there are records."""
    n_square = KEY.public_key.n_square
    changed = Integer(int.from_bytes(data[-SIZE:], "big")) * Integer(int.from_bytes(encrypt(31), "big")) % n_square
    return data[:-SIZE] + int(changed).to_bytes(SIZE, "big")


EVALUATOR_DEVIATES: dict[str, tuple[type[Exception], Callable[[Any], Message]]] = {
    "no reply": (PeerError, page(lambda data: b"")),
    "a reply too few": (PeerError, page(lambda data: data[:-SIZE])),
    "a reply too many": (PeerError, page(lambda data: data + encrypt(0))),
    "half a reply": (PeerError, page(lambda data: data[1:])),
    "zero": (DeviationError, page(lambda data: bytes(SIZE) + data[SIZE:])),
    "the modulus": (DeviationError, page(lambda data: int(KEY.public_key.n).to_bytes(SIZE, "big") + data[SIZE:])),
    "not reduced": (DeviationError, page(lambda data: b"\xff" * SIZE + data[SIZE:])),
    "counts of zero": (DeviationError, page(lambda data: encrypt(0) + data[SIZE:])),
    "a count above all": (DeviationError, page(last_slot)),
    "all slots full": (DeviationError, page(lambda data: encrypt(2 ** (slot_width(30) * 20) - 1) + data[SIZE:])),
    "counts instead of encrypted counts": (PeerError, lambda message: ExactCounts((1,))),
}


@pytest.mark.parametrize("deviation", EVALUATOR_DEVIATES)
def test_an_evaluator_that_deviates_is_told_nothing(deviation: str) -> None:
    """FAULTS A7 and A12: the key holder ends before it tells a count, and says the same whichever check it was."""
    error, change = EVALUATOR_DEVIATES[deviation]
    evaluator, holder = play(by_dots(), FIRST, tamper=swap("a", PackedCounts, change))
    assert type(holder.error) is error
    assert not any(isinstance(message, ExactCounts) for message in holder.sent)
    assert evaluator.waits


def test_a_key_holder_counts_right_predictions_of_a_deviating_evaluator_for_nobody() -> None:
    (eleven,) = HOLDER.encryption(secrets).encrypt_pages([[11]])
    tamper = swap("a", PackedCounts, page(lambda data: eleven))
    _, holder = play(by_dots(), tree=TREE, tamper=tamper)
    assert type(holder.error) is DeviationError
    assert not any(isinstance(message, ExactCounts) for message in holder.sent)


CORRECTOR_DEVIATES: dict[str, tuple[type[Exception], Callable[[Any], Message]]] = {
    "no share": (PeerError, lambda message: CountShares(())),
    "a share too few": (PeerError, lambda message: CountShares(message.shares[:-1])),
    "a share too many": (PeerError, lambda message: CountShares((*message.shares, 0))),
    "a share of more than there are": (DeviationError, lambda m: CountShares((m.shares[0] + 31, *m.shares[1:]))),
    "counts instead of shares": (PeerError, lambda message: ExactCounts((1,))),
}


@pytest.mark.parametrize("deviation", CORRECTOR_DEVIATES)
def test_a_corrector_that_deviates_is_told_nothing(deviation: str) -> None:
    error, change = CORRECTOR_DEVIATES[deviation]
    corrector, chooser = play(by_transfers(), known([FIRST])[0], tamper=swap("a", CountShares, change))
    assert type(chooser.error) is error
    assert not any(isinstance(message, ExactCounts) for message in chooser.sent)
    assert corrector.waits


def test_right_predictions_of_more_records_than_there_are_end_the_run() -> None:
    right = int((TREE.predict(TEST) == TEST[:, -1]).sum())
    more = swap("a", CountShares, lambda message: CountShares((message.shares[0] + 11 - right,)))
    _, chooser = play(by_transfers(), tree=TREE, tamper=more)
    assert type(chooser.error) is DeviationError
    assert not any(isinstance(message, ExactCounts) for message in chooser.sent)
