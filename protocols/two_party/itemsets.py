"""One run of two parties that ends with itemsets over the columns of both (DESIGN 9, "Hybrid rules"), as a role.

    records           how many, as of a class that all of them have
    disguised copies  both ways (not for `smc`)
    own sets          both ways: the exact counts of the frequent sets of each side's items (neither for `randomized`
                      nor with reveal = "sets")
    transfers         both ways: a session of them; where counts are encrypted, the key holder's public key
                      (neither for `randomized`)
    the sets of both  level by level; those that the copies leave in doubt are counted exactly (with reveal = "sets" no
                      count is shown, only of each candidate whether it is frequent)
    model digests     both ways, and they must be equal

There is no class: what a run of any learner takes for one is a column of one value, which both sides hold.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.association.joint import JointItemsets, items_of
from protocols.association.own_sets import OwnSet, OwnSets, TermSet, find_own_sets
from protocols.counting.checks import Checks
from protocols.counting.chi_square import alarm_of
from protocols.counting.rows import View
from protocols.counts import SecureEngine
from protocols.errors import DeviationError, InputError, PeerError
from protocols.facts import SetsFact, Way
from protocols.messages import SetCounts
from protocols.noise.both import EXACT
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.moments import error_bound
from protocols.role import Kept, Note, Role, exchange, nothing
from protocols.tables import Codes, Expression, Term
from protocols.terms import RuleTerms
from protocols.two_party.agreement import Agreement
from protocols.two_party.copies import (
    Copies,
    CopyJudge,
    Leaving,
    PutOnRecord,
    confirm_same_model,
    exchange_copies,
    share_class_counts,
)
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.itemset_search import Evidence, JointSearch
from protocols.two_party.memory import Resumed, resume
from protocols.two_party.objections import Objection, settle
from protocols.two_party.opened_sets import AskedSets, OpenedSearch
from protocols.two_party.secret import share_counts
from protocols.two_party.secure import SecureCounting, SharedKey

_REFUSED = "the peer's counts of its own sets of items cannot be true"


@dataclass(frozen=True, repr=False)
class OwnCounts:
    """One party's side of sending them, from joint codes with our own columns filled in.

    Discloses: the exact count of each frequent set of our own items, but of those that differ from others in few
    records; if there are more than agreed, that there are, and nothing else.
    """

    party: str
    agreed: Agreement
    terms: RuleTerms
    codes: Codes

    def find(self) -> OwnSets:
        """Find our own sets."""
        every = items_of(self.agreed.schema.attributes, self.terms.absent)
        items = [term for term in every if self._owner(term) == self.party]
        limits = (self.terms.max_len, self.agreed.terms.min_leaf)
        return find_own_sets(self.codes, items, self._least, limits, self.terms.most_sets)

    def share(self, own: OwnSets) -> Role[AnswerNumbers]:
        """Send ours, hear the peer's, and return both as numbers, those of the first name first."""
        few = "raise min_support or most_sets, or lower max_len"
        many = f"more than most_sets = {self.terms.most_sets} sets of our own items are frequent: {few}"
        yield from settle(None if own.complete else Objection("rules", many))
        yield Note(_fact(Way.TOLD, own.sets))
        theirs = self._read((yield from exchange(self._message(own))))
        yield Note(_fact(Way.LEARNED, theirs))
        sides = sorted([(self.party, own.sets), (self.agreed.peer, theirs)])
        return tuple(float(number) for _, sets in sides for number in self._numbers(sets))

    def counts(self, numbers: AnswerNumbers) -> Mapping[TermSet, int]:
        """Return the counts of both sides' sets from their numbers."""
        return {each.terms: each.count for each in self._sets(map(int, numbers))}

    def of_peer(self, counts: Mapping[TermSet, int]) -> list[TermSet]:
        """Return which of these sets the peer has sent."""
        return [terms for terms in counts if self._owner(terms[0]) == self.agreed.peer]

    @property
    def _items(self) -> list[Term]:
        return items_of(self.agreed.schema.attributes)

    @cached_property
    def _place(self) -> dict[Term, int]:
        return {term: position for position, term in enumerate(self._items)}

    @property
    def _least(self) -> int:
        return self.terms.least(len(self.codes))

    def _owner(self, term: Term) -> str:
        return self.agreed.schema.attributes[term.column].party

    def _numbers(self, sets: tuple[OwnSet, ...]) -> Iterator[int]:
        for each in sets:
            yield from (len(each.terms), *(self._place[term] for term in each.terms), each.count)

    def _sets(self, numbers: Iterator[int]) -> Iterator[OwnSet]:
        items = self._items
        for size in numbers:
            terms = tuple(items[next(numbers)] for _ in range(size))
            yield OwnSet(terms, next(numbers))

    def _message(self, own: OwnSets) -> SetCounts:
        items = tuple(self._place[term] for each in own.sets for term in each.terms)
        return SetCounts(items, tuple(len(each.terms) for each in own.sets), tuple(each.count for each in own.sets))

    def _read(self, message: SetCounts) -> tuple[OwnSet, ...]:
        """Read the peer's sets, which are what a party that finds its own sets can send."""
        items, known = self._items, dict[TermSet, int]()
        _require(len(message.counts) == len(message.sizes) <= self.terms.most_sets)
        _require(sum(message.sizes) == len(message.items) and all(item < len(items) for item in message.items))
        start = 0
        for size, count in zip(message.sizes, message.counts, strict=True):
            terms = tuple(items[item] for item in message.items[start : start + size])
            start += size
            self._check(terms, count, known)
            known[terms] = count
        return tuple(OwnSet(terms, count) for terms, count in known.items())

    def _check(self, terms: TermSet, count: int, known: Mapping[TermSet, int]) -> None:
        attributes, records = self.agreed.schema.attributes, len(self.codes)
        values = [attributes[term.column].values[term.value] for term in terms]
        columns = [term.column for term in terms]
        _require(0 < len(terms) <= self.terms.max_len and terms not in known)
        _require(columns == sorted(set(columns)) and not set(values) & set(self.terms.absent))
        _require(all(self._owner(term) == self.agreed.peer for term in terms))
        _require(self._least <= count <= records and self._is_apart(records, count))
        if len(terms) > 1:
            subsets = list(combinations(terms, len(terms) - 1))
            _require(all(part in known and self._is_apart(known[part], count) for part in subsets))

    def _is_apart(self, more: int, count: int) -> bool:
        """Return whether a set may have this many records of those that another has."""
        return more == count or more - count >= self.agreed.terms.min_leaf


