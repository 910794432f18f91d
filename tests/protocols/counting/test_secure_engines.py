"""Both secure protocols at the level of messages: counts equal plain ones, and a peer that deviates ends the run."""

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.encryption import Encryptor
from protocols.ciphers.paillier.packing import slot_width
from protocols.ciphers.port import AnyKeyHolder
from protocols.counting.checks import Checks
from protocols.counting.dot_product import (
    DotProductEvaluator,
    DotProductKeyHolder,
    Layout,
    make_layout,
    plan,
    plan_claims,
    planes_of,
    shapes_of,
)
from protocols.counting.encrypted_coins import (
    EncryptedCoinsEvaluator,
    EncryptedCoinsKeyHolder,
    ciphertexts_per_record,
)
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.replies import EvaluatorReplies, KeyHolderReplies, page_length
from protocols.counts import Answer, Correct, Query
from protocols.errors import DeviationError, InputError, PeerError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import CiphertextPage, ExactCounts, PackedCounts, Verdict
from protocols.randomized_response.coins import keyed_draw
from protocols.randomized_response.related_question import Coins, RelatedDesign
from protocols.role import Message, Phase, Progress, Role, run_alone
from protocols.tables.expression import ROOT, Expression, Term
from protocols.tables.schema import Schema
from protocols.terms import Cipher
from protocols.work import InlineWorkers
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import both_keys, key_holder
from tests.support.plain import schema_of
from tests.support.views import peer_design, view_of

SIZES = (2, 3, 2, 3)
SCHEMA = schema_of(SIZES, 2, alice=2)  # Alice evaluates; Bob holds the key, x2, x3 and the class
CODES = correlated((*SIZES, 2), 40, seed=6, flips=0.6)
TRAIN, TEST = CODES[:30], CODES[30:]
HOLDER = key_holder(1)
KEY = HOLDER.private_key
CURVE = both_keys(1)[Cipher.CURVE]
TREE = Tree(SCHEMA, Split((1, 1), 2, (Leaf((1, 0), 0), Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))))
Engine = Any


def halves(
    train: int = 30, test: int = 10, checks: Checks | None = None, key: AnyKeyHolder = HOLDER
) -> tuple[KeyHolderReplies[Any], EvaluatorReplies[Any]]:
    checks = checks or Checks(SCHEMA, train, None)
    sizes = (train, test)
    return KeyHolderReplies(key, checks, sizes), EvaluatorReplies(key.public, checks, sizes, secrets)


def by_coins(tests: int = 10, theta: str = "9/20", key: AnyKeyHolder = HOLDER) -> tuple[Engine, Engine]:
    """Return evaluator and key holder."""
    telling, replying = halves(test=tests, key=key)
    codes = CODES[: 30 + tests]
    design = peer_design(SCHEMA, "alice", ((3, 2), (4,)), Fraction(theta))
    coins: Coins = design.coins(keyed_draw(bytes(32), "d", [str(i) for i in range(len(codes))]))
    seen = view_of(SCHEMA, "alice", codes, design, coins)
    train, test = seen.rows(np.arange(30)), seen.rows(np.arange(30, 30 + tests))
    pruning = seen.rows(np.arange(0))
    holder = EncryptedCoinsKeyHolder(key.encryption(secrets), design, design.pattern_of(coins), telling, 0)
    return EncryptedCoinsEvaluator(train, test, pruning, replying, InlineWorkers()), holder


def layout(slots: int | None = None, schema: Schema = SCHEMA, key: AnyKeyHolder = HOLDER) -> Layout:
    made = make_layout(schema, "bob", 30, key.public)
    return made if slots is None else replace(made, slots=slots)


def by_dots(tests: int = 10, slots: int | None = None, key: AnyKeyHolder = HOLDER) -> tuple[Engine, Engine]:
    """Return evaluator and key holder, each with zeros in the other's columns."""
    telling, replying = halves(test=tests, key=key)
    shape = layout(slots, key=key)

    def own(party: str) -> tuple[Any, Any, Any]:
        codes = np.zeros_like(CODES)
        held = list(SCHEMA.held_by(party))
        codes[:, held] = CODES[:, held]
        return codes[:30], codes[30 : 30 + tests], codes[:0]

    evaluator: Engine = DotProductEvaluator(shape, *own("alice"), replying)
    return evaluator, DotProductKeyHolder(key.encryption(secrets), shape, *own("bob"), telling)


