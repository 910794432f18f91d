"""The receiver's attack: its lists, its climb and what it reads, against enumeration over whole records."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.privacy import attack
from protocols.privacy.attack import CopyReading, Likelihood, _surest, disclosure, likely_disclosure, read_copy
from protocols.randomized_response.design import Design, cells, numbered
from protocols.randomized_response.mixed import one_coin_each
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import NO_ANSWER
from tests.protocols.privacy.designs import DESIGNS, related, unrelated
from tests.support.declaration import joint_transition
from tests.support.examples import few


def test_a_response_has_the_declared_chance_under_every_candidate_and_none_under_others() -> None:
    for design in DESIGNS.values():
        for k, group in enumerate(design.groups):
            sent = np.array(cells(design.sizes), dtype=np.uint8)
            found = design.candidates(sent, k, group)
            matrix = design.transition(k, group)
            own = cells([design.sizes[column] for column in group])
            for row, record in enumerate(sent):
                response = own.index(tuple(record[list(group)]))
                expected = {truth: chance for truth, chance in zip(own, matrix[response], strict=True) if chance}
                listed = found.codes(np.full(found.length, found.lists[row]), np.arange(found.length))
                assert len({tuple(codes) for codes in listed}) == found.length
                chances = {
                    tuple(codes): found.other[found.places[row]] + found.plus * (place == found.places[row])
                    for place, codes in enumerate(listed)
                }
                assert {truth: chance for truth, chance in chances.items() if chance} == expected


def test_one_coin_each_sends_every_column_as_before() -> None:
    for design in DESIGNS.values():
        apart = one_coin_each(design)
        assert sorted(column for group in apart.groups for column in group) == sorted(sum(design.groups, ()))
        assert all(len(group) == 1 for group in apart.groups)
        for k, (column,) in enumerate(apart.groups):
            group = design.group_of(column)
            assert group is not None
            assert apart.transition(k, (column,)) == design.transition(group, (column,))


def test_the_likeliest_candidate_is_that_of_enumeration_in_fractions() -> None:
    """Two groups over a distribution that is known: of every response, the best truth and its posterior."""
    design = related([2, 2, 3], [[0, 1], [2]], "2/5")
    records = cells(design.sizes)
    known = {record: Fraction(1 + (7 * place) % 11, 1) for place, record in enumerate(records)}
    total = sum(known.values())
    matrix = joint_transition(design, range(3))
    sent = np.array(cells(design.sizes), dtype=np.uint8)
    lists = [design.candidates(sent, k, group) for k, group in enumerate(design.groups)]
    kinds = lists[0].lists
    shape = (int(kinds.max()) + 1, lists[0].length, lists[1].length)
    shares = np.zeros(shape)
    for record, kind, *places in zip(records, kinds, *(own.places for own in lists), strict=True):
        shares[kind, places[0], places[1]] = float(known[record] / total)
    model = Likelihood(lists, kinds)
    places, chance = model.likeliest(shares)
    first = lists[0].codes(kinds, places[0])
    second = lists[1].codes(lists[1].lists, places[1])
    for row in range(len(records)):
        joint = [known[truth] * matrix[row][t] for t, truth in enumerate(records)]
        assert joint[records.index((*map(int, first[row]), *map(int, second[row])))] == max(joint)
        assert chance[row] == pytest.approx(float(max(joint) / sum(joint)))


def test_no_step_makes_the_copy_less_likely() -> None:
    chance = np.random.default_rng(5)
    design = related([2, 2, 2, 4], [[0, 1, 2], [3]], "9/20")
    sent = chance.integers(0, 2, (50, 4)).astype(np.uint8)
    lists = [design.candidates(sent, k, group) for k, group in enumerate(design.groups)]
    model = Likelihood(lists, lists[0].lists)
    shares = chance.dirichlet(np.ones(32)).reshape(model.shape)
    before = model.log_likelihood(shares)
    for _ in range(200):
        shares = model.step(shares)
        after = model.log_likelihood(shares)
        assert after >= before - 1e-12
        before = after


@pytest.mark.parametrize("name", ["two groups", "coprime", "more lies than truth", "unrelated, mixed"])
def test_a_step_is_that_of_all_whole_records_in_fractions(name: str) -> None:
    """From independent shares, over every cell of the domain: the next share of a truth is its expected share."""
    design = DESIGNS[name]
    records = cells(design.sizes)
    shares = {r: Fraction(prod(2 + value for value in r)) for r in records}
    total = sum(shares.values())
    shares = {record: share / total for record, share in shares.items()}
    seen = {record: Fraction(1 + place % 3) for place, record in enumerate(records)}
    matrix = joint_transition(design, range(len(design.sizes)))
    chances = [sum((shares[t] * matrix[r][c] for c, t in enumerate(records)), Fraction(0)) for r in range(len(records))]
    expected = {
        truth: sum(
            (
                seen[response] * shares[truth] * matrix[r][c] / chances[r]
                for r, response in enumerate(records)
                if matrix[r][c]
            ),
            Fraction(0),
        )
        / sum(seen.values())
        for c, truth in enumerate(records)
    }
    sent = np.array([record for record, times in seen.items() for _ in range(int(times))], dtype=np.uint8)
    lists = [design.candidates(sent, k, group) for k, group in enumerate(design.groups)]
    _, classes = numbered(np.stack([own.lists for own in lists], axis=1))
    model = Likelihood(lists, classes)
    places = (classes, *[own.places for own in lists])
    array = np.zeros(model.shape)
    array[places] = [float(shares[tuple(map(int, record))]) for record in sent]
    moved = model.step(array)
    assert moved[places] == pytest.approx([float(expected[tuple(map(int, record))]) for record in sent], abs=1e-12)


@given(st.data())
def test_a_reading_does_not_depend_on_the_order_of_records_and_a_copy_of_truths_is_read_whole(
    data: st.DataObject,
) -> None:
    design = data.draw(st.sampled_from([own for own in DESIGNS.values() if own.groups]))
    row = st.tuples(*(st.integers(0, size - 1) for size in design.sizes))
    truth = np.array(data.draw(st.lists(row, min_size=1, max_size=12)), dtype=np.uint8)
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    sent = design.randomize(truth, lambda _, bound: chance.integers(0, bound, len(truth)))
    order = chance.permutation(len(truth))
    assert read_copy(truth, sent, design) == read_copy(truth[order], sent[order], design)
    if isinstance(design, RelatedDesign):
        told = replace(design, theta=Fraction(1))
        found = read_copy(truth, truth, told)
        assert found.whole == found.sure == found.records == len(truth)


def test_the_work_is_bounded_by_blocks_of_groups_and_then_by_fewer_records(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(4)
    truth = chance.integers(0, 3, (600, 6)).astype(np.uint8)
    apart = related([3] * 6, [[c] for c in range(6)], "3/4")
    shared = related([3] * 6, [range(6)], "3/4")
    sent, joint = (
        design.randomize(truth, lambda _, bound: chance.integers(0, bound, 600)) for design in (apart, shared)
    )
    whole = read_copy(truth, sent, apart)
    monkeypatch.setattr(attack, "WORK", 100)
    in_blocks, fewer = read_copy(truth, sent, apart), read_copy(truth, joint, shared)
    assert whole.records == in_blocks.records == 600
    assert abs(whole.whole - in_blocks.whole) < 60
    assert 10 < fewer.records < 40  # lists of three: 33 classes fit
    assert fewer.whole <= fewer.records
    monkeypatch.setattr(attack, "MOST_RECORDS", 250)
    assert read_copy(truth, sent, apart).records == 200
    assert list(attack.read_rows(600)[:3]) == [0, 3, 6]
    assert list(attack.read_rows(250)) == list(range(250))


def test_columns_of_one_coin_are_read_at_the_rate_that_is_likely_and_of_their_own_coins_are_not() -> None:
    """Columns that are alike but for few records: who shares a coin sends that they are, and in which records not."""
    chance = np.random.default_rng(11)
    base = chance.integers(0, 10, 4000) == 0
    truth = np.stack([base, base ^ (chance.integers(0, 9, 4000) == 0)], axis=1).astype(np.uint8)
    shared = related([2, 2], [[0, 1]], "2/3")
    apart = one_coin_each(shared)
    copies = [design.randomize(truth, lambda _, bound: chance.integers(0, bound, 4000)) for design in (shared, apart)]
    together, alone = (read_copy(truth, copy, design) for copy, design in zip(copies, (shared, apart), strict=True))
    assert together.whole > alone.whole
    assert together.records == alone.records == 4000
    # Chances that say nothing, that are right, and that boast: right ones count, of the surest.
    right = np.array([True] * 99 + [False] + [True] * 50 + [False] * 50)
    assert _surest(np.full(200, 0.95), right) == 0
    assert _surest(np.where(np.arange(200) < 100, 0.99, 0.95), right) == 99
    assert _surest(np.where(np.arange(200) < 100, 0.89, 0.95), right) == 0
    assert _surest(np.linspace(1, 0.9, 200), right) == 149
    assert _surest(np.linspace(0.89, 0.8, 200), right) == 0
    chance = np.random.default_rng(12)
    rare = (chance.random((4000, 6)) < 0.12).astype(np.uint8)
    truth = np.where(chance.random((4000, 1)) < 0.2, 1 - rare, rare).astype(np.uint8)
    design = related([2] * 6, [range(3), range(3, 6)], "3/5")
    sent = design.randomize(truth, lambda _, bound: chance.integers(0, bound, 4000))
    known = read_copy(truth, sent, design)
    likely = likely_disclosure(sent, design, lambda records: lambda _, bound: chance.integers(0, bound, records))
    assert likely is not None
    assert likely.copy.records == 4000
    assert abs(likely.copy.whole - known.whole) < 400
    assert likely.copy.whole > likely.apart.whole + 400


def test_records_that_nobody_shares_are_read_by_how_common_each_value_is() -> None:
    """Twenty rare values on one coin, 200 people: nearly every class has one record; a flat beginning reads theta."""
    chance = np.random.default_rng(7)
    truth = (chance.random((200, 20)) < 0.2).astype(np.uint8)
    design = related([2] * 20, [range(20)], "3/5")
    sent = design.randomize(truth, lambda _, bound: chance.integers(0, bound, 200))
    assert (sent == truth).all(axis=1).sum() < 150
    assert read_copy(truth, sent, design).whole > 190


def test_a_plain_column_shows_what_is_likely_of_the_hidden_ones() -> None:
    chance = np.random.default_rng(9)
    plain = np.arange(2000) % 4
    hidden = np.stack([plain % 2, plain // 2], axis=1) ^ (chance.random((2000, 2)) < 0.02)
    truth = np.column_stack([plain, hidden]).astype(np.uint8)
    design = related([4, 2, 2], [[1], [2]], "2/3")
    sent = design.randomize(truth, lambda _, bound: chance.integers(0, bound, 2000))
    blind = related([2, 2], [[0], [1]], "2/3")
    assert read_copy(truth, sent, design).whole > 1850
    assert read_copy(truth[:, 1:], sent[:, 1:], blind).whole < 1200


def test_missing_answers_are_seen_and_read_by_what_was_answered() -> None:
    design = unrelated([[0, 1]], "1/2", ["1/2 1/2", "1/2 1/2"])
    truth = np.array([[0, NO_ANSWER], [1, 1], [NO_ANSWER, NO_ANSWER]], dtype=np.uint8)
    found = disclosure(truth, truth, design, lambda _, bound: np.zeros(3, dtype=np.int64))
    assert found is not None
    assert (found.copy.records, found.copy.of) == (2, 3)


def test_few_records_with_the_same_answered_columns_do_not_climb_and_are_read_as_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Answers that are missing at random leave hundreds of small parts; to climb in each takes long, for nothing."""
    random = np.random.default_rng(4)
    often = np.where(random.random(400) < 0.3, 0.9, 0.2)
    truth = (random.random((400, 6)) < often[:, None]).astype(np.uint8)
    truth[random.random(truth.shape) < 0.3] = NO_ANSWER
    design = RelatedDesign.of_odds((2,) * 6, tuple((column,) for column in range(6)), Fraction(2, 3))
    sent = design.randomize(truth, lambda _, bound: random.integers(0, bound, len(truth)))
    climbed: list[Likelihood] = []
    step = Likelihood.step

    def counted(model: Likelihood, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        if not climbed or climbed[-1] is not model:
            climbed.append(model)
        return step(model, shares)

    monkeypatch.setattr(Likelihood, "step", counted)
    monkeypatch.setattr(attack, "MOST_CLIMBS", 40)
    few, parts = read_copy(truth, sent, design), len(climbed)
    monkeypatch.setattr(attack, "MOST_CLIMBS", len(truth))
    every = read_copy(truth, sent, design)
    assert 0 < parts < (len(climbed) - parts) / 2
    assert few.whole >= every.whole
    assert few.cells >= every.cells


def test_nothing_is_likely_of_no_answers_and_what_hides_nothing_has_no_figure() -> None:
    design = related([2, 2], [[0, 1]], "2/3")
    sent = np.full((3, 2), NO_ANSWER, dtype=np.uint8)
    assert likely_disclosure(sent, design, lambda _: lambda _, bound: np.zeros(3, dtype=np.int64)) is None
    assert disclosure(sent, sent, design, lambda _, bound: np.zeros(3, dtype=np.int64)) is None
    design = related([2, 2], [[0, 1]], "2/3")
    truth = np.zeros((2, 2), dtype=np.uint8)
    with pytest.raises(InputError, match="a copy has the records of its table"):
        read_copy(truth, np.where(truth == 0, NO_ANSWER, truth).astype(np.uint8), design)
    truth = np.zeros((2, 2), dtype=np.uint8)
    assert disclosure(truth, truth, related([1, 2], [[0]], "2/3"), lambda _, __: np.zeros(2, dtype=np.int64)) is None


@pytest.mark.parametrize("design", few([*DESIGNS.values()], 3), ids=repr)
def test_of_any_design_what_is_read_is_between_nothing_and_all(design: Design) -> None:
    chance = np.random.default_rng(3)
    truth = np.array([list(c) for c, _ in product(cells(design.sizes), range(3))], dtype=np.uint8)

    def draw(_: bytes, bound: int) -> NDArray[np.int64]:
        return chance.integers(0, bound, len(truth))

    found = disclosure(truth, design.randomize(truth, draw), design, draw)
    hidden = [column for group in design.groups for column in group if design.sizes[column] > 1]
    assert (found is None) == (not hidden)
    if found is not None:
        assert found.shared or found.apart is found.copy
        for reading in (found.copy, found.apart, found.values, found.record):
            assert isinstance(reading, CopyReading)
            assert 0 <= reading.sure <= reading.whole <= reading.records == len(truth)
            assert reading.whole <= reading.cells <= reading.of == len(truth) * len(hidden)
        assert found.record.whole >= len(truth) // prod(design.sizes[column] for column in hidden)