def _fact(way: Way, sets: tuple[OwnSet, ...]) -> SetsFact:
    return SetsFact(way, tuple(Expression(each.terms) for each in sets), tuple(each.count for each in sets))


def _require(holds: object) -> None:
    if not holds:
        raise PeerError(_REFUSED)


_SLACK = 1e-6


@dataclass(frozen=True, repr=False)
class FoundTogether:
    """What both parties end with, and what it took.

    Args:
        counted: How many sets with items of both were counted exactly, or asked of which no count was shown.
        own: How many counts of sets of one side's items both sides sent, together.
        withheld: How many frequent sets of our own items were not used, to speak of no few people.
    """

    itemsets: JointItemsets
    counted: int = 0
    own: int = 0
    withheld: int = 0
    key: SharedKey | None = None


KeepItemsets = Callable[[JointItemsets], None]


def find_itemsets(
    local: PartyInputs,
    agreed: Agreement,
    judge: CopyJudge = nothing,
    keep: KeepItemsets = nothing,
    record: PutOnRecord = nothing,
    kept: Kept | None = None,
) -> Role[FoundTogether]:
    """Play one party's part of a run; arguments as of `training.training_role`.

    Discloses: to the peer, our disguised copy (unless `smc`); unless `randomized`, with `reveal = "counts"` the exact
    counts of the frequent sets of our own items, and the exact count of each set with items of both that is counted:
    frequent or not, it shows of how many records with its items our items are true; with `reveal = "sets"` only of each
    candidate whether it is frequent. The peer's itemsets are the same as ours.
    """
    if agreed.terms.rules is None:
        raise InputError("these terms are not of rules")
    resumed = yield from resume(kept, agreed.nonces, opens_once=agreed.terms.hides_counts)
    run = _Run(local, agreed, agreed.terms.rules, resumed)
    hides = agreed.terms.hides_counts
    if hides:
        record(Leaving.REST)
    else:
        yield from share_class_counts(local, agreed, np.arange(len(local.records)), EXACT, resumed.answers, record)
    copies = yield from exchange_copies(local, agreed, judge, resumed.copy)
    exactly = run.open if hides else run.count
    find = exactly if agreed.terms.counts_exactly else run.estimate
    found = yield from find(copies)
    keep(found.itemsets)
    yield from confirm_same_model(found.itemsets.digest())
    return found