ENGINES: dict[str, Callable[..., tuple[Engine, Engine]]] = {
    "encrypted coins": by_coins,
    "dot products": by_dots,
    "encrypted coins on the curve": partial(by_coins, key=CURVE),
    "dot products on the curve": partial(by_dots, key=CURVE),
}


def count(engine: Engine, *batches: Sequence[Query], tree: Tree | None = None) -> Role[list[list[Answer]]]:
    yield from engine.set_up()
    answers = []
    for batch in batches:
        answers.append((yield from engine.count(batch)))  # noqa: PERF401  # a comprehension cannot yield
    if tree is not None:
        return [*answers, (yield from engine.count_correct(tree)).count]
    return answers


def play(
    engines: tuple[Engine, Engine], *batches: Sequence[Query], tree: Tree | None = None, tamper: Tamper = honest
) -> tuple[End[Any], End[Any]]:
    """Play evaluator ("a") and key holder ("b")."""
    return duel(count(engines[0], *batches, tree=tree), count(engines[1], *batches, tree=tree), tamper)


def plain(*batches: Sequence[Query]) -> list[list[list[float]]]:
    engine = PlaintextEngine(SCHEMA, TRAIN, TEST)
    return ravel([run_alone(engine.count(batch)) for batch in batches])


def ravel(answers: list[list[Answer]]) -> list[list[list[float]]]:
    return [[[*map(float, t.ravel())] for answer in batch for t in answer.tables] for batch in answers]


def test_what_is_encrypted_to_test_the_tree_is_told_apart_from_what_grows_it() -> None:
    def shown(engine: Engine) -> Role[list[Progress]]:
        seen: list[Progress] = []
        role, sent = count(engine, FIRST, tree=TREE), None
        with suppress(StopIteration):
            while True:
                effect = role.send(sent)
                sent = None
                if isinstance(effect, Progress):
                    seen.append(effect)
                else:
                    sent = yield effect
        return seen

    evaluator, holder = by_dots()
    for end in duel(shown(evaluator), shown(holder)):
        assert end.error is None
        assert end.result
        assert [phase for phase, _ in groupby(p.phase for p in end.result)] == [Phase.COLUMNS, Phase.HELD_OUT]
        assert [p.done for p in end.result if p.phase is Phase.HELD_OUT][-1] == end.result[-1].total


FIRST = [Query(ROOT, (0, 1, 2, 3), None)]
LEVELS = (
    FIRST,
    [Query(ROOT & Term(2, v), (0, 1, 3), None) for v in (0, 1)],
    [Query(ROOT & Term(2, 1) & Term(1, v), (0, 3), None) for v in (0, 1, 2)],
)


def known(levels: Sequence[Sequence[Query]]) -> list[list[Query]]:
    """Fill in the class counts of all nodes but the root."""

    def classes(expression: Expression) -> tuple[float, ...] | None:
        if expression == ROOT:
            return None
        rows = TRAIN[expression.satisfied_by(TRAIN)]
        return tuple(float((rows[:, -1] == c).sum()) for c in range(2))

    return [[replace(query, class_counts=classes(query.expression)) for query in level] for level in levels]


@pytest.mark.parametrize("name", ENGINES)
def test_secure_counts_are_the_plain_counts_at_both_sides(name: str) -> None:
    levels = known(LEVELS)
    for end in play(ENGINES[name](), *levels):
        assert end.result is not None
        assert ravel(end.result) == plain(*levels)


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_however_few_slots_there_are(slots: int) -> None:
    levels = known(LEVELS)
    for end in play(by_dots(slots=slots), *levels):
        assert end.result is not None
        assert ravel(end.result) == plain(*levels)


@pytest.mark.parametrize("name", ENGINES)
def test_right_predictions_are_counted_as_one_number(name: str) -> None:
    right = (TREE.predict(TEST) == TEST[:, -1]).sum()
    ends = play(ENGINES[name](), tree=TREE)
    assert [end.result for end in ends] == [[right], [right]]
    told = [message for message in ends[1].sent if isinstance(message, ExactCounts)]
    assert told == [ExactCounts((int(right),))]


