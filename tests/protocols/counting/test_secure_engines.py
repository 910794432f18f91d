"""Both secure protocols at the level of messages: counts equal plain ones, and a peer that deviates ends the run."""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.encryption import Encryptor
from protocols.ciphers.paillier.packing import slot_width
from protocols.counting.checks import Checks
from protocols.counting.dot_product import page_length, plan, plan_sets, planes_of, shapes_of
from protocols.counting.plaintext import PlaintextEngine, rows_by_node, tally
from protocols.counting.replies import CountReceiver, CountSender
from protocols.counting.rows import merge_equal
from protocols.counts import Correct, Query
from protocols.errors import DeviationError, InputError, PeerError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import ChoicePage, CiphertextPage, CountShares, ExactCounts, PackedCounts, Verdict
from protocols.role import Message, Role, receive, run_alone
from protocols.tables import ROOT, Expression, Term
from tests.support.cases import correlated
from tests.support.duel import Tamper, duel
from tests.support.enumeration import expressions, true_count
from tests.support.plain import schema_of
from tests.support.secure_engines import (
    CODES,
    ENGINES,
    FIRST,
    HOLDER,
    KEY,
    LEVELS,
    SCHEMA,
    TEST,
    TRAIN,
    TREE,
    by_dots,
    by_transfers,
    known,
    layout,
    plain,
    play,
    ravel,
)
from tests.support.views import peer_design, view_of


@pytest.mark.parametrize(("told", "ends_it"), [((0, 30), False), ((0, 31), True), ((0,), True), ((-1, 0), True)])
def test_more_records_of_a_set_than_there_are_end_the_run(told: tuple[int, ...], ends_it: bool) -> None:
    checks, asked = Checks(SCHEMA, 30, None), [ROOT & Term(0, 0), ROOT & Term(0, 1)]

    def opened() -> Role[list[int]]:
        yield from receive(CountShares)
        return (yield from CountSender(checks, (30, 10)).tell_sets(asked, [0, 0]))

    def lie(sender: str, number: int, message: Message) -> Message:
        del sender, number
        return ExactCounts(told) if isinstance(message, ExactCounts) else message

    ends = duel(CountReceiver(checks, (30, 10)).hear_sets(asked, CountShares((0, 0))), opened(), lie)
    assert ends[1].sent == [ExactCounts((0, 0))]
    assert isinstance(ends[0].error, DeviationError) == ends_it
    assert ends[0].result == (None if ends_it else list(told))


def _tables(query: Query) -> Sequence[Any]:
    return run_alone(PlaintextEngine(SCHEMA, TRAIN, TEST).count([query]))[0].tables


def test_secure_counts_are_the_plain_counts_of_each_cell_once() -> None:
    for name in ENGINES:
        levels = known(LEVELS)
        for end in play(ENGINES[name](), *levels):
            assert end.result is not None
            assert ravel(end.result) == plain(*levels)
    for slots in (1, 2, 5):
        levels = known(LEVELS)
        for end in play(by_dots(slots=slots), *levels):
            assert end.result is not None
            assert ravel(end.result) == plain(*levels)
    # The tree says the other class everywhere, so the sum under encryption is over no record.
    for name in ENGINES:
        never = Tree(SCHEMA, Leaf((1, 1), 0))
        evaluator, holder = ENGINES[name]()
        if name == "oblivious transfer":
            evaluator._test[:, -1] = 1
        else:
            holder._test[:, -1] = 1
        a, b = play((evaluator, holder), tree=never)
        assert a.result == b.result == [0.0]
    # A split on the evaluator's column needs no new plane where the candidates leave the slots as they were.
    levels = known([[Query(ROOT, (2, 3), None)], [Query(ROOT & Term(0, v), (2, 3), None) for v in (0, 1)]])
    ends = play(by_dots(), *levels)
    assert [type(m) for m in ends[1].sent] == [CiphertextPage, ExactCounts, ExactCounts]
    for slots in (1, 3, 50):
        items = plan([q for level in LEVELS for q in level], layout(slots))
        cells = sorted(cell for item in items for cell in item.cells)
        assert cells == list(range(sum(t.size for level in LEVELS for q in level for t in _tables(q))))
        assert all(len(item.cells) == len(item.plane.slots) <= slots for item in items)
        assert sum(shape.items for shape in shapes_of(items)) == len(items)
        assert sum(shape.items * shape.slots for shape in shapes_of(items)) == len(cells)
        assert len(set(planes_of(items))) == len(planes_of(items))
    shared = replace(SCHEMA, class_owners=("alice", "bob"))
    assert layout(schema=shared).holder_columns == {2, 3}
    assert layout(schema=shared).evaluator_columns == {0, 1, 4}
    assert layout().holder_columns == {2, 3, 4}


