"""What two parties can do together (DESIGN 7 and 13).

A job is one of a few kinds; each kind has its own parameters: a job that cannot be run cannot be made.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final, Self

from protocols.kinds import Label, check_kinds
from protocols.terms import MODEL_BYTES, NOISE, Choice, TermError, Terms


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


class _Compared:
    """Terms that are compared field by field."""

    def difference(self, other: Self) -> str | None:
        """Return the name of the first term in which the two differ; None if they are equal."""
        return next((name for name, value in vars(self).items() if value != getattr(other, name)), None)


@dataclass(frozen=True)
class PredictionTerms(_Compared):
    """The terms of classifying rows together: the model's digest, who learns, and whether shares of classes too."""

    model: bytes
    receiver: Receiver
    probabilities: bool

    def __post_init__(self) -> None:
        if len(self.model) != MODEL_BYTES:
            raise TermError(f"must be a digest of {MODEL_BYTES} bytes", field="model")
        Receiver(self.receiver)


@dataclass(frozen=True)
class Predict:
    """Classify rows of which each party holds some columns, by a model that both hold."""

    terms: PredictionTerms


@dataclass(frozen=True)
class CrosstabTerms(_Compared):
    """The terms of one table of counts: a column of who opened the session, one of who answered, and its noise.

    `noise` is the epsilon against each side, None for exact counts.
    """

    initiator: Annotated[str, Label()]
    responder: Annotated[str, Label()]
    noise: Annotated[Fraction | None, NOISE]

    def __post_init__(self) -> None:
        check_kinds(self, TermError)

    def column_of(self, *, initiates: bool) -> str:
        """Return the column of either side."""
        return self.initiator if initiates else self.responder


@dataclass(frozen=True)
class Crosstab:
    """Count a column of one party by a column of the other."""

    terms: CrosstabTerms


Job = Train | Align | Predict | Crosstab
"""What two parties may do together: a sum of its kinds."""


@dataclass(frozen=True)
class Unusable:
    """Stands for a peer's job that cannot be made: the field at fault, and its legal range."""

    field: str
    reason: str


NO_JOB: Final = Unusable("job", "must be one that both know")