@pytest.mark.parametrize("name", ENGINES)
def test_without_test_records_nothing_is_sent_for_the_accuracy(name: str) -> None:
    evaluator, holder = ENGINES[name](tests=0)
    ends = duel(evaluator.count_correct(TREE), holder.count_correct(TREE))
    assert [(end.result, end.sent) for end in ends] == [(Correct(0.0), []), (Correct(0.0), [])]


@pytest.mark.parametrize(("told", "ends_it"), [((0, 3), False), ((0, 4), True), ((0,), True), ((-1, 0), True)])
def test_more_pruning_records_than_there_are_end_the_run(told: tuple[int, ...], ends_it: bool) -> None:
    telling, replying = halves()
    asked = [[(ROOT, 0)], [(ROOT, 1)]]

    def lie(sender: str, number: int, message: Message) -> Message:
        del sender, number
        return ExactCounts(told) if isinstance(message, ExactCounts) else message

    ends = duel(replying.claims(asked, HOLDER.public.sums(2).totals(), 3), telling.claims(asked, 3), lie)
    assert ends[1].sent == [ExactCounts((0, 0))]
    assert isinstance(ends[0].error, DeviationError) == ends_it
    assert ends[0].result == (None if ends_it else list(told))


@pytest.mark.parametrize("name", ENGINES)
def test_no_leaf_hit_is_a_count_of_zero(name: str) -> None:
    """The tree says the other class everywhere, so the sum under encryption is over no record."""
    never = Tree(SCHEMA, Leaf((1, 1), 0))
    evaluator, holder = ENGINES[name]()
    if name.startswith("encrypted coins"):
        evaluator._test.codes[:, -1] = 1
    else:
        holder._test[:, -1] = 1
    a, b = play((evaluator, holder), tree=never)
    assert a.result == b.result == [0.0]


@pytest.mark.parametrize("name", ENGINES)
def test_replies_are_rerandomized(name: str) -> None:
    """FAULTS cases 8 and 9: the same counts twice are other ciphertexts, and an empty selection is not the number 1."""
    evaluator, holder = ENGINES[name]()
    a, _ = play((evaluator, holder), FIRST, FIRST)
    first, second = (message for message in a.sent if isinstance(message, PackedCounts))
    size = KEY.public_key.ciphertext_bytes
    pieces = [m.ciphertexts[i : i + size] for m in (first, second) for i in range(0, len(m.ciphertexts), size)]
    assert len(set(pieces)) == len(pieces)
    values = [int.from_bytes(piece, "big") for piece in pieces]
    assert min(value.bit_length() for value in values) > KEY.public_key.bits


def test_the_key_holder_sends_its_coins_once_and_nothing_else() -> None:
    _, b = play(by_coins(), *known(LEVELS))
    kinds = [type(message) for message in b.sent]
    assert kinds == [CiphertextPage, ExactCounts, ExactCounts, ExactCounts]
    page = b.sent[0]
    assert isinstance(page, CiphertextPage)
    assert len(page.ciphertexts) == 40 * (6 * 2 - 1) * KEY.public_key.ciphertext_bytes


def test_planes_are_kept_from_level_to_level() -> None:
    """A split on the evaluator's column needs no new plane where the candidates leave the slots as they were."""
    levels = known([[Query(ROOT, (2, 3), None)], [Query(ROOT & Term(0, v), (2, 3), None) for v in (0, 1)]])
    ends = play(by_dots(), *levels)
    assert [type(m) for m in ends[1].sent] == [CiphertextPage, ExactCounts, ExactCounts]


def test_a_plan_has_every_cell_once_and_says_how_its_replies_look() -> None:
    for slots in (1, 3, 50):
        items = plan([q for level in LEVELS for q in level], layout(slots))
        cells = sorted(cell for item in items for cell in item.cells)
        assert cells == list(range(sum(t.size for level in LEVELS for q in level for t in _tables(q))))
        assert all(len(item.cells) == len(item.plane.slots) <= slots for item in items)
        assert sum(shape.items for shape in shapes_of(items)) == len(items)
        assert sum(shape.items * shape.slots for shape in shapes_of(items)) == len(cells)
        assert len(set(planes_of(items))) == len(planes_of(items))


def _tables(query: Query) -> Sequence[Any]:
    return run_alone(PlaintextEngine(SCHEMA, TRAIN, TEST).count([query]))[0].tables


