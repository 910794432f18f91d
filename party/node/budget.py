"""What all runs over a data set may tell together, judged before anything leaves (FAULTS B7, DESIGN 12).

What has been told stands in the ledger. A run on the terms of an earlier one tells nothing new: over the same tables it
asks for the same counts, and gets the same numbers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from party.forecast.model import most_counts
from party.records.entries import ANSWERS, terms_content
from party.records.ledger import Ledger
from party.records.tally import Dealings, dealings
from party.settings.party import LifeBounds
from protocols.jobs import Align, Job, Predict, Train
from protocols.secret_tree.bits import Allowance, bits
from protocols.secret_tree.openings import OpenedKind
from protocols.terms import Terms, asking_of
from protocols.two_party.agreement import Agreement, Objection
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.split import training_records

MOST_OPENINGS = 3
"""How often one level, or one table of scores, is opened over the life of a data set where noise is in it."""


@dataclass(frozen=True, repr=False)
class Account:
    """What has been told of our data set, beside what may be.

    Args:
        local: What we bring.
        bounds: Ours.
        ledger: Ours.
    """

    local: PartyInputs
    bounds: LifeBounds
    ledger: Ledger

    def judge_job(self, job: Job) -> Objection | None:
        """Object to a run that would be one too many."""
        match job:
            case Train(terms):
                asking = str(asking_of(terms_content(terms)))
            case Align() | Predict():
                return None  # the rows of a prediction are counted when it is known which are asked
        known = {str(asking_of(each)) for dealing in self._dealings() for each in dealing.telling}
        before = len(known)
        if self.bounds.runs is None or asking in known or before < self.bounds.runs:
            return None
        return Objection(
            "budget",
            f"our [agree] most_runs allows {self.bounds.runs:,} over the life of a data set: {before:,} on other terms "
            f"before and this run make {before + 1:,}; return to the terms of one of them, or let most_runs allow "
            "more: counts of two runs can be subtracted",
        )

    def judge(self, agreed: Agreement) -> Objection | None:
        """Object to a run that could tell more exact counts, or reveal more bits, than are left."""
        if (
            flaw := self._too_many_bits(agreed) or self._opened_too_often(agreed)
        ) is not None or self.bounds.counts is None:
            return flaw
        asking, told = asking_of(terms_content(agreed.terms)), self._dealings()
        ended = _ended(told, asking)
        if not ended:
            told = self._dealings(but=asking)  # what a run told that has not ended is of the most that it tells
        before = sum(dealing.revealed.counts for dealing in told)
        follow = 0 if ended else self._most(agreed)
        if before + follow <= self.bounds.counts:
            return None
        return Objection(
            "budget",
            f"our [agree] most_counts allows {self.bounds.counts:,} over the life of a data set: {before:,} "
            f"revealed before and at most {follow:,} for this run make {before + follow:,}; ask for a smaller omega or "
            "max_depth or a larger min_leaf, or let most_counts allow more",
        )

    def _too_many_bits(self, agreed: Agreement) -> Objection | None:
        allowance = Allowance.of(agreed.schema, agreed.terms, len(self.local.records))
        return None if allowance.most is None else self.judge_bits(agreed.terms, allowance.at_most)

    def judge_bits(self, terms: Terms, at_most: Fraction) -> Objection | None:
        """Object to more bits than are left: of all levels that were opened, also by runs that did not end.

        What is on record of a run on these terms is not opened again, and what such a run has opened is of the most
        that it opens; what was opened and is not on record is opened twice, and counts twice.

        Args:
            terms: Of the run.
            at_most: The bits of the tree that reveals most.
        """
        records = len(self.local.records)
        most, asking, told = self.bounds.bits_of(records), asking_of(terms_content(terms)), self._dealings()
        if most is None or _ended(told, asking):
            return None
        opened = {key: price for dealing in told for by, key, price in dealing.booked if by == str(asking)}
        before, follow = sum(dealing.bits for dealing in told), at_most - sum(opened.values())
        if before + follow <= most:
            return None
        return Objection(
            "most_bits",
            f"our [agree] most_bits allows {most:,} over the life of a data set of {records:,} records: "
            f"{ceil(before):,} revealed before and at most {ceil(follow):,} for this run make "
            f"{ceil(before + follow):,}; name a smaller most_bits or max_depth in the job, or let ours allow more",
        )

    def _opened_too_often(self, agreed: Agreement) -> Objection | None:
        """Object to a run of which something with noise was opened so often and is not on record still.

        It would be opened again with the same noise, so answers about other columns could be subtracted.
        """
        asking, runs, opened = asking_of(terms_content(agreed.terms)), set[str](), Counter[str]()
        for entry in self.ledger.entries():
            content: Any = entry.content
            if content["kind"] == "run" and content["dataset"] == self.local.dataset:
                runs |= {content["run"]} if asking_of(content["terms"]) == asking else set()
            elif content.get("run") not in runs:
                continue
            elif content["kind"] == ANSWERS:
                opened.clear()
            elif content["kind"] == "opened" and content["are"] is None:
                has_noise = agreed.terms.noises_tree or content["what"] == OpenedKind.SCORES
                opened[f"{content['what']} {content['paths']}"] += has_noise
        if max(opened.values(), default=0) < MOST_OPENINGS:
            return None
        return Objection(
            "budget",
            f"runs on these terms ended {MOST_OPENINGS} times while the same answer with noise was opened, and no more "
            "are made: more could be subtracted; ask the other side why, and take other terms, if most_runs allows it",
        )

    def answers_left(self, model: bytes) -> int | None:
        """Return about how many people we may still answer by this model; None for any, and where counts made it."""
        told, most = self._dealings(), self.bounds.bits_of(len(self.local.records))
        classes = next((each.trees[model.hex()] for each in told if model.hex() in each.trees), None)
        if most is None or classes is None:
            return None
        return max(0, floor((most - sum(each.bits for each in told)) / bits(classes)))

    def _most(self, agreed: Agreement) -> int:
        domains = [attribute.size for attribute in agreed.schema.attributes]
        return most_counts(domains, agreed.schema.classes, self._train(agreed.terms), agreed.terms)

    def _train(self, terms: Terms) -> int:
        return training_records(len(self.local.records), terms)

    def _dealings(self, but: Mapping[str, Any] | None = None) -> list[Dealings]:
        """Add up what was told in all runs but those that ask for this."""
        entries = [entry for entry in self.ledger.entries() if entry.content.get("dataset") == self.local.dataset]
        begun: list[Any] = [entry.content for entry in entries if entry.content["kind"] == "run"]
        out = {each["run"] for each in begun if asking_of(each["terms"]) == but}
        return dealings(entry for entry in entries if entry.content.get("run") not in out)


def _ended(told: Sequence[Dealings], asking: Mapping[str, Any]) -> bool:
    """Tell whether a run that asked for the same has ended with a model."""
    return any(asking_of(each) == asking for dealing in told for each in dealing.finished)