def test_a_tree_is_tested_by_one_count_and_without_test_records_nothing_is_sent() -> None:
    for name in ENGINES:
        right = (TREE.predict(TEST) == TEST[:, -1]).sum()
        ends = play(ENGINES[name](), tree=TREE)
        assert [end.result for end in ends] == [[right], [right]]
        told = [message for message in ends[1].sent if isinstance(message, ExactCounts)]
        assert told == [ExactCounts((int(right),))]
    for name in ENGINES:
        evaluator, holder = ENGINES[name](tests=0)
        ends = duel(evaluator.count_correct(TREE), holder.count_correct(TREE))
        assert [(end.result, end.sent) for end in ends] == [(Correct(0.0), []), (Correct(0.0), [])]
    model = NaiveBayes(SCHEMA, np.zeros(2), tuple(np.zeros((a.size, 2)) for a in SCHEMA.attributes))
    for engine in by_dots():
        with pytest.raises(InputError, match="test trees alone"):
            next(engine.count_correct(model))
    items = plan_sets([[path for path, _ in TREE.leaves()]], layout())
    assert len(items) == len(TREE.leaves())
    assert all(item.cells == (0,) for item in items)


@pytest.mark.parametrize("page", [1, 7, 64])
def test_any_page_length_will_do(page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.counting.dot_product.CIPHERTEXT_PAGE_BYTES", page * KEY.public_key.ciphertext_bytes)
    assert page_length(HOLDER.public) == page
    for make in ENGINES.values():
        for end in play(make(), *known(LEVELS)[:2], tree=TREE):
            assert end.result is not None
            assert ravel(end.result[:2]) == plain(*known(LEVELS)[:2])


def test_replies_are_rerandomized_and_a_page_has_at_least_one_ciphertext(monkeypatch: pytest.MonkeyPatch) -> None:
    """FAULTS cases 8 and 9: the same counts twice are other ciphertexts, and an empty selection is not the number 1."""
    a, _ = play(by_dots(), FIRST, FIRST)
    first, second = (message for message in a.sent if isinstance(message, PackedCounts))
    size = KEY.public_key.ciphertext_bytes
    pieces = [m.ciphertexts[i : i + size] for m in (first, second) for i in range(0, len(m.ciphertexts), size)]
    assert len(set(pieces)) == len(pieces)
    values = [int.from_bytes(piece, "big") for piece in pieces]
    assert min(value.bit_length() for value in values) > KEY.public_key.bits
    monkeypatch.setattr("protocols.counting.dot_product.CIPHERTEXT_PAGE_BYTES", 1)
    assert page_length(HOLDER.public) == 1


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


def test_a_key_holder_that_deviates_is_caught_by_the_evaluator() -> None:
    for name, deviation in DEVIATIONS:
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


def test_an_evaluator_that_deviates_hears_nothing() -> None:
    """FAULTS A7 and A12: the key holder ends before it sends a count, and says the same whichever check it was."""
    for error, change in EVALUATOR_DEVIATES.values():
        evaluator, holder = play(by_dots(), FIRST, tamper=swap("a", PackedCounts, change))
        assert type(holder.error) is error
        assert not any(isinstance(message, ExactCounts) for message in holder.sent)
        assert evaluator.waits


CORRECTOR_DEVIATES: dict[str, tuple[type[Exception], Callable[[Any], Message]]] = {
    "no share": (PeerError, lambda message: CountShares(())),
    "a share too few": (PeerError, lambda message: CountShares(message.shares[:-1])),
    "a share too many": (PeerError, lambda message: CountShares((*message.shares, 0))),
    "a share of more than there are": (DeviationError, lambda m: CountShares((m.shares[0] + 31, *m.shares[1:]))),
    "counts instead of shares": (PeerError, lambda message: ExactCounts((1,))),
}


def test_a_corrector_that_deviates_hears_nothing() -> None:
    for error, change in CORRECTOR_DEVIATES.values():
        corrector, chooser = play(by_transfers(), known([FIRST])[0], tamper=swap("a", CountShares, change))
        assert type(chooser.error) is error
        assert not any(isinstance(message, ExactCounts) for message in chooser.sent)
        assert corrector.waits


def test_a_missing_page_leaves_the_evaluator_waiting_and_impossible_predictions_count_for_nobody() -> None:
    evaluator, _ = play(by_dots(), FIRST, tamper=swap("b", CiphertextPage, lambda m: None))
    assert isinstance(evaluator.error, PeerError) or evaluator.waits
    for name in ENGINES:
        first = ChoicePage if name == "oblivious transfer" else CiphertextPage
        evaluator, _ = play(ENGINES[name](), FIRST, tamper=swap("b", first, lambda message: Verdict("")))
        assert type(evaluator.error) is PeerError
    (eleven,) = HOLDER.encryption(secrets).encrypt_pages([[11]])
    tamper = swap("a", PackedCounts, page(lambda data: eleven))
    _, holder = play(by_dots(), tree=TREE, tamper=tamper)
    assert type(holder.error) is DeviationError
    assert not any(isinstance(message, ExactCounts) for message in holder.sent)
    right = int((TREE.predict(TEST) == TEST[:, -1]).sum())
    more = swap("a", CountShares, lambda message: CountShares((message.shares[0] + 11 - right,)))
    _, chooser = play(by_transfers(), tree=TREE, tamper=more)
    assert type(chooser.error) is DeviationError
    assert not any(isinstance(message, ExactCounts) for message in chooser.sent)


ROWS_SCHEMA = schema_of((2, 3, 4), 2, alice=1)
ROWS_CODES = correlated((2, 3, 4, 2), 25, seed=4, flips=0.5)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 255)), max_size=30))
def test_merging_keeps_each_distinct_row_once_with_its_number(rows: list[tuple[int, int]]) -> None:
    codes = np.array(rows, dtype=np.uint8).reshape(-1, 2)
    distinct, inverse, repeats = merge_equal(codes)
    assert (distinct[inverse] == codes).all()
    found = {tuple(row): n for row, n in zip(distinct.tolist(), repeats.tolist(), strict=True)}
    assert found == Counter(rows)
    assert len(distinct) == len(found)


