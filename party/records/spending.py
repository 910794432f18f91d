"""What of a data set's epsilon has been spent, and what is left of what its owner allows (DESIGN 14, "Noise").

Each run with noise spends its epsilon once, however often it is asked again: its numbers are the same. Other runs spend
more, and what all of them tell together is at most the sum. Counts without noise have no epsilon at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from party.settings.noise import noise_text
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.noise import run_digest

_UNBOUNDED = "exact"

Spent = Mapping[str, str]
"""Epsilon of each run by its digest; `exact` once answers without noise have been told."""


@dataclass(frozen=True)
class Spend:
    """What a run spends: its epsilon under its digest; None where its counts have no noise."""

    run: str
    epsilon: Fraction | None

    @property
    def entry(self) -> dict[str, str]:
        """The run as it is put on record."""
        return {_UNBOUNDED: ""} if self.epsilon is None else {self.run: str(self.epsilon)}

    def refusal(self, spent: Spent, budget: Fraction | None) -> str | None:
        """Return why the run would spend too much, with the arithmetic; None if it would not.

        Args:
            spent: What has been spent.
            budget: The most that all runs together may spend; None for any.
        """
        if budget is None or self.run in spent:
            return None
        allowed = f"our [agree] epsilon allows {noise_text(budget)} over the life of a data set"
        if _UNBOUNDED in spent or self.epsilon is None:
            when = "are asked for" if self.epsilon is None else "of this one have been told before"
            return f"{allowed}, and answers without noise {when}, which no epsilon bounds"
        before = spent_before(spent) or Fraction(0)
        after = before + self.epsilon
        if after <= budget:
            return None
        return (
            f"{allowed}: {noise_text(before)} spent before (by {len(spent)}) and {noise_text(self.epsilon)} for this "
            f"run make {noise_text(after)}; ask for a smaller epsilon, or let epsilon allow more"
        )


def spent_before(spent: Spent) -> Fraction | None:
    """Return the epsilon that all runs together have spent; None if answers without noise have been told too."""
    return None if _UNBOUNDED in spent else sum(map(Fraction, spent.values()), start=Fraction(0))


def spend_of(local: PartyInputs, agreed: Agreement) -> Spend | None:
    """Return what a run spends; None where no exact counts are made."""
    if not agreed.terms.counts_exactly:
        return None
    return Spend(run_digest(local, agreed).hex(), agreed.terms.epsilon)
