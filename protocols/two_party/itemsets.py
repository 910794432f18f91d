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

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.association.joint import JointItemsets
from protocols.counting.checks import Checks
from protocols.counting.chi_square import alarm_of
from protocols.counting.rows import View
from protocols.counts import SecureEngine
from protocols.errors import DeviationError, InputError
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.moments import error_bound
from protocols.role import Kept, Role
from protocols.rule_terms import RuleTerms
from protocols.tables.table import Expression, Term
from protocols.two_party.agreement import Agreement
from protocols.two_party.class_first import Leaving, PutOnRecord, keep_no_record, share_class_counts
from protocols.two_party.copies import Copies, CopyJudge, accept_copy, exchange_copies
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.itemset_search import Evidence, JointSearch
from protocols.two_party.opened_sets import AskedSets, OpenedSearch
from protocols.two_party.own_counts import OwnCounts
from protocols.two_party.resume import Resumed, resume
from protocols.two_party.same_model import confirm_same_model, keep_nothing
from protocols.two_party.secret import share_counts
from protocols.two_party.secure import RecordParts, SecureCounting, SharedKey

_SLACK = 1e-6


@dataclass(frozen=True, repr=False)
class FoundTogether:
    """What both parties end with, and what it took.

    Args:
        itemsets: The same at both.
        counted: How many sets with items of both were counted exactly, or asked of which no count was shown.
        told: How many counts of sets of one side's items both sides told, together.
        withheld: How many frequent sets of our own items were not used, to tell of no few people.
        key: The one that was used, if any.
    """

    itemsets: JointItemsets
    counted: int = 0
    told: int = 0
    withheld: int = 0
    key: SharedKey | None = None


KeepItemsets = Callable[[JointItemsets], None]


def find_itemsets(
    local: PartyInputs,
    agreed: Agreement,
    judge: CopyJudge = accept_copy,
    keep: KeepItemsets = keep_nothing,
    record: PutOnRecord = keep_no_record,
    kept: Kept | None = None,
) -> Role[FoundTogether]:
    """Play one party's part of a run; arguments as of `training.run`.

    Discloses: to the peer, our disguised copy (unless `smc`); unless `randomized`, with `reveal = "counts"` the exact
    counts of the frequent sets of our own items, and the exact count of each set with items of both that is counted:
    frequent or not, it shows of how many records with its items our items are true; with `reveal = "sets"` only of each
    candidate whether it is frequent. The peer's itemsets are the same as ours.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
        DisagreementError: One side has too many sets of its own, or objects to the other's copy.
        DeviationError: A check on its replies failed, or it ended with other itemsets.
        InputError: The terms name no rules, or there are too many candidates.
    """
    if agreed.terms.rules is None:
        raise InputError("these terms are not of rules")
    resumed = yield from resume(kept, agreed.nonces, opens_once=agreed.terms.hides_counts)
    run = _Run(local, agreed, agreed.terms.rules, resumed)
    hides = agreed.terms.hides_counts
    if hides:
        record(Leaving.REST)
    else:
        yield from share_class_counts(local, agreed, np.arange(len(local.records)), None, resumed.answers, record)
    copies = yield from exchange_copies(local, agreed, judge, resumed.copy)
    count = run.open if hides else run.count
    search = count if agreed.terms.counts_exactly else run.estimate
    found = yield from search(copies)
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
        """Tell the counts of our own sets, and count what is in doubt."""
        telling = OwnCounts(self.local.party, self.agreed, self.terms, copies.view.codes)
        mine = telling.find()
        own = telling.counts((yield from self.resumed.answers.ask(telling.share(mine))))
        disguises = self.agreed.terms.disguises
        check = _Plausible(copies.view) if disguises else _accept
        for terms in telling.of_peer(own):
            check(Expression(terms), own[terms])
        checks = Checks(self.agreed.schema, len(self.local.records), None)
        engine, key = yield from SecureCounting(self.local, self.agreed, copies, self._parts, checks).engine()
        yield from engine.set_up()
        supports = _Supports(engine, self.resumed.answers, check)
        search = self._search(Evidence(own, copies.both if disguises else None, supports.count))
        itemsets = yield from search.find()
        return FoundTogether(
            itemsets=itemsets,
            counted=search.counted,
            told=len(own),
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

    @property
    def _parts(self) -> RecordParts:
        """All records are counted on, and none are held out."""
        every = np.arange(len(self.local.records), dtype=np.intp)
        return every, every[:0]


CountCheck = Callable[[Expression, int], None]


def _accept(expression: Expression, count: int) -> None:
    del expression, count


class _Plausible:
    """Compares exact counts with our own estimates, as `counting.checks.Plausibility` does the tables of a tree."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._place = {column: place for place, column in enumerate(view.peer_columns)}
        self._values = sum(column.size for column in view.schema.columns)

    def __call__(self, expression: Expression, count: int) -> None:
        """Raise DeviationError where a count is further from its estimate than chance allows."""
        theirs = frozenset(self._place)
        own = expression.restricted(expression.columns - theirs)
        rows = self._view.codes[own.satisfied_by(self._view.codes)][:, list(self._view.peer_columns)]
        part = Expression(tuple(Term(self._place[t.column], t.value) for t in expression.restricted(theirs).terms))
        design = self._view.design
        touched = [group for group, _ in design.touched(part)]
        bound = error_bound(design, touched, len(rows), alarm_of(len(expression.terms), self._values))
        if abs(float(estimate_count(rows, part, design).count) - count) > bound + _SLACK:
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
