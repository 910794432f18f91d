"""Which sets with items of both parties, and which of their rules, reach a threshold, and no count (DESIGN 16).

The counts of a level's candidates stay shares modulo a power of two of twice the records; of each the sign of its count
less the threshold is opened, so one bit. The next level's candidates are the sets all of whose parts with items of both
are frequent. What one party's items alone have in common is opened nowhere: it is that party's own. Then, if the terms
have a threshold `p/q` of rules, of each rule `A => C` within a frequent set the sign of `q n_AC - p n_A` (confidence)
or of `q n n_AC - p n_A n_C` (lift).

*Functionality*: of each candidate, whether it is frequent, and of each rule asked about, whether it reaches the
threshold; what is asked follows from these bits and the terms.
*Assumed*: as `oblivious.numbers`.
*Deviations*: as `oblivious.gates`: a party may turn over a bit, alike at both.
*Never again*: as `oblivious.triples`; levels and rules that both remember are not opened again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, islice

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.association.joint import JointItemsets, JointSet, ReachedRules, items_of
from protocols.association.own_sets import TermSet
from protocols.oblivious.bits import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import are_negative, filled, modulus_mask, products, summand_bits
from protocols.role import Phase, Progress, Role, as_part
from protocols.secret_tree.openings import Lane, OpenedKind, open_lanes
from protocols.secret_tree.shares import SharedCounts
from protocols.tables import Attribute, Expression
from protocols.terms import Metric, RuleTerms

_AT_ONCE = 256
"""Sets that are counted together: the keys of their transfers are kept meanwhile."""

Rule = tuple[TermSet, TermSet]
"""Antecedent and consequent."""


@dataclass
class AskedSets:
    """What is asked, level by level, as both know it."""

    attributes: Sequence[Attribute]
    terms: RuleTerms
    number: int = field(default=0, init=False)
    undecided: int = field(default=0, init=False)

    def first(self) -> list[TermSet]:
        """Return the pairs of items of both, as far as `most_sets` allows it."""
        items = items_of(self.attributes, self.terms.absent) if self.terms.max_len > 1 else []
        return self._allowed(pair for pair in combinations(items, 2) if self._is_of_both(pair))

    def after(self, frequent: Sequence[TermSet]) -> list[TermSet]:
        """Return the sets of one item more all of whose parts with items of both are among these, likewise."""
        if not frequent or len(frequent[0]) == self.terms.max_len:
            return []
        there, items = set(frequent), {item for terms in frequent for item in terms}
        unions = {tuple(sorted({*terms, item})) for terms in frequent for item in items}
        return self._allowed(
            union
            for union in sorted(unions)
            if len({term.column for term in union}) == len(union) > len(frequent[0])
            if all(part in there for part in combinations(union, len(union) - 1) if self._is_of_both(part))
        )

    def rules(self, frequent: Sequence[TermSet]) -> list[Rule]:
        """Return the rules of frequent sets, as far as `most_sets` allows them; of lift, one of two that are alike."""
        if self.terms.min_threshold is None:
            return []
        halves = self.terms.metric == Metric.LIFT
        wanted = sum(2 ** (len(whole) - halves) - 2 + halves for whole in frequent)
        rules = (
            (first, tuple(term for term in whole if term not in first))
            for whole in frequent
            for length in range(1, len(whole))
            for first in combinations(whole, length)
            if whole[0] in first or not halves
        )
        allowed = list(islice(rules, self.terms.most_sets - self.number))
        self.number += len(allowed)
        self.undecided += wanted - len(allowed)
        return allowed

    def _is_of_both(self, terms: TermSet) -> bool:
        return len({self.attributes[term.column].party for term in terms}) > 1

    def _allowed(self, wanted: Iterable[TermSet]) -> list[TermSet]:
        level, halves = list(wanted), 1 if self.terms.min_threshold is None else 2  # the other half is of rules
        allowed = level[: -(-self.terms.most_sets // halves) - self.number]
        self.number += len(allowed)
        self.undecided += len(level) - len(allowed)
        return allowed


@dataclass(frozen=True, repr=False)
class OpenedSearch:
    """One side's part of the search, on shared counts with room for a sign; answers are 1 for a frequent candidate.

    Discloses: of each candidate, whether it is frequent; of each rule asked about, whether it reaches the threshold.
    """

    asked: AskedSets
    counts: SharedCounts
    gates: Gates
    answers: KeptAnswers

    def find(self) -> Role[JointItemsets]:
        """Return the frequent sets with items of both, and the rules that reach the threshold of the terms."""
        asked, terms = self.asked, self.asked.terms
        level, kept = asked.first(), list[TermSet]()
        while level:
            yield (shown := Progress(Phase.COUNTS, len(level[0]) - 1, terms.max_len))
            reach = yield from self.answers.ask(as_part(self._opened(level), shown), partial(_fits, len(level)))
            frequent = [each for each, reaches in zip(level, reach, strict=True) if reaches]
            kept += frequent
            level = asked.after(frequent)
        reached = yield from self._reached(kept)
        yield Progress(Phase.COUNTS, terms.max_len, terms.max_len)
        found = tuple(JointSet(each, Fraction(self._least), settled=False) for each in kept)
        return JointItemsets(
            tuple(asked.attributes),
            self.counts.records,
            terms.min_support,
            self._least,
            found,
            asked.undecided,
            has_counts=False,
            reached=reached,
        )

    def _reached(self, frequent: Sequence[TermSet]) -> Role[ReachedRules | None]:
        terms = self.asked.terms
        if terms.min_threshold is None:
            return None
        rules, reach = self.asked.rules(frequent), AnswerNumbers()
        if rules:
            comparing = as_part(self._compared(rules), Progress(Phase.COUNTS, terms.max_len - 1 / 2, terms.max_len))
            reach = yield from self.answers.ask(comparing, partial(_fits, len(rules)))
        there = [rule for rule, reaches in zip(rules, reach, strict=True) if reaches]
        if terms.metric == Metric.LIFT:
            there = [each for first, rest in there for each in ((first, rest), (rest, first))]
        return ReachedRules(terms.metric, terms.min_threshold, tuple(there))

    @property
    def _least(self) -> int:
        return self.asked.terms.least(self.counts.records)

    def _opened(self, level: Sequence[TermSet]) -> Role[AnswerNumbers]:
        sets, width = [Expression(terms) for terms in level], self.counts.width
        shares = yield from self._counted(sets, width)
        lanes = [Lane(at, each, (0, 1)) for at, each in enumerate(sets)]
        apart = shares - np.uint64(self.gates.first * self._least)
        return (yield from self._reach(apart, width, OpenedKind.SETS, lanes))

    def _compared(self, rules: Sequence[Rule]) -> Role[AnswerNumbers]:
        terms, records = self.asked.terms, self.counts.records
        above, below = (terms.min_threshold or Fraction(1)).as_integer_ratio()
        width = terms.compared_width(records)
        parts = [[Expression(tuple(sorted(each))) for each in (first + rest, first, rest)] for first, rest in rules]
        sets = list(dict.fromkeys(chain.from_iterable(parts)))
        place = {each: at for at, each in enumerate(sets)}
        shares = yield from self._counted(sets, width)
        whole, inner, outer = shares[[[place[each] for each in part] for part in parts]].T
        if terms.metric == Metric.LIFT:
            inner, below = (yield from self._times(inner, outer, width)), below * records
        apart = np.uint64(below) * whole - np.uint64(above) * inner
        lanes = [Lane(at, first, (0, 1), rest) for at, (_, first, rest) in enumerate(parts)]
        return (yield from self._reach(apart, width, OpenedKind.RULES, lanes))

    def _times(self, counts: Uint64s, others: Uint64s, width: int) -> Role[Uint64s]:
        """Return shares of counts times others, bit by bit of the first."""
        number, few = len(counts), self.counts.records.bit_length()
        bits = yield from summand_bits(self.gates, filled(counts & modulus_mask(few)), few)
        shifted = filled(others) << np.arange(few, dtype=WORD)[:, None]
        terms = yield from products(self.gates, bits, shifted, width)
        result: Uint64s = terms.sum(0, dtype=WORD)[:number]
        return result

    def _counted(self, sets: Sequence[Expression], width: int) -> Role[Uint64s]:
        shares = np.zeros(len(sets), WORD)
        for start in range(0, len(sets), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            shares[part] = yield from self.counts.count(sets[part], width)
        return shares

    def _reach(self, numbers: Uint64s, width: int, what: OpenedKind, lanes: Sequence[Lane]) -> Role[AnswerNumbers]:
        below = yield from are_negative(self.gates, filled(numbers & modulus_mask(width)), width)
        return tuple(map(float, (yield from open_lanes(self.gates, what, self.gates.flipped(below)[None], lanes))))


def _fits(candidates: int, answer: AnswerNumbers) -> bool:
    return len(answer) == candidates and set(answer) <= {0.0, 1.0}