@dataclass(frozen=True, repr=False)
class _Run:
    """What the steps of a run share."""

    local: PartyInputs
    agreed: Agreement
    terms: RuleTerms
    resumed: Resumed

    def estimate(self, copies: Copies) -> Role[FoundTogether]:
        """Find what the copies alone show."""
        return FoundTogether((yield from self._search(Evidence(None, copies.both, None)).find()))

    def count(self, copies: Copies) -> Role[FoundTogether]:
        """Send the counts of our own sets, and count what is in doubt."""
        telling = OwnCounts(self.local.party, self.agreed, self.terms, copies.view.codes)
        mine = telling.find()
        own = telling.counts((yield from self.resumed.answers.ask(telling.share(mine))))
        disguises = self.agreed.terms.disguises
        check: CountCheck = _Plausible(copies.view) if disguises else lambda *_: None
        for terms in telling.of_peer(own):
            check(Expression(terms), own[terms])
        checks = Checks(self.agreed.schema, len(self.local.records), None)
        every = np.arange(len(self.local.records), dtype=np.intp)  # nothing is held out
        parts = every, every[:0]
        engine, key = yield from SecureCounting(self.local, self.agreed, copies, parts, checks).engine()
        yield from engine.set_up()
        supports = _Supports(engine, self.resumed.answers, check)
        search = self._search(Evidence(own, copies.both if disguises else None, supports.count))
        itemsets = yield from search.find()
        return FoundTogether(
            itemsets=itemsets,
            counted=search.counted,
            own=len(own),
            withheld=mine.withheld,
            key=key,
        )

    def open(self, copies: Copies) -> Role[FoundTogether]:
        """Open which sets of both sides' items are frequent."""
        counts, gates = yield from share_counts(self.local, self.agreed, copies.view.codes, len(copies.view) + 1)
        asked = AskedSets(self.agreed.schema.attributes, self.terms)
        itemsets = yield from OpenedSearch(asked, counts, gates, self.resumed.answers).find()
        return FoundTogether(itemsets, counted=asked.number)

    def _search(self, evidence: Evidence) -> JointSearch:
        return JointSearch(self.agreed.schema, len(self.local.records), self.terms, evidence)


CountCheck = Callable[[Expression, int], None]


class _Plausible:
    """Compares exact counts with our own estimates, as `counting.checks.Plausibility` does the tables of a tree."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._values = sum(column.size for column in view.schema.columns)

    def __call__(self, expression: Expression, count: int) -> None:
        """Raise DeviationError where a count is further from its estimate than chance allows."""
        codes, design = self._view.codes, self._view.design
        live = int(expression.restricted(frozenset(design.plain)).satisfied_by(codes).sum())
        touched = [group for group, _ in design.touched(expression)]
        bound = error_bound(design, touched, live, alarm_of(len(expression.terms), self._values))
        if abs(float(estimate_count(codes, expression, design).count) - count) > bound + _SLACK:
            raise DeviationError


class _Supports:
    """Exact counts of sets, each batch kept before anything is done with it."""

    def __init__(self, engine: SecureEngine, answers: KeptAnswers, check: CountCheck) -> None:
        self._engine, self._answers, self._check = engine, answers, check

    def count(self, sets: Sequence[Expression]) -> Role[list[int]]:
        """Return how many records have each of these sets."""
        numbers = yield from self._answers.ask(self._asked(sets))
        if len(numbers) != len(sets):
            raise DeviationError
        return [int(number) for number in numbers]

    def _asked(self, sets: Sequence[Expression]) -> Role[AnswerNumbers]:
        counts = yield from self._engine.count_sets(sets)
        for each, count in zip(sets, counts, strict=True):
            self._check(each, count)
        return tuple(map(float, counts))
