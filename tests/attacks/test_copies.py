"""Attacks on a disguised copy: by itself, in a survey, beside exact counts, and beside a tree alone.

The reader has what an honest run or an honest respondent sends, and nothing else. Each attack stands beside the same on
columns that have a coin each, which is the default; the data are the shipped ones.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path
from secrets import token_hex
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from party.datasets.included import load_table
from protocols.learning.tree import Tree
from protocols.oblivious import masks
from protocols.oblivious.bits import Uint64s
from protocols.privacy.attack import Likelihood, disclosure, read_copy
from protocols.randomized_response.design import Design, cells, numbered
from protocols.randomized_response.related_question import RelatedDesign, compared_draw, default_groups, disguise
from protocols.role import Role
from protocols.secret_tree.shares import SharedCounts
from protocols.tables import Codes, Expression, Floats, Term
from protocols.terms import ALL, Method, RuleTerms
from protocols.two_party.inputs import USUAL_LIMITS
from tests.support.curious import Guarded, Told, assert_built, listening
from tests.support.examples import few
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


def test_columns_that_share_a_coin_let_a_receiver_read_records_that_coins_of_their_own_keep() -> None:
    for name, records, most in few([("adult", 4000, 0.6), ("mushroom", 8124, 0.5), ("votes", 435, 0.25)], 2):
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


Values = tuple[tuple[int, int], ...]
"""Columns of the copy, each with its value."""
SLACK = 3.0
"""What it costs to be off by one, in logarithms of chances: what is no count is then given up."""


Group = tuple[NDArray[np.bool_], Values]
"""Those of some people who have some values."""


@dataclass(frozen=True, eq=False)
class Claim:
    """A group has this many people; or no fewer than others have, where those are given."""

    group: Group
    count: int = 0
    others: Group | None = None


def likeliest(candidates: Codes, beliefs: Floats, claims: Sequence[Claim]) -> Codes:
    """Return the likeliest table of which the claims hold, by an integer program.

    With more than four candidates a record, the integers are left out: the program then says what is likely.

    Args:
        candidates: `records x candidates x columns`.
        beliefs: Logarithms of how likely each is.
        claims: What else is known.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_array, csr_array, eye_array, kron

    records, each, _ = candidates.shape

    def members(group: Group | None) -> Floats:
        if group is None:
            return np.zeros(records * each)
        people, values = group
        found = [candidates[:, :, column] == value for column, value in values]
        return np.asarray(np.all(found, axis=0) & people[:, None], float).ravel()

    rows = [members(claim.group) - members(claim.others) for claim in claims]
    one_each, slack = kron(eye_array(records), np.ones(each)), eye_array(len(claims))
    sums = csr_array(np.reshape(rows, (len(claims), records * each)))
    least = np.r_[np.ones(records), [claim.count for claim in claims]]
    is_bound = np.r_[np.zeros(records, bool), [claim.others is not None for claim in claims]]
    limits = block_array([[one_each, None, None], [sums, slack, -slack]]).tocsr()
    found = milp(
        np.r_[-beliefs.ravel(), np.full(2 * len(claims), SLACK)],
        constraints=LinearConstraint(limits, least, np.where(is_bound, np.inf, least)),
        integrality=np.r_[np.full(records * each, each <= 4), np.zeros(2 * len(claims))],
        bounds=Bounds(0, np.r_[np.ones(records * each), np.full(2 * len(claims), np.inf)]),
        options={"mip_rel_gap": 0.01},
    )
    assert found.status == 0
    chosen = found.x[: records * each].reshape(records, each).argmax(axis=1)
    return np.asarray(candidates[np.arange(records), chosen])


@dataclass
class Copy:
    """A table, its copy, and what its receiver makes of it."""

    truth: Codes
    sent: Codes
    design: RelatedDesign

    def read(self, claims: Sequence[Claim]) -> float:
        """Return the share of whole records that are read."""
        return float((likeliest(*self._believed(), claims) == self.truth).all(axis=1).mean())

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
    """Return this many columns of people drawn from mushroom, and a column that cuts them into equal parts."""
    chance = np.random.default_rng(5)
    truth, _ = half_of("mushroom", 8124)
    hers = truth[chance.permutation(len(truth))[:people], :width]
    return hers, (chance.permutation(people) % parts).astype(np.uint8)


Counts = dict[Expression, int]


