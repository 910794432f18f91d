"""Both secure protocols at the level of messages: counts equal plain ones, and a peer that deviates ends the run."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from protocols.counting.dot_product import plan, plan_sets, planes_of, shapes_of
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.replies import page_length
from protocols.counts import Correct, Query
from protocols.errors import DeviationError, InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Tree
from protocols.messages import CiphertextPage, ExactCounts, PackedCounts
from protocols.role import Message, Phase, Progress, Role, run_alone
from protocols.tables import ROOT, Term
from tests.support.duel import duel
from tests.support.secure_engines import (
    ENGINES,
    FIRST,
    HOLDER,
    KEY,
    LEVELS,
    SCHEMA,
    TEST,
    TRAIN,
    TREE,
    Engine,
    by_dots,
    count,
    halves,
    known,
    layout,
    plain,
    play,
    ravel,
)


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


@pytest.mark.parametrize(("told", "ends_it"), [((0, 30), False), ((0, 31), True), ((0,), True), ((-1, 0), True)])
def test_more_records_of_a_set_than_there_are_end_the_run(told: tuple[int, ...], ends_it: bool) -> None:
    telling, replying = halves()
    asked = [ROOT & Term(0, 0), ROOT & Term(0, 1)]

    def lie(sender: str, number: int, message: Message) -> Message:
        del sender, number
        return ExactCounts(told) if isinstance(message, ExactCounts) else message

    ends = duel(replying.sets(asked, HOLDER.public.sums(2).totals()), telling.sets(asked), lie)
    assert ends[1].sent == [ExactCounts((0, 0))]
    assert isinstance(ends[0].error, DeviationError) == ends_it
    assert ends[0].result == (None if ends_it else list(told))


def test_secure_counts_are_the_plain_counts() -> None:
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


def test_replies_are_rerandomized() -> None:
    """FAULTS cases 8 and 9: the same counts twice are other ciphertexts, and an empty selection is not the number 1."""
    a, _ = play(by_dots(), FIRST, FIRST)
    first, second = (message for message in a.sent if isinstance(message, PackedCounts))
    size = KEY.public_key.ciphertext_bytes
    pieces = [m.ciphertexts[i : i + size] for m in (first, second) for i in range(0, len(m.ciphertexts), size)]
    assert len(set(pieces)) == len(pieces)
    values = [int.from_bytes(piece, "big") for piece in pieces]
    assert min(value.bit_length() for value in values) > KEY.public_key.bits


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


def test_without_test_records_nothing_is_sent_and_accuracy_is_one_number() -> None:
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
    monkeypatch.setattr("protocols.counting.replies.REPLY_PAGE_BYTES", page * KEY.public_key.ciphertext_bytes)
    assert page_length(HOLDER.public) == page
    for make in ENGINES.values():
        for end in play(make(), *known(LEVELS)[:2], tree=TREE):
            assert end.result is not None
            assert ravel(end.result[:2]) == plain(*known(LEVELS)[:2])


def test_a_page_has_at_least_one_ciphertext(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.counting.replies.REPLY_PAGE_BYTES", 1)
    assert page_length(HOLDER.public) == 1
