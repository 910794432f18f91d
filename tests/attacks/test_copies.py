"""Attacks on a disguised copy: by itself, in a survey, and beside exact counts.

The reader has what an honest run or an honest respondent sends, and nothing else. Each attack stands beside the same on
columns that have a coin each, which is the default; the data are the shipped ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from party.datasets.included import load_table
from protocols.privacy.attack import Likelihood, disclosure, read_copy
from protocols.randomized_response.candidates import numbered
from protocols.randomized_response.coins import compared_draw, default_groups
from protocols.randomized_response.design import Design, cells
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.rule_terms import RuleTerms
from protocols.tables.arrays import Floats
from protocols.tables.expression import Expression
from protocols.tables.table import Codes
from protocols.terms import ALL, Method
from tests.support.curious import Guarded, assert_built, listening
from tests.support.joint_itemsets import RuleCase, rule_terms
from tests.support.parties import Case, make_terms


@cache
def half_of(name: str, records: int) -> tuple[Codes, tuple[int, ...]]:
    """Return every second column of a shipped data set: a party's half."""
    table = load_table(name, records)
    columns = [c for c in range(0, len(table.attributes) - 1, 2) if table.attributes[c].size > 1]
    return np.ascontiguousarray(table.codes[:, columns]), tuple(table.attributes[c].size for c in columns)


