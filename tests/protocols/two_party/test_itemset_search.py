"""The search for sets of both by what is known of them: what is counted, what is believed, and where it stops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from protocols.association.joint import JointItemsets, JointSet
from protocols.association.own_sets import TermSet
from protocols.errors import DeviationError, InputError
from protocols.role import Role, run_alone
from protocols.tables import Expression, Term
from protocols.terms import RuleTerms
from protocols.two_party import itemset_search
from protocols.two_party.itemset_search import Evidence, JointSearch
from tests.support.plain import schema_of

RULES = RuleTerms(Fraction(3, 100), 2, 10_000, absent=("v0",))
HERS, HIS = Term(0, 1), Term(1, 1)
BOTH: TermSet = (HERS, HIS)


@dataclass
class Counting:
    """Tells one number of every set, and remembers of which it was asked."""

    number: int
    asked: list[TermSet]

    def count(self, sets: Sequence[Expression]) -> Role[list[int]]:
        self.asked += [each.terms for each in sets]
        yield from ()
        return [self.number] * len(sets)


def find(
    own: Mapping[TermSet, int], told: int, columns: tuple[int, int] = (1, 1), estimate: JointSet | None = None
) -> tuple[JointItemsets, list[TermSet]]:
    """Search 100 records with columns of this many of each; return what is found, and which sets were counted.

    Three make a set frequent. Where there is an estimate, it is that of every set of both, as from copies.
    """

    class Search(JointSearch):
        def _estimate(self, terms: TermSet) -> JointSet:
            del terms
            assert estimate is not None
            return estimate

    copies: Any = None if estimate is None else object()
    counting = Counting(told, [])
    schema = schema_of((2,) * sum(columns), 1, alice=columns[0])
    search = Search(schema, 100, RULES, Evidence(own, copies, counting.count))
    return run_alone(search.find()), counting.asked


@pytest.mark.parametrize(
    ("own", "told", "believed"),
    [
        ((60, 50), 50, True),
        ((60, 50), 51, False),
        ((60, 50), 10, True),
        ((60, 50), 9, False),
        ((40, 50), 0, True),
        ((40, 50), -1, False),
    ],
)
def test_a_count_is_believed_between_the_least_and_the_most_that_its_parts_allow(
    own: tuple[int, int], told: int, believed: bool
) -> None:
    counts: dict[TermSet, int] = {(HERS,): own[0], (HIS,): own[1]}
    if believed:
        found, _ = find(counts, told)
        assert [each.count for each in found.kept if len(each.terms) == 2] == [told] * (told >= 3)
    else:
        with pytest.raises(DeviationError):
            find(counts, told)


def test_sets_of_one_party_that_it_has_not_told_are_not_counted() -> None:
    own: dict[TermSet, int] = {(Term(column, 1),): 50 for column in range(3)}
    _, asked = find(own, 20, columns=(2, 1))
    assert asked == [(Term(0, 1), Term(2, 1)), (Term(1, 1), Term(2, 1))]


@pytest.mark.parametrize(
    ("count", "variance", "counted"),
    [(30, 4, False), (4, 4, True), (40, 16, True), (30, -1, True)],
    ids=["clear", "near the threshold", "an error above the threshold", "an error that nothing is known of"],
)
def test_only_what_is_clear_is_kept_by_its_estimate(count: int, variance: int, counted: bool) -> None:
    estimate = JointSet(BOTH, Fraction(count), Fraction(variance), settled=False)
    found, asked = find({(HERS,): 50, (HIS,): 50}, 20, estimate=estimate)
    assert asked == [BOTH] * counted
    assert [each.count for each in found.kept if each.terms == BOTH] == [20 if counted else count]


def test_more_candidates_than_can_be_looked_at_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    own: dict[TermSet, int] = {(Term(column, 1),): 50 for column in range(16)}  # whose items make 120 pairs, 64 of both
    monkeypatch.setattr(itemset_search, "MOST_CANDIDATES", 120)
    assert len(find(own, 20, columns=(8, 8))[1]) == 64
    monkeypatch.setattr(itemset_search, "MOST_CANDIDATES", 119)
    with pytest.raises(InputError, match="more than 119 candidates of 2 items"):
        find(own, 20, columns=(8, 8))
