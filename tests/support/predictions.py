"""Two parties that classify rows together, in one process."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from protocols.jobs import PredictionTerms, Receiver
from protocols.learning.naive_bayes import Model
from protocols.role import Role
from protocols.two_party.prediction import NO_RECALL, Answers, PredictionRun, Recall, SharedRows, predict_together
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import Case, make_local, make_terms

PARTIES = Case(
    sizes={"alice": (2,), "bob": (2,)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 2, 2), 10),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(),
)
NOT_OURS = -9
"""Stands in the columns that a party does not hold: no code at all."""


@dataclass
class Together:
    """Alice opens, Bob answers; each sees its own columns of the rows alone."""

    model: Model
    codes: NDArray[np.int16]
    receiver: str = "initiator"
    probabilities: bool = False
    recalls: dict[str, Recall] = field(default_factory=dict)
    tamper: Tamper = honest

    @property
    def terms(self) -> PredictionTerms:
        return PredictionTerms(self.model.digest(), Receiver(self.receiver), self.probabilities)

    def run(self, party: str, peer: str) -> PredictionRun:
        """Return a party's side of it."""
        own = np.array([attribute.party == party for attribute in self.model.schema.attributes])
        people = tuple(f"p{number:03}" for number in range(len(self.codes)))
        rows = SharedRows(self.model, people, np.where(own, self.codes, NOT_OURS))
        local, nonces = make_local(PARTIES, party), bytes(32)
        recall = self.recalls.get(party, NO_RECALL)
        return PredictionRun(local, rows, self.terms, party == "alice", peer, nonces, recall)

    def roles(self) -> tuple[Role[Answers | None], Role[Answers | None]]:
        """Return both parties' parts."""
        return predict_together(self.run("alice", "bob")), predict_together(self.run("bob", "alice"))

    def play(self) -> tuple[End[Answers | None], End[Answers | None]]:
        """Play both; a result of None is that of who learns nothing, and waits for nothing more."""
        return duel(*self.roles(), self.tamper)


def labels(answers: Answers | None) -> list[int]:
    """Return the class of each row that was answered, in the order of the rows."""
    assert answers is not None
    return [answers.outcomes[position].label for position in answers.positions]
