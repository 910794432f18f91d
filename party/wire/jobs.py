"""The job of a greeting: its terms, field by field, each in its one form."""

import re
from fractions import Fraction
from typing import Final

from party.wire.v1 import node_pb2 as wire
from protocols.errors import InputError
from protocols.jobs import NO_JOB, Align, Job, Predict, PredictionTerms, Receiver, Train, Unusable
from protocols.terms import (
    ALL,
    MOST_DIGITS,
    Counting,
    Impurity,
    Learner,
    Method,
    Reveal,
    RuleMetric,
    RuleTerms,
    TermError,
    Terms,
)

_FRACTION = re.compile(rf"(0|[1-9][0-9]{{0,{MOST_DIGITS - 1}}})/([1-9][0-9]{{0,{MOST_DIGITS - 1}}})", re.ASCII)
_ALL_CANDIDATES: Final = 0
_ANY_DEPTH: Final = 0
_USUAL_BITS: Final = 0


def put_job(job: Job | Unusable, greeting: wire.Greeting) -> None:
    """Write a job into a greeting; one that we cannot have is not written."""
    match job:
        case Train(terms):
            greeting.train.CopyFrom(_terms_to_wire(terms))
        case Align(count_only):
            greeting.align.CopyFrom(wire.Alignment(count_only=count_only))
        case Predict(asked):
            greeting.predict.CopyFrom(wire.PredictionTerms(**vars(asked)))
        case Unusable():
            pass


def job_of(greeting: wire.Greeting) -> Job | Unusable:
    """Read the job; one that no run can have is not an error of the frame, so that both sides hear of the field."""
    try:
        match greeting.WhichOneof("job"):
            case "train":
                return Train(_terms(greeting.train))
            case "align":
                return Align(greeting.align.count_only)
            case "predict":
                return Predict(_prediction_terms(greeting.predict))
            case _:
                return NO_JOB
    except TermError as error:
        return Unusable(error.field, error.problem)


def _terms(proto: wire.Terms) -> Terms:
    return Terms(
        method=Method(proto.method),
        theta=read_fraction("theta", proto.theta),
        omega=ALL if proto.omega == _ALL_CANDIDATES else proto.omega,
        counting=Counting(proto.counting),
        class_name=proto.class_name,
        seed=proto.seed,
        test=read_fraction("test", proto.test),
        key_bits=proto.key_bits,
        max_depth=None if proto.max_depth == _ANY_DEPTH else proto.max_depth,
        min_leaf=proto.min_leaf,
        noise=read_fraction("noise", proto.noise) if proto.noise else None,
        impurity=Impurity(proto.impurity),
        reveal=Reveal(proto.reveal),
        most_bits=None if proto.most_bits == _USUAL_BITS else proto.most_bits,
        learner=Learner(proto.learner),
        rules=_rules(proto.rules) if proto.HasField("rules") else None,
    )


def _prediction_terms(proto: wire.PredictionTerms) -> PredictionTerms:
    return PredictionTerms(proto.model, Receiver(proto.receiver), proto.probabilities)


def _terms_to_wire(terms: Terms) -> wire.Terms:
    return wire.Terms(
        method=terms.method,
        theta=fraction_text(terms.theta),
        omega=_ALL_CANDIDATES if terms.omega is ALL else terms.omega,
        counting=terms.counting,
        class_name=terms.class_name,
        seed=terms.seed,
        test=fraction_text(terms.test),
        key_bits=terms.key_bits,
        max_depth=_ANY_DEPTH if terms.max_depth is None else terms.max_depth,
        min_leaf=terms.min_leaf,
        noise="" if terms.noise is None else fraction_text(terms.noise),
        impurity=terms.impurity,
        reveal=terms.reveal,
        most_bits=_USUAL_BITS if terms.most_bits is None else terms.most_bits,
        learner=terms.learner,
        rules=None if terms.rules is None else _rules_to_wire(terms.rules),
    )


def _rules(proto: wire.RuleTerms) -> RuleTerms:
    support = read_fraction("rules", proto.min_support)
    least = read_fraction("rules", proto.min_threshold) if proto.min_threshold else None
    try:
        metric = RuleMetric(proto.metric)
        return RuleTerms(support, proto.max_len, proto.most_sets, tuple(proto.absent), metric, least)
    except InputError as error:
        raise TermError("rules", str(error)) from None


def _rules_to_wire(terms: RuleTerms) -> wire.RuleTerms:
    support = fraction_text(terms.min_support)
    return wire.RuleTerms(
        min_support=support,
        max_len=terms.max_len,
        most_sets=terms.most_sets,
        absent=terms.absent,
        metric=terms.metric,
        min_threshold="" if terms.min_threshold is None else fraction_text(terms.min_threshold),
    )


def fraction_text(value: Fraction) -> str:
    """Write a fraction in its one form."""
    return f"{value.numerator}/{value.denominator}"


def read_fraction(field: str, text: str) -> Fraction:
    """Read a fraction in its one form, lowest terms.

    Raises:
        TermError: It is in another form.
    """
    match = _FRACTION.fullmatch(text)
    value = Fraction(int(match[1]), int(match[2])) if match else None
    if value is None or fraction_text(value) != text:
        raise TermError(field, "must be a fraction in lowest terms, such as 9/20")
    return value