@dataclass
class Watched:
    """A case of which Bob, who has one column, keeps all that he is shown and all that his side holds.

    He takes what he holds for counts where it can be such.
    """

    case: Case

    def play(self, folder: Path) -> tuple[Copy, Counts, Counts, Tree]:
        """Let Alice's node run it and allow any bits; return her copy, shown counts, Bob's shares, the tree."""
        home = folder / token_hex(4)
        home.mkdir()
        agree, limits = 'odds = "any"\nmost_bits = "any"', replace(USUAL_LIMITS, most_values=17)
        guarded, terms = Guarded(home, self.case, agree, limits=limits), self.case.terms
        with listening() as told, holding_shares(of_chooser=self.case.class_owners == ("alice",)) as shares:
            ends = guarded.meet(terms)
        assert_built(ends)
        assert ends[1].result is not None
        return copy_of(guarded, terms.theta), dict(self._cells(told)), shares, ends[1].result.tree

    @property
    def his(self) -> int:
        """Bob's column; hers are before it, the class is after it."""
        return len(self.case.sizes["alice"])

    def _cells(self, told: Told) -> Iterator[tuple[Expression, int]]:
        for (node, candidate), table in told.items():
            for (value, label), count in np.ndenumerate(table):
                path = node.child(candidate, value)
                yield (path & Term(self.his + 1, label) if table.shape[1] == 2 else path), int(count)

    def _group(self, what: Expression) -> Group:
        """Return who satisfies this, as Bob knows it: people by his columns, and values by hers."""
        known = frozenset({self.his, self.his + ("bob" in self.case.class_owners)})
        values = [(min(term.column, self.his), term.value) for term in what.terms if term.column not in known]
        return what.restricted(known).satisfied_by(self.case.codes), tuple(values)

    def claims(self, counts: Counts, tree: Tree | None = None) -> list[Claim]:
        """Return what counts say of one or two values of hers, and the labels of a tree."""
        found = [Claim(self._group(what), count) for what, count in counts.items()]
        for path, label in tree.leaves() if tree else ():
            most, others = (self._group(path & Term(self.his + 1, each)) for each in (label, 1 - label))
            found.append(Claim(most, others=others))
        return [each for each in found if 0 < len(each.group[1]) < 3 and each.count <= each.group[0].sum()]


@contextmanager
def holding_shares(of_chooser: bool) -> Iterator[Counts]:
    """Keep one side's shares of all counts of a run that neither side counts alone."""
    held: Counts = {}
    count = SharedCounts.count

    def keep(counts: SharedCounts, what: Sequence[Expression]) -> Role[Uint64s]:
        shares = yield from count(counts, what)
        if counts._is_chooser == of_chooser:
            of_both = (each for each in zip(what, shares, strict=True) if each[0].columns & counts._sides.chooser)
            held.update((cell, int(share)) for cell, share in of_both)
        return shares

    with patch.object(SharedCounts, "count", keep):
        yield held


def groups_of_24(owner: str, groups: int, theta: Fraction, width: int, **terms: object) -> Watched:
    """Return a case in which Bob's column cuts 240 people into groups of 24, and Alice has this many columns."""
    hers, his = some_people(240, width, 10)
    label = (his < 5) ^ (np.random.default_rng(6).random(240) < 0.3)
    codes = np.column_stack([hers, his, label]).astype(np.uint8)
    usual = {"theta": theta, "test": Fraction(0), "omega": ALL, "min_leaf": 5, "max_depth": 3}
    sizes = {"alice": (2,) * width, "bob": (10,)}
    return Watched(Case(sizes, (owner,), 2, codes, {"alice": groups, "bob": 1}, make_terms(**usual | terms)))


@pytest.mark.parametrize(("groups", "theta", "width"), [(2, Fraction(11, 20), 8), (6, Fraction(2, 3), 5)])
def test_counts_of_groups_of_24_read_records_whose_columns_share_coins_and_hardly_one_where_each_has_its_own(
    tmp_path: Path, groups: int, theta: Fraction, width: int
) -> None:
    """Alice holds the class. An owner who names groups is refused by `[agree] odds`; here she allows any."""
    watched = groups_of_24("alice", groups, theta, width)
    copy, told, *_ = watched.play(tmp_path)
    read = copy.read(watched.claims(told))
    assert read > max(0.6, copy.read([]) + 0.2) if groups == 2 else read < 0.2


@pytest.mark.full
@pytest.mark.parametrize(("groups", "theta", "width"), [(2, Fraction(11, 20), 8), (6, Fraction(2, 3), 6)])
def test_counts_of_the_root_alone_read_more_to_who_holds_the_class_where_columns_share_coins(
    tmp_path: Path, groups: int, theta: Fraction, width: int
) -> None:
    watched = groups_of_24("bob", groups, theta, width)
    copy, told, *_ = watched.play(tmp_path)
    read = copy.read(watched.claims({what: count for what, count in told.items() if len(what.columns) == 2}))
    assert read > max(0.6, copy.read([]) + 0.2) if groups == 2 else read < 0.2


TREE = {"method": "hybrid", "omega": 8, "reveal": "tree", "min_leaf": 20}


