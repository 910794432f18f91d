"""Itemsets over columns that two parties hold, and the rules between their parts.

An item is a column of the joint table with a value; a set holds one item per column at most. The count of a set is
exact where a party or a secure protocol has counted it, else estimated from both disguised copies, with its standard
error. A rule's confidence is a ratio of two of them; of estimates, its error is at most

    sd(U/A) <= (sd_U + (U/A) sd_A) / A

whatever their covariance is (the delta method with the largest covariance that there can be, and marked as such).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import sqrt
from typing import Final

from protocols.association.own_sets import TermSet
from protocols.association.rules import MinedRules, RuleEstimate, Supports
from protocols.errors import InputError
from protocols.randomness import canonical, keyed_digest
from protocols.tables import Attribute, Schema, Term
from protocols.terms import Metric

MOST_RULES: Final = 1 << 20


@dataclass(frozen=True)
class JointSet:
    """A set of items and how many records have it: exact (`settled`), or an unbiased estimate over the coins.

    An estimate may be negative, and so may that of its variance.
    """

    terms: TermSet
    count: Fraction
    variance: Fraction = Fraction(0)
    settled: bool = True

    @property
    def error(self) -> float:
        """The standard error."""
        return sqrt(max(float(self.variance), 0.0))


@dataclass(frozen=True)
class ReachedRules:
    """Rules, as antecedents and consequents, that reach a threshold of a metric, and of each nothing else."""

    metric: Metric
    least: Fraction
    rules: tuple[tuple[TermSet, TermSet], ...]


@dataclass(frozen=True, repr=False)
class JointItemsets:
    """What two parties have found together, at a threshold `s_min`, which is `least` records.

    Args:
        kept: The sets that are frequent, or may be; all subsets of one are among them.
        undecided: How many sets were left out since nobody knows whether they are frequent; rules too, if asked about.
        has_counts: Whether counts are known; else only that each set has `least` records or more, and items of both.
        reached: The rules that were found without counts; None if none was asked about.
    """

    attributes: tuple[Attribute, ...]
    records: int
    threshold: Fraction
    least: int
    kept: tuple[JointSet, ...]
    undecided: int = 0
    has_counts: bool = True
    reached: ReachedRules | None = None

    @property
    def frequent(self) -> tuple[JointSet, ...]:
        """Those whose count, as far as it is known, reaches the threshold."""
        return tuple(each for each in self.kept if each.count >= self.least)

    @cached_property
    def _known(self) -> dict[TermSet, JointSet]:
        return {each.terms: each for each in self.kept}

    def rules(self) -> MinedRules:
        """Return the rules of all frequent sets; their items are numbered as by `items_of`."""
        if not self.has_counts:
            raise InputError(
                "these sets have no counts, so nobody knows how sure a rule is: min_threshold in the job asks which "
                'rules reach it, reveal = "counts" has the counts'
            )
        every = sum(2 ** len(whole.terms) - 2 for whole in self.frequent)
        if every > MOST_RULES:
            raise InputError(
                f"these sets make {every:,} rules, more than {MOST_RULES:,}: list the sets, or find fewer with "
                "a larger min_support or a smaller max_len"
            )
        number = {item: position for position, item in enumerate(items_of(self.attributes))}
        rules = (
            self._rule(whole, first, number)
            for whole in self.frequent
            for length in range(1, len(whole.terms))
            for first in combinations(whole.terms, length)
        )
        return MinedRules.of(rules, self._supports)

    def _supports(self, rule: RuleEstimate) -> Supports:
        items = items_of(self.attributes)
        parts = (rule.antecedent + rule.consequent, rule.antecedent, rule.consequent)
        sets = (tuple(sorted(items[item] for item in part)) for part in parts)
        whole, inner, outer = (self._known[terms].count / self.records for terms in sets)
        return whole, inner, outer

    def is_settled(self, *sets: Iterable[Term]) -> bool:
        """Return whether the counts of all these sets are exact."""
        return all(self._known[tuple(sorted(terms))].settled for terms in sets)

    def _rule(self, whole: JointSet, first: TermSet, number: dict[Term, int]) -> RuleEstimate | None:
        rest = tuple(term for term in whole.terms if term not in first)
        antecedent, consequent = self._known[first], self._known[rest]
        if antecedent.count <= 0:
            return None
        ratio = float(whole.count / antecedent.count)
        error = (whole.error + abs(ratio) * antecedent.error) / float(antecedent.count)
        counts = (whole.count, antecedent.count, consequent.count)
        union, inner, outer = (float(count / self.records) for count in counts)
        names = [tuple(number[term] for term in part) for part in (first, rest)]
        return RuleEstimate(names[0], names[1], (union, inner, outer), whole.error / self.records, ratio, error)

    def digest(self) -> bytes:
        """Return a digest of all of it, the same at both parties."""
        return keyed_digest(b"cotally itemsets", *(part.encode() for part in self._parts()))

    def _parts(self) -> Iterator[str]:
        yield f"{self.records} {self.threshold} {self.least} {self.undecided}"
        for attribute in self.attributes:
            yield canonical(*(text.encode() for text in (attribute.party, attribute.name, *attribute.values))).hex()
        for each in self.kept:
            items = " ".join(f"{term.column}={term.value}" for term in each.terms)
            yield f"{items}: {each.count} {each.variance} {each.settled}"
        if self.reached is not None:
            yield f"{self.reached.metric} {self.reached.least} {self.reached.rules}"


def items_of(attributes: Iterable[Attribute], absent: Iterable[str] = ()) -> list[Term]:
    """Return all items, every value of every column that does not stand for an absent item, in their order."""
    none = frozenset(absent)
    return [
        Term(column, code)
        for column, attribute in enumerate(attributes)
        for code, value in enumerate(attribute.values)
        if value not in none
    ]


def item_name(schema: Schema | JointItemsets, term: Term) -> str:
    r"""Return `party.column=value`, with `\=` in the name of a column, so that no two items are written alike."""
    attribute = schema.attributes[term.column]
    name = attribute.name.replace("\\", r"\\").replace("=", r"\=")
    return f"{attribute.party}.{name}={attribute.values[term.value]}"
