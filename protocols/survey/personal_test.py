"""How often a model is right about personal answers, from one bit per respondent (Surveys 3.4; DESIGN 8).

Of one group that is asked the unrelated question, `P*(cc) = theta P(cc) + (1 - theta) P(Y cc)`: to test a model on
responses, the collector needs `P(Y cc)`, the share of respondents about whose *personal* record the model is right. It
publishes the model; each respondent runs it on the personal answers, which nobody else sees, and returns one bit.

Deviation from the paper, where the bit is sent as it is: with a chance `t` the bit is true, else it is the opposite
(Warner; section 4.1). A collector chooses the model, so it chooses what the bit reveals: a model that always says "yes"
asks for the personal class itself, and a response that differs from a known personal answer is the truth. Whatever
model it publishes, the bit moves the odds between two personal records by no more than `t/(1 - t)` to 1; with `t = 1`,
the paper's, without bound. `P(Y cc) = (b - (1 - t))/(2t - 1)`, `b` the share of bits that say "right".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import hypot, sqrt

from protocols.counts import Classifier
from protocols.errors import InputError
from protocols.privacy.loss import ratio_loss
from protocols.randomized_response.design import MAX_DENOMINATOR, Design, Kind
from protocols.survey.mining import Accuracy
from protocols.survey.responses import Responses


@dataclass(frozen=True)
class BitDesign:
    """How the bit is disguised: it is true with a chance above 1/2; 1 sends it as it is."""

    truth: Fraction

    def __post_init__(self) -> None:
        if not Fraction(1, 2) < self.truth <= 1 or self.truth.denominator > MAX_DENOMINATOR:
            raise InputError(
                f"must be above 1/2 and at most 1, with a denominator of at most {MAX_DENOMINATOR}", field="truth"
            )

    @property
    def coin(self) -> tuple[Fraction, ...]:
        """The chances of the bit's coin, the truth first."""
        return (self.truth,) if self.truth == 1 else (self.truth, 1 - self.truth)

    @property
    def loss(self) -> float:
        """Epsilon of the bit, whatever model was published: infinite where it is sent as it is."""
        return ratio_loss(None if self.truth == 1 else self.truth / (1 - self.truth))


def personal_share(right: int, bits: int, design: BitDesign) -> Fraction:
    """Return the estimate of `P(Y cc)`; unbiased, so it may leave `0 .. 1`."""
    if not bits:
        raise InputError("nobody has tested the model yet")
    return (Fraction(right, bits) - (1 - design.truth)) / (2 * design.truth - 1)


def personal_accuracy(right: int, bits: int, design: BitDesign) -> Accuracy:
    """Return `P(Y cc)` with the standard error of a sample, which is infinite for a single bit."""
    share, said = float(personal_share(right, bits, design)), Fraction(right, bits)
    if bits < 2:
        return Accuracy(share, float("inf"), bits)
    return Accuracy(share, sqrt(said * (1 - said) / (bits - 1)) / float(2 * design.truth - 1), bits)


def tested_group(columns: Iterable[int], design: Design) -> int:
    """Return the one group of unrelated questions that holds these columns."""
    groups = {design.group_of(column) for column in columns}
    group = groups.pop() if len(groups) == 1 else None
    if group is None or design.part(group).kind is not Kind.UNRELATED:
        raise InputError(
            "a model is tested on personal answers where its class and all columns that it reads are in one group of "
            "unrelated questions"
        )
    return group


def accuracy_by_bits(model: Classifier, survey: Responses, personal: Accuracy) -> Accuracy:
    """Return `P(cc) = (P*(cc) - (1 - theta) P(Y cc))/theta` on responses (Surveys 3.4).

    The standard error is an upper bound: bits and responses of the same people are taken as independent, and they vary
    together, which takes from the error of the difference.
    """
    label = survey.schema.class_index
    theta = survey.design.truth(tested_group(model.columns | {label}, survey.design))
    given = survey.answered(model.columns | {label})
    right = model.predict(given.codes) == given.codes[:, label]
    records, seen = len(given), float(right.mean())
    share = (seen - (1 - float(theta)) * personal.share) / float(theta)
    if records < 2:
        return Accuracy(share, float("inf"), records)
    own = sqrt(seen * (1 - seen) / (records - 1))
    return Accuracy(share, hypot(own, (1 - float(theta)) * personal.standard_error) / float(theta), records)
