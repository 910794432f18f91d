"""Each party tells how many records have the frequent sets of its own items, and checks what the other tells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from protocols.answers import AnswerNumbers
from protocols.association.joint import items_of
from protocols.association.own_sets import OwnSet, OwnSets, TermSet, find_own_sets
from protocols.errors import PeerError
from protocols.facts import SetsFact, Way
from protocols.messages import SetCounts
from protocols.role import Note, Role, exchange
from protocols.rule_terms import RuleTerms
from protocols.tables.table import Codes, Expression, Term
from protocols.two_party.agreement import Agreement, Objection, settle

_REFUSED = "the peer's counts of its own sets of items cannot be true"


@dataclass(frozen=True, repr=False)
class OwnCounts:
    """One party's side of telling.

    Args:
        party: Our name.
        agreed: What was agreed.
        terms: Those of the rules.
        codes: Joint codes, our own columns filled in.

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
        """Tell ours, hear the peer's, and return both as numbers, those of the first name first.

        Raises:
            DisagreementError: One side has more than were agreed.
            PeerError: The peer's cannot be true.
        """
        few = "raise min_support or most_sets, or lower max_len"
        many = f"more than most_sets = {self.terms.most_sets} sets of our own items are frequent: {few}"
        yield from settle(None if own.complete else Objection("rules", many))
        yield Note(_fact(Way.TOLD, own.sets))
        theirs = self._read((yield from exchange(self._message(own))))
        yield Note(_fact(Way.LEARNED, theirs))
        return tuple(float(number) for _, sets in self._sides(own.sets, theirs) for number in self._numbers(sets))

    def counts(self, numbers: AnswerNumbers) -> Mapping[TermSet, int]:
        """Return the counts of both sides' sets from their numbers."""
        return {each.terms: each.count for each in self._sets(map(int, numbers))}

    def of_peer(self, counts: Mapping[TermSet, int]) -> list[TermSet]:
        """Return which of these sets the peer has told of."""
        return [terms for terms in counts if self._owner(terms[0]) == self.agreed.peer]

    @property
    def _items(self) -> list[Term]:
        return items_of(self.agreed.schema.attributes)

    @property
    def _least(self) -> int:
        return self.terms.least(len(self.codes))

    def _owner(self, term: Term) -> str:
        return self.agreed.schema.attributes[term.column].party

    def _sides(self, own: tuple[OwnSet, ...], theirs: tuple[OwnSet, ...]) -> list[tuple[str, tuple[OwnSet, ...]]]:
        return sorted([(self.party, own), (self.agreed.peer, theirs)])

    def _numbers(self, sets: tuple[OwnSet, ...]) -> Iterator[int]:
        place = {term: position for position, term in enumerate(self._items)}
        for each in sets:
            yield from (len(each.terms), *(place[term] for term in each.terms), each.count)

    def _sets(self, numbers: Iterator[int]) -> Iterator[OwnSet]:
        items = self._items
        for size in numbers:
            terms = tuple(items[next(numbers)] for _ in range(size))
            yield OwnSet(terms, next(numbers))

    def _message(self, own: OwnSets) -> SetCounts:
        place = {term: position for position, term in enumerate(self._items)}
        items = tuple(place[term] for each in own.sets for term in each.terms)
        return SetCounts(items, tuple(len(each.terms) for each in own.sets), tuple(each.count for each in own.sets))

    def _read(self, message: SetCounts) -> tuple[OwnSet, ...]:
        """Read the peer's sets, which are what a party that finds its own sets can tell."""
        items, told = self._items, dict[TermSet, int]()
        _require(len(message.counts) == len(message.sizes) <= self.terms.most_sets)
        _require(sum(message.sizes) == len(message.items) and all(item < len(items) for item in message.items))
        start = 0
        for size, count in zip(message.sizes, message.counts, strict=True):
            terms = tuple(items[item] for item in message.items[start : start + size])
            start += size
            self._check(terms, count, told)
            told[terms] = count
        return tuple(OwnSet(terms, count) for terms, count in told.items())

    def _check(self, terms: TermSet, count: int, told: Mapping[TermSet, int]) -> None:
        attributes, records = self.agreed.schema.attributes, len(self.codes)
        values = [attributes[term.column].values[term.value] for term in terms]
        columns = [term.column for term in terms]
        _require(0 < len(terms) <= self.terms.max_len and terms not in told)
        _require(columns == sorted(set(columns)) and not set(values) & set(self.terms.absent))
        _require(all(self._owner(term) == self.agreed.peer for term in terms))
        _require(self._least <= count <= records and self._is_apart(records, count))
        if len(terms) > 1:
            subsets = list(combinations(terms, len(terms) - 1))
            _require(all(part in told and self._is_apart(told[part], count) for part in subsets))

    def _is_apart(self, more: int, count: int) -> bool:
        """Tell whether a set may have this many records of those that another has."""
        return more == count or more - count >= self.agreed.terms.min_leaf


def _fact(way: Way, sets: tuple[OwnSet, ...]) -> SetsFact:
    return SetsFact(way, tuple(Expression(each.terms) for each in sets), tuple(each.count for each in sets))


def _require(holds: object) -> None:
    if not holds:
        raise PeerError(_REFUSED)