def drawn(shares: Counts, seed: int) -> Counts:
    """Return what a simulator has in the place of shares: any numbers."""
    chance = np.random.default_rng(seed)
    return {what: int(chance.integers(0, 256)) for what in shares}


@pytest.mark.parametrize("owner", ["alice", pytest.param("bob", marks=pytest.mark.full)])
def test_beside_a_tree_alone_a_copy_is_read_as_beside_its_model_alone(tmp_path: Path, owner: str) -> None:
    """Of columns that share coins, beside which counts read .75: .25 to .4, as by numbers that he draws himself."""
    watched, read = groups_of_24(owner, 2, Fraction(11, 20), 8, **TREE), []
    for seed in few(range(3), 3):
        copy, told, shares, tree = watched.play(tmp_path)
        assert told == {}
        assert len(shares) > 100
        read.append([copy.read(watched.claims(each, tree)) for each in ({}, shares, drawn(shares, seed))])
    alone, all_seen, simulated = np.mean(read, axis=0)
    assert all_seen < max(alone, simulated) + 0.15 < 0.6


@pytest.fixture
def _without_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masks, "_hashed", lambda _, permuted, *rest: np.zeros_like(permuted))


@pytest.mark.usefixtures("_without_masks")
def test_without_masks_shares_would_be_counts_and_read_as_many_records(tmp_path: Path) -> None:
    """The control."""
    watched = groups_of_24("alice", 2, Fraction(11, 20), 8, **TREE)
    copy, _, shares, tree = watched.play(tmp_path)
    assert copy.read(watched.claims(shares, tree)) > 0.6


def one_unknown_in_each_group(**terms: object) -> Watched:
    """Return groups of 21 people by Bob's column, of which he knows the class but of the last; the class is Alice's."""
    group, label = np.arange(17).repeat(21), np.random.default_rng(7).integers(0, 2, 17 * 21)
    usual = {"method": "smc", "test": Fraction(0), "min_leaf": 5, "max_depth": 1}
    codes = np.column_stack([np.zeros(17 * 21), group, label]).astype(np.uint8)
    groups = {"alice": 1, "bob": 1}
    return Watched(Case({"alice": (1,), "bob": (17,)}, ("alice",), 2, codes, groups, make_terms(**usual | terms)))


def named(watched: Watched, claims: Sequence[Claim]) -> int:
    """Return of how many of those of unknown class it is read."""
    label = watched.case.codes[:, -1]
    candidates = np.zeros((len(label), 2, 2), np.uint8)
    candidates[:, 1, 1] = 1
    beliefs = np.where(label[:, None] == [0, 1], 0.0, -1e3)
    beliefs[20::21] = 0
    return int((likeliest(candidates, beliefs, claims)[20::21, 1] == label[20::21]).sum())


def test_one_person_in_each_group_is_named_by_counts_and_by_a_tree_alone_as_by_its_labels_alone(tmp_path: Path) -> None:
    """Of 17, seven: where twenty known classes are even the label names one, and half of the rest is guessed."""
    watched = one_unknown_in_each_group()
    _, told, *_ = watched.play(tmp_path)
    assert named(watched, watched.claims(told)) == 17
    watched, read = one_unknown_in_each_group(reveal="tree", min_leaf=20), []
    for seed in few(range(4), 4):
        _, told, shares, tree = watched.play(tmp_path)
        assert told == {}
        read.append([named(watched, watched.claims(each, tree)) for each in ({}, shares, drawn(shares, seed))])
    alone, all_seen, simulated = np.mean(read, axis=0)
    assert all_seen < max(alone, simulated) + 4 < 13


@pytest.mark.usefixtures("_without_masks")
def test_without_masks_shares_would_name_the_person_in_each_group(tmp_path: Path) -> None:
    watched = one_unknown_in_each_group(reveal="tree", min_leaf=20)
    _, _, shares, tree = watched.play(tmp_path)
    assert named(watched, watched.claims(shares, tree)) == 16  # the last group's counts follow from the others'


def counts_of_rules(groups: int, theta: Fraction, width: int) -> tuple[Copy, list[Claim]]:
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
    claims = list[Claim]()
    for found in bob.itemsets.kept:
        items = tuple((term.column, term.value) for term in found.terms if term.column < width)
        if items and found.settled:
            people = Expression(tuple(term for term in found.terms if term.column >= width)).satisfied_by(codes)
            claims.append(Claim((people, items), int(found.count)))
    return Copy(hers, sent, own), claims


def test_items_of_ten_people_read_most_records_whose_columns_share_coins_and_a_quarter_with_one_coin_each() -> None:
    shared, known = counts_of_rules(2, Fraction(11, 20), 8)
    assert shared.read(known) > max(0.8, shared.read([]) + 0.2)
    own, known = counts_of_rules(6, Fraction(2, 3), 6)
    assert own.read([]) + 0.05 < own.read(known) < 0.35