def test_a_view_has_own_columns_as_they_are_and_rows_as_asked() -> None:
    seen = view_of(ROWS_SCHEMA, "alice", ROWS_CODES, peer_design(ROWS_SCHEMA, "alice", ((3, 2), (1,)), Fraction(9, 20)))
    assert (seen.design.sizes, seen.design.groups) == ((2, 3, 4, 2), ((3, 2), (1,)))
    assert (seen.codes[:, 0] == ROWS_CODES[:, 0]).all()
    assert (seen.codes[:, 1:] != ROWS_CODES[:, 1:]).any()
    assert (seen.rows(np.array([3, 1])).codes == seen.codes[[3, 1]]).all()
    assert len(seen.rows(np.array([], dtype=np.intp))) == 0
    for path in expressions((2, 3, 4)):
        for terms in (path.terms, path.terms[::-1]):
            expression = Expression(terms)
            expected = np.flatnonzero(expression.satisfied_by(ROWS_CODES)).tolist()
            direct, stepwise = rows_by_node(ROWS_CODES), rows_by_node(ROWS_CODES)
            for depth in range(len(terms)):
                stepwise.advance([Expression(terms[:depth])])
            assert direct.rows(expression).tolist() == stepwise.rows(expression).tolist() == expected


def test_rows_are_counted_by_node_value_and_class_as_those_of_many_wide_columns_are() -> None:
    nodes = [np.arange(len(ROWS_CODES)), np.array([3, 1]), np.array([], dtype=np.intp)]
    queries = [Query(ROOT, (0, 1, 2), None), Query(ROOT, (2,), None), Query(ROOT, (0, 2), None)]
    answers = tally(ROWS_CODES, nodes, queries, ROWS_SCHEMA)
    for rows, query, answer in zip(nodes, queries, answers, strict=True):
        for candidate, cells, table in zip(query.candidates, query.cells(ROWS_SCHEMA), answer.tables, strict=True):
            assert table.size == cells
            expected = np.zeros_like(table)
            for row in rows.tolist():
                expected[ROWS_CODES[row, candidate], ROWS_CODES[row, 3]] += 1
            assert table.tolist() == expected.tolist()
    # Beyond 63 bits a row is no longer packed into an integer; the order is the same.
    wide = np.repeat(ROWS_CODES, 12, axis=1) * 60
    for codes in (ROWS_CODES, wide):
        distinct, inverse, repeats = merge_equal(codes)
        assert distinct.tolist() == sorted(map(list, {tuple(row) for row in codes.tolist()}))
        assert (distinct[inverse] == codes).all()
        assert repeats.sum() == len(codes)


def test_the_plaintext_engine_counts_by_the_definition() -> None:
    for path in (ROOT, ROOT & Term(1, 2), ROOT & Term(0, 1) & Term(2, 0)):
        candidates = tuple(sorted({0, 1, 2} - path.columns))
        engine = PlaintextEngine(ROWS_SCHEMA, ROWS_CODES, ROWS_CODES[:0])
        (answer,) = run_alone(engine.count([Query(path, candidates, None)]))
        for candidate, table in zip(candidates, answer.tables, strict=True):
            expected = [
                [true_count(ROWS_CODES, path & Term(candidate, v) & Term(3, c)) for c in range(2)]
                for v in range(ROWS_SCHEMA.attributes[candidate].size)
            ]
            assert table.tolist() == expected
    tree = Tree(ROWS_SCHEMA, Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))
    test = np.array([[0, 0, 0, 0], [1, 0, 0, 1], [1, 2, 3, 0]], dtype=np.uint8)
    assert run_alone(PlaintextEngine(ROWS_SCHEMA, ROWS_CODES, test).count_correct(tree)) == Correct(2)
    assert run_alone(PlaintextEngine(ROWS_SCHEMA, ROWS_CODES, ROWS_CODES[:0]).count_correct(tree)) == Correct(0)