def test_a_shared_class_is_selected_by_the_evaluator_not_encrypted() -> None:
    shared = replace(SCHEMA, class_owners=("alice", "bob"))
    assert layout(schema=shared).holder_columns == {2, 3}
    assert layout(schema=shared).evaluator_columns == {0, 1, 4}
    assert layout().holder_columns == {2, 3, 4}


def test_the_plan_of_the_accuracy_has_one_item_a_leaf() -> None:
    items = plan_claims([TREE.leaves()], layout())
    assert len(items) == len(TREE.leaves())
    assert all(item.cells == (0,) for item in items)


@pytest.mark.parametrize("sizes", [(), (64, 4), (2,) * 8])
def test_up_to_256_coin_patterns_can_be_encrypted(sizes: tuple[int, ...]) -> None:
    design = RelatedDesign(sizes, tuple((c,) for c in range(len(sizes))), Fraction(9, 20))
    assert ciphertexts_per_record(design) == design.patterns - 1 <= 255


def test_more_coin_patterns_are_refused_with_the_cure() -> None:
    design = RelatedDesign((43, 6), ((0,), (1,)), Fraction(9, 20))
    with pytest.raises(InputError, match=r"258 coin patterns: too many .* use fewer groups, merge values"):
        ciphertexts_per_record(design)


@pytest.mark.parametrize("page", [1, 7, 64])
def test_any_page_length_will_do(page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.counting.replies.REPLY_PAGE_BYTES", page * KEY.public_key.ciphertext_bytes)
    assert page_length(HOLDER.public) == page
    for make in ENGINES.values():
        for end in play(make(), *known(LEVELS)[:2], tree=TREE):
            assert end.result is not None
            assert ravel(end.result[:2]) == plain(*known(LEVELS)[:2])


def test_a_page_has_at_least_one_ciphertext(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.counting.replies.REPLY_PAGE_BYTES", 1)
    assert page_length(HOLDER.public) == 1


# --- a peer that deviates

SIZE = KEY.public_key.ciphertext_bytes


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
    "another kind": (PeerError, CiphertextPage, lambda message: Verdict("")),
    "a count too few": (DeviationError, ExactCounts, lambda m: ExactCounts(m.values[:-1])),
    "a count too many": (DeviationError, ExactCounts, lambda m: ExactCounts((*m.values, 0))),
    "a count above all": (DeviationError, ExactCounts, lambda m: ExactCounts((31, *m.values[1:]))),
    "a count of less than none": (DeviationError, ExactCounts, lambda m: ExactCounts((-1, *m.values[1:]))),
    "counts that are not kept": (DeviationError, ExactCounts, lambda m: ExactCounts((m.values[0] ^ 1, *m.values[1:]))),
    "encrypted counts instead of counts": (PeerError, ExactCounts, lambda m: PackedCounts(b"")),
}


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("deviation", HOLDER_DEVIATES)
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
    evaluator, _ = play(by_coins(), FIRST, tamper=swap("b", CiphertextPage, lambda m: None))
    assert isinstance(evaluator.error, PeerError) or evaluator.waits


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


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("deviation", EVALUATOR_DEVIATES)
def test_an_evaluator_that_deviates_is_told_nothing(name: str, deviation: str) -> None:
    """FAULTS A7 and A12: the key holder ends before it tells a count, and says the same whichever check it was."""
    error, change = EVALUATOR_DEVIATES[deviation]
    evaluator, holder = play(ENGINES[name](), FIRST, tamper=swap("a", PackedCounts, change))
    assert type(holder.error) is error
    assert not any(isinstance(message, ExactCounts) for message in holder.sent)
    assert evaluator.waits


@pytest.mark.parametrize("name", ENGINES)
def test_a_key_holder_counts_right_predictions_of_a_deviating_evaluator_for_nobody(name: str) -> None:
    key = CURVE if name.endswith("curve") else HOLDER
    (eleven,) = key.encryption(secrets).encrypt_pages([[11]])
    tamper = swap("a", PackedCounts, page(lambda data: eleven))
    _, holder = play(ENGINES[name](), tree=TREE, tamper=tamper)
    assert type(holder.error) is DeviationError
    assert not any(isinstance(message, ExactCounts) for message in holder.sent)
