"""Which sets with items of both parties reach a threshold, and no count: Apriori on shares (DESIGN 16).

The counts of a level's candidates stay shares modulo a power of two of twice the records; of each the sign of its count
less the threshold is opened, so one bit. The next level's candidates are the sets all of whose parts with items of both
are frequent. What one party's items alone have in common is opened nowhere: it is that party's own.

*Functionality*: of each candidate, whether it is frequent; the candidates follow from these bits and the terms.
*Assumed*: as `oblivious.numbers`.
*Deviations*: as `oblivious.gates`: a party may turn over a bit, alike at both.
*Never again*: as `oblivious.triples`; levels that both remember are not opened again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.association.joint import JointItemsets, JointSet, items_of
from protocols.association.own_sets import TermSet
from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import are_negative, filled, modulus_mask, wires_of
from protocols.role import Phase, Progress, Role
from protocols.rule_terms import RuleTerms
from protocols.secret_tree.openings import Lane, OpenedKind, open_lanes
from protocols.secret_tree.shares import SharedCounts
from protocols.tables.schema import Attribute
from protocols.tables.table import Expression

_AT_ONCE = 256
"""Sets that are counted together: the keys of their transfers are kept meanwhile."""


@dataclass
class AskedSets:
    """What is asked, level by level, as both know it.

    Args:
        attributes: Of both.
        terms: What is looked for.
    """

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

    def _is_of_both(self, terms: TermSet) -> bool:
        return len({self.attributes[term.column].party for term in terms}) > 1

    def _allowed(self, wanted: Iterable[TermSet]) -> list[TermSet]:
        level = list(wanted)
        allowed = level[: self.terms.most_sets - self.number]
        self.number += len(allowed)
        self.undecided += len(level) - len(allowed)
        return allowed


@dataclass(frozen=True, repr=False)
class OpenedSearch:
    """One side's part of the search.

    Args:
        asked: What is.
        counts: Shared, with room for a sign.
        gates: Our part of the computation.
        answers: The levels that both remember: of each candidate 1 if it is frequent.

    Discloses: of each candidate, whether it is frequent.
    """

    asked: AskedSets
    counts: SharedCounts
    gates: Gates
    answers: KeptAnswers

    def find(self) -> Role[JointItemsets]:
        """Return the frequent sets with items of both.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
            DeviationError: What is remembered answers other questions.
        """
        asked, terms = self.asked, self.asked.terms
        level, kept = asked.first(), list[TermSet]()
        while level:
            yield Progress(Phase.COUNTS, len(level[0]) - 1, terms.max_len)
            reach = yield from self.answers.ask(self._opened(level), partial(_fits, len(level)))
            frequent = [each for each, reaches in zip(level, reach, strict=True) if reaches]
            kept += frequent
            level = asked.after(frequent)
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
        )

    @property
    def _least(self) -> int:
        return self.asked.terms.least(self.counts.records)

    def _opened(self, level: Sequence[TermSet]) -> Role[AnswerNumbers]:
        sets, width = [Expression(terms) for terms in level], self.counts.width
        shares = np.zeros(len(sets), WORD)
        for start in range(0, len(sets), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            shares[part] = yield from self.counts.count(sets[part])
        apart = (shares - np.uint64(self.gates.first * self._least)) & modulus_mask(width)
        below = yield from are_negative(self.gates, filled(apart), width)
        lanes = [Lane(at, each, (0, 1)) for at, each in enumerate(sets)]
        reach = yield from open_lanes(self.gates, OpenedKind.SETS, self.gates.flipped(below)[None], lanes)
        return tuple(map(float, reach))


def _fits(candidates: int, answer: AnswerNumbers) -> bool:
    return len(answer) == candidates and set(answer) <= {0.0, 1.0}


def simulate_answers(found: JointItemsets, terms: RuleTerms) -> Iterator[Uint64s]:
    """Yield the wires that a run opens, in their order, from what it found."""
    there, asked = {each.terms for each in found.kept}, AskedSets(found.attributes, terms)
    level = asked.first()
    while level:
        yield wires_of(np.array([[each in there for each in level]]))
        level = asked.after([each for each in level if each in there])
