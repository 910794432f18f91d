"""Apriori over the items of two parties, each deciding alike from what both know (DESIGN 9, "Hybrid rules").

Sets of one party's items have the counts that it has sent. Of a set with items of both, the two disguised copies give
both parties the same estimate and standard error, in exact fractions:

* clearly below the threshold, by `CERTAINTY`: dropped;
* clearly at or above it, with an error below the threshold: kept, with its estimate;
* between: counted under encryption, those nearest to the threshold in standard errors first, while `most_sets` allows
  it; then it is settled;
* left between: kept down to a standard error below the threshold, as in Review section 3.6, unless its error is as
  large as the threshold: then it is undecided.

Without copies (`smc`) every set of both is counted, those first whose subsets are most frequent, or is undecided. With
copies alone (`randomized`) all counts are estimates, those of one party's items too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, islice
from math import inf
from typing import Final

from protocols.association.joint import JointItemsets, JointSet, items_of
from protocols.association.own_sets import TermSet, larger_sets
from protocols.counting.rows import View
from protocols.errors import DeviationError, InputError
from protocols.randomized_response.estimate import estimate_count, quantile
from protocols.role import Phase, Progress, Role
from protocols.tables import Expression, Schema
from protocols.terms import RuleTerms

CERTAINTY: Final = 0.99
"""How sure an estimate must be to be left uncounted."""
MOST_CANDIDATES: Final = 100_000

CountSets = Callable[[Sequence[Expression]], Role[list[int]]]


@dataclass(frozen=True, repr=False)
class Evidence:
    """What counts of sets are made from: those sent of own sets, both copies, exact counts, or None."""

    own: Mapping[TermSet, int] | None
    copies: View | None
    count: CountSets | None


@dataclass(repr=False)
class JointSearch:
    """The search, level by level, equal at both parties.

    Discloses: what `evidence.count` discloses of the sets that it is asked for.
    """

    schema: Schema
    records: int
    terms: RuleTerms
    evidence: Evidence
    counted: int = field(default=0, init=False)
    _undecided: int = field(default=0, init=False)
    _known: dict[TermSet, JointSet] = field(default_factory=dict, init=False)

    def find(self) -> Role[JointItemsets]:
        """Return the sets that are frequent, or may be."""
        level: list[TermSet] = [(item,) for item in items_of(self.schema.attributes, self.terms.absent)]
        for length in range(1, self.terms.max_len + 1):
            if len(level) > MOST_CANDIDATES:
                raise InputError(
                    f"there are more than {MOST_CANDIDATES:,} candidates of {length} items: raise min_support, or "
                    "lower max_len"
                )
            yield Progress(Phase.COUNTS, length - 1, self.terms.max_len)
            kept = yield from self._kept(level)
            self._known |= {each.terms: each for each in kept}
            level = list(islice(larger_sets(each.terms for each in kept), MOST_CANDIDATES + 1))
        yield Progress(Phase.COUNTS, self.terms.max_len, self.terms.max_len)
        found = tuple(sorted(self._known.values(), key=lambda each: (len(each.terms), each.terms)))
        return JointItemsets(
            self.schema.attributes, self.records, self.terms.min_support, self._least, found, self._undecided
        )

    @property
    def _least(self) -> int:
        return self.terms.least(self.records)

    def _kept(self, level: Sequence[TermSet]) -> Role[list[JointSet]]:
        own = self.evidence.own
        kept: list[JointSet] = []
        between = list(level)
        if own is not None:
            kept = [JointSet(terms, Fraction(own[terms])) for terms in level if terms in own]
            parties = [each.party for each in self.schema.attributes]
            between = [terms for terms in level if len({parties[term.column] for term in terms}) > 1]
        if self.evidence.copies is None:
            return kept + (yield from self._count_without_copies(between))
        doubtful: list[JointSet] = []
        for each in map(self._estimate, between):
            if each.settled:
                kept += [each] if each.count >= self._least else []
            elif self._doubt(each) >= -quantile(CERTAINTY):
                (kept if self._is_clear(each) else doubtful).append(each)
        doubtful.sort(key=lambda each: (abs(self._doubt(each)), each.terms))
        return kept + (yield from self._settle(doubtful))

    def _estimate(self, terms: TermSet) -> JointSet:
        """Estimate from both copies; of columns that are sent as they are, this is the count."""
        copies = self.evidence.copies
        assert copies is not None  # noqa: S101  # nothing is estimated without
        estimate = estimate_count(copies.codes, Expression(terms), copies.design)
        hidden = any(True for _ in copies.design.touched(Expression(terms)))
        return JointSet(terms, estimate.count, estimate.variance if hidden else Fraction(0), settled=not hidden)

    def _doubt(self, each: JointSet) -> float:
        """Return how many standard errors an estimate lies above the threshold."""
        apart = float(each.count - self._least)
        return apart / each.error if each.error else (inf if apart >= 0 else -inf)

    def _is_clear(self, each: JointSet) -> bool:
        """Return whether an estimate shows that a set is frequent: of many some are too high, so by a small error."""
        return each.variance >= 0 and each.error < self._least and self._doubt(each) > quantile(CERTAINTY)

    def _settle(self, doubtful: Sequence[JointSet]) -> Role[list[JointSet]]:
        asked = self._allowed(each.terms for each in doubtful)
        kept = yield from self._exact(asked)
        for each in doubtful:
            if each.terms in asked:
                continue
            if each.error >= self._least:
                self._undecided += 1
            elif float(each.count) >= self._least - each.error:
                kept.append(each)
        return kept

    def _count_without_copies(self, between: Sequence[TermSet]) -> Role[list[JointSet]]:
        def likeliest_first(terms: TermSet) -> tuple[Fraction, TermSet]:
            return -min(self._known[part].count for part in combinations(terms, len(terms) - 1)), terms

        asked = self._allowed(sorted(between, key=likeliest_first))
        self._undecided += len(between) - len(asked)
        return (yield from self._exact(asked))

    def _allowed(self, wanted: Iterable[TermSet]) -> dict[TermSet, None]:
        """Return the sets that may be counted, of those wanted, the first one first."""
        left = 0 if self.evidence.count is None else self.terms.most_sets - self.counted
        return dict.fromkeys(islice(wanted, left))

    def _exact(self, asked: Iterable[TermSet]) -> Role[list[JointSet]]:
        sets, count = list(asked), self.evidence.count
        if not sets or count is None:
            return []
        counts = yield from count([Expression(terms) for terms in sets])
        self.counted += len(sets)
        if not all(self._can_be(terms, number) for terms, number in zip(sets, counts, strict=True)):
            raise DeviationError
        exact = (JointSet(terms, Fraction(number)) for terms, number in zip(sets, counts, strict=True))
        return [each for each in exact if each.count >= self._least]

    def _can_be(self, terms: TermSet, count: int) -> bool:
        """Return whether a set can have this many records beside what is exact of its subsets (Frechet 1940)."""
        for part in combinations(terms, len(terms) - 1):
            without, (term,) = self._known[part], (each for each in terms if each not in part)
            alone = self._known[(term,)]
            if without.settled and count > without.count:
                return False
            if without.settled and alone.settled and count < without.count + alone.count - self.records:
                return False
        return count >= 0