def each_alone(sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple((column,) for column in range(len(sizes)))


def copied(truth: Codes, design: Design, name: str = "copy") -> Codes:
    return design.randomize(truth, compared_draw(b"attacks", name, len(truth)))


def read_by_who_knows_all_records_but_not_whose(truth: Codes, design: RelatedDesign) -> float:
    """Return the expected share that the best reader reads who knows how often every record comes."""
    first, numbers = numbered(truth)
    known = np.bincount(numbers) / len(truth)
    best: Floats = np.zeros(design.sizes)
    for record, share in zip(truth[first], known, strict=True):
        chances = share * np.ones(())
        for k, group in enumerate(design.groups):
            told = np.array(design.transition(k, group), dtype=np.float64)[:, record[group[0]]]
            chances = np.multiply.outer(chances, told)
        best = np.maximum(best, chances)
    return float(best.sum())


@pytest.mark.parametrize(
    ("name", "records", "most"), [("adult", 4000, 0.6), ("mushroom", 8124, 0.5), ("votes", 435, 0.25)]
)
def test_columns_that_share_a_coin_let_a_receiver_read_records_that_coins_of_their_own_keep(
    name: str, records: int, most: float
) -> None:
    truth, sizes = half_of(name, records)
    shared = RelatedDesign.of_odds(sizes, default_groups(sizes, 2), Fraction(11, 20))
    own = RelatedDesign.of_odds(sizes, each_alone(sizes), Fraction(2, 3))
    together, apart = (read_copy(truth, copied(truth, design), design) for design in (shared, own))
    theta_gives = read_by_who_knows_all_records_but_not_whose(truth, own)
    assert together.whole > most * records
    assert together.whole > apart.whole + records / 10
    assert apart.whole <= (theta_gives + 3 * (theta_gives / records) ** 0.5) * records
    assert apart.sure == 0


def test_a_collector_reads_ten_questions_on_one_coin_and_not_ten_on_coins_of_their_own() -> None:
    chance = np.random.default_rng(8)
    uneasy = chance.random((2000, 1)) < 0.15
    truth = (chance.random((2000, 10)) < np.where(uneasy, 0.35, 0.1)).astype(np.uint8)
    one = RelatedDesign((2,) * 10, (tuple(range(10)),), Fraction(3, 5))
    found = disclosure(truth, copied(truth, one), one, compared_draw(b"attacks", "apart", 2000))
    assert found is not None
    assert (copied(truth, one) == truth).all(axis=1).mean() < 0.65
    assert found.copy.whole > 0.95 * 2000
    assert found.copy.sure > 0.9 * 2000
    assert found.joined == (0,)
    assert found.apart.whole <= max(found.record.whole, found.values.whole) + 60
    assert found.apart.sure == 0


def test_columns_that_say_the_same_show_one_fact_by_all_their_coins_and_the_owner_sees_how_far() -> None:
    """No column has odds above those of theta, and no record is read for certain: only this figure shows it."""
    chance = np.random.default_rng(3)
    ill, others = chance.random((2000, 1)) < 0.2, chance.integers(0, 2, (2000, 4))
    shown = []
    for times in (1, 9):
        truth = np.hstack([*[ill] * times, others]).astype(np.uint8)
        design = RelatedDesign((2,) * (times + 4), each_alone(range(times + 4)), Fraction(2, 3))
        found = disclosure(truth, copied(truth, design), design, compared_draw(b"attacks", "apart", 2000))
        assert found is not None
        assert found.copy.sure == 0
        shown.append(found.clearest[0])
        by_all = (2 * copied(truth, design)[:, :times].sum(axis=1) > times) == ill[:, 0]
        assert found.copy.columns[0][0] >= by_all.sum() - 20  # nor does another reader read more
    assert shown[0] < Fraction(7, 10)
    assert shown[1] > Fraction(17, 20)


Known = list[tuple[NDArray[np.bool_], tuple[tuple[int, int], ...], int]]
"""Of these people, so many have these values: columns of the copy, each with its value."""


@dataclass
class Copy:
    """A table, its copy, and what its receiver makes of it."""

    truth: Codes
    sent: Codes
    design: RelatedDesign

    def read(self, known: Known) -> float:
        """Return the share of whole records of the most likely table that has these counts, by an integer program.

        With more than four candidates a record, the integers are left out: the program then says what is likely.
        """
        candidates, beliefs = self._believed()
        records, each, _ = candidates.shape
        rows = [np.arange(records).repeat(each)]
        places, sums = [np.arange(records * each)], [1.0] * records
        for people, terms, count in known:
            has = np.all([candidates[:, :, column] == value for column, value in terms], axis=0) & people[:, None]
            places.append(np.flatnonzero(has))
            rows.append(np.full(len(places[-1]), len(sums)))
            sums.append(count)
        row, place = np.concatenate(rows), np.concatenate(places)
        matrix = coo_array((np.ones(len(row)), (row, place)), shape=(len(sums), records * each)).tocsr()
        whole = np.full(records * each, each <= 4)
        limits = LinearConstraint(matrix, sums, sums)
        found = milp(-beliefs.ravel(), constraints=limits, integrality=whole, bounds=Bounds(0, 1))
        assert found.status == 0
        likeliest = found.x.reshape(records, each).argmax(axis=1)
        return float((candidates[np.arange(records), likeliest] == self.truth).all(axis=1).mean())

    def _believed(self) -> tuple[Codes, Floats]:
        """Return of every record its candidates, and how likely each is by the copy, in logarithms."""
        lists = [self.design.candidates(self.sent, k, group) for k, group in enumerate(self.design.groups)]
        _, classes = numbered(np.stack([own.lists for own in lists], axis=1))
        model = Likelihood(lists, classes)
        shares = np.full(model.shape, 1 / prod(model.shape))
        for _ in range(30):
            shares = model.step(shares)
        candidates, beliefs = [], []
        for places in cells(model.shape[1:]):
            codes = self.sent.copy()
            belief = np.log(np.maximum(shares[(classes, *places)], 1e-12))
            for own, group, place in zip(lists, self.design.groups, places, strict=True):
                codes[:, list(group)] = own.codes(own.lists, np.full(len(codes), place))
                other = np.array(own.other, dtype=np.float64)[own.places]
                belief += np.log(other + float(own.plus) * (own.places == place))
            candidates.append(codes)
            beliefs.append(belief)
        return np.stack(candidates, axis=1), np.stack(beliefs, axis=1)


def copy_of(guarded: Guarded, theta: Fraction) -> Copy:
    """Return the copy that Alice sends."""
    alice = guarded.alice
    design = alice.design(theta, class_is_shared=False)
    truth = alice.table.codes[:, : len(design.sizes)]
    return Copy(truth, disguise(truth, alice.coins(design), design), design)


def some_people(people: int, width: int, parts: int) -> tuple[Codes, Codes]:
    """Return so many columns of people drawn from mushroom, and a column that cuts them into equal parts."""
    chance = np.random.default_rng(5)
    truth, _ = half_of("mushroom", 8124)
    hers = truth[chance.permutation(len(truth))[:people], :width]
    return hers, (chance.permutation(people) % parts).astype(np.uint8)


def counted(folder: Path, owner: str, groups: int, theta: Fraction, width: int = 8) -> tuple[Copy, Known]:
    """Let Bob, whose one column cuts people into groups of 24, run `hybrid` over all candidates with Alice once.

    Where he holds the class, he uses what he hears of the root alone.
    """
    people = 240
    hers, his = some_people(people, width, 10)
    chance = np.random.default_rng(6)
    label = (his < 5) ^ (chance.random(people) < 0.3)
    codes = np.column_stack([hers, his, label]).astype(np.uint8)
    terms = make_terms(theta=theta, test=Fraction(0), omega=ALL, min_leaf=5, max_depth=3)
    case = Case({"alice": (2,) * width, "bob": (10,)}, (owner,), 2, codes, {"alice": groups, "bob": 1}, terms)
    home = folder / str(groups)
    home.mkdir()
    guarded = Guarded(home, case, 'odds = "any"')
    with listening() as told:
        assert_built(guarded.meet(terms))
    known: Known = []
    for (node, candidate), table in told.items():
        if candidate >= width or any(term.column < width for term in node.terms):
            continue
        if owner == "bob" and node.terms:
            continue
        here = node.satisfied_by(codes)
        for value, row in enumerate(table.tolist()):
            for group, count in enumerate(row if len(row) == 2 else [sum(row)]):
                people_of = here & (label == group) if owner == "bob" and len(row) == 2 else here
                with_class = owner == "alice" and len(row) == 2
                known.append((people_of, ((candidate, value), *([(width, group)] if with_class else [])), count))
    return copy_of(guarded, theta), known


def test_counts_of_groups_of_24_read_records_whose_columns_share_coins_and_hardly_one_where_each_has_its_own(
    tmp_path: Path,
) -> None:
    """Alice holds the class. An owner who names groups is refused by `[agree] odds`; here she allows any."""
    shared, known = counted(tmp_path, "alice", 2, Fraction(11, 20))
    assert shared.read(known) > max(0.6, shared.read([]) + 0.2)
    own, known = counted(tmp_path, "alice", 6, Fraction(2, 3), width=5)
    assert own.read(known) < 0.2


def test_counts_of_the_root_alone_read_more_to_who_holds_the_class_where_columns_share_coins(tmp_path: Path) -> None:
    shared, known = counted(tmp_path, "bob", 2, Fraction(11, 20))
    assert shared.read(known) > max(0.6, shared.read([]) + 0.2)
    own, known = counted(tmp_path, "bob", 6, Fraction(2, 3), width=6)
    assert own.read(known) < 0.2


def counts_of_rules(groups: int, theta: Fraction, width: int) -> tuple[Copy, Known]:
    """Look for rules by `hybrid`, over Bob's items that are groups of ten people."""
    hers, his = some_people(120, width, 12)
    codes = np.column_stack([hers, his]).astype(np.uint8)
    terms = rule_terms(RuleTerms(Fraction(1, 24), 2, 10_000), method=Method.HYBRID, theta=theta, min_leaf=5)
    case = RuleCase({"alice": (2,) * width, "bob": (12,)}, codes, terms, groups)
    _, bob = case.play()
    alice = case.local("alice").bringing(terms)
    design = alice.design(theta, class_is_shared=False)
    sent = disguise(alice.table.codes, alice.coins(design), design)[:, :width]
    own = RelatedDesign.of_odds((2,) * width, design.groups, theta)
    known: Known = []
    for found in bob.itemsets.kept:
        items = tuple((term.column, term.value) for term in found.terms if term.column < width)
        if items and found.settled:
            people = Expression(tuple(term for term in found.terms if term.column >= width)).satisfied_by(codes)
            known.append((people, items, int(found.count)))
    return Copy(hers, sent, own), known


def test_items_of_ten_people_read_most_records_whose_columns_share_coins_and_a_quarter_with_one_coin_each() -> None:
    shared, known = counts_of_rules(2, Fraction(11, 20), 8)
    assert shared.read(known) > max(0.8, shared.read([]) + 0.2)
    own, known = counts_of_rules(6, Fraction(2, 3), 6)
    assert own.read([]) + 0.05 < own.read(known) < 0.35
