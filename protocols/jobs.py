"""What two parties can do together (DESIGN 7 and 13).

A job is one of a few kinds; each kind has its own parameters: a job that cannot be run cannot be made.
"""

from dataclasses import dataclass, fields
from typing import Final

from protocols.terms import MODEL_BYTES, Choice, TermError, Terms


@dataclass(frozen=True)
class Train:
    """Build one model together."""

    terms: Terms


@dataclass(frozen=True)
class Align:
    """Find the people whom both list (DESIGN 13): which they are, or with `count_only` how many."""

    count_only: bool = False


class Receiver(Choice):
    """Who learns the classes of a joint prediction: who opened the session, who answered, or both (DESIGN 13)."""

    INITIATOR = "initiator"
    RESPONDER = "responder"
    BOTH = "both"


@dataclass(frozen=True)
class PredictionTerms:
    """The terms of classifying rows together: the model's digest, who learns, and whether shares of classes too."""

    model: bytes
    receiver: Receiver
    probabilities: bool

    def __post_init__(self) -> None:
        if len(self.model) != MODEL_BYTES:
            raise TermError(f"must be a digest of {MODEL_BYTES} bytes", field="model")
        Receiver(self.receiver)

    def difference(self, other: "PredictionTerms") -> str | None:
        """Return the name of the first term in which the two differ; None if they are equal."""
        return next((name for name in PREDICTION_TERM_NAMES if getattr(self, name) != getattr(other, name)), None)


PREDICTION_TERM_NAMES: Final = tuple(field.name for field in fields(PredictionTerms))


@dataclass(frozen=True)
class Predict:
    """Classify rows of which each party holds some columns, by a model that both hold."""

    terms: PredictionTerms


Job = Train | Align | Predict
"""What two parties may do together: a sum of its kinds."""


@dataclass(frozen=True)
class Unusable:
    """Stands for a peer's job that cannot be made: the field at fault, and its legal range."""

    field: str
    reason: str


NO_JOB: Final = Unusable("job", "must be one that both know")
