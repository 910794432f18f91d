"""The job of a greeting: its terms, field by field, each in its one form."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, assert_never

from party.wire.v1 import node_pb2 as wire
from protocols.errors import InputError
from protocols.jobs import (
    NO_JOB,
    Align,
    Crosstab,
    CrosstabTerms,
    Job,
    Predict,
    PredictionTerms,
    Receiver,
    Train,
    Unusable,
)
from protocols.kinds import MOST_DIGITS, Exact, ValueKind, from_plain, kinds_of, values_of
from protocols.terms import RuleTerms, TermError, Terms, terms_of

_FRACTION = re.compile(rf"(0|[1-9][0-9]{{0,{MOST_DIGITS - 1}}})/([1-9][0-9]{{0,{MOST_DIGITS - 1}}})", re.ASCII)


def put_job(job: Job | Unusable, greeting: wire.Greeting) -> None:
    """Write a job into a greeting; one that we cannot have is not written."""
    match job:
        case Train(terms):
            greeting.train.CopyFrom(wire.Terms(**_sent(terms)))
        case Align(count_only):
            greeting.align.CopyFrom(wire.Alignment(count_only=count_only))
        case Predict(asked):
            greeting.predict.CopyFrom(wire.PredictionTerms(**vars(asked)))
        case Crosstab(wanted):
            greeting.crosstab.CopyFrom(wire.CrosstabTerms(**_sent(wanted)))
        case Unusable():
            pass
        case _:
            assert_never(job)


def job_of(greeting: wire.Greeting) -> Job | Unusable:
    """Read the job; one that no run can have is not an error of the frame, so that both sides hear of the field."""
    try:
        match greeting.WhichOneof("job"):
            case "train":
                return Train(_terms(greeting.train))
            case "align":
                return Align(greeting.align.count_only)
            case "predict":
                asked = greeting.predict
                return Predict(PredictionTerms(asked.model, Receiver(asked.receiver), asked.probabilities))
            case "crosstab":
                return Crosstab(CrosstabTerms(**_values(greeting.crosstab, kinds_of(CrosstabTerms))))
            case None:
                return NO_JOB
            case unread:
                assert_never(unread)
    except TermError as error:
        return Unusable(error.field, error.problem)


def _terms(proto: wire.Terms) -> Terms:
    values = _values(proto, kinds_of(Terms)) | {"learner": proto.learner}
    if proto.HasField("rules"):
        try:
            values["rules"] = RuleTerms(**_values(proto.rules, kinds_of(RuleTerms)))
        except InputError as error:
            raise TermError(error.problem if isinstance(error, TermError) else str(error), field="rules") from None
    return terms_of(values)


def _values(proto: wire.Terms | wire.RuleTerms | wire.CrosstabTerms, kinds: Mapping[str, ValueKind]) -> dict[str, Any]:
    return {name: _value(name, kind, getattr(proto, name)) for name, kind in kinds.items()}


def _value(name: str, kind: ValueKind, sent: Any) -> Any:
    """Read a field; what is left open is not sent."""
    if kind.word and not sent:
        return None
    return from_plain(kind, read_fraction(name, sent) if isinstance(kind, Exact) else sent)


def _sent(made: Terms | RuleTerms | CrosstabTerms) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for name, value in values_of(made).items():
        match value:
            case Fraction():
                sent[name] = fraction_text(value)
            case RuleTerms():
                sent[name] = wire.RuleTerms(**_sent(value))
            case _:
                sent[name] = value
    return sent


def fraction_text(value: Fraction) -> str:
    """Write a fraction in its one form."""
    return f"{value.numerator}/{value.denominator}"


def read_fraction(field: str, text: str) -> Fraction:
    """Read a fraction in its one form, lowest terms; another form is a `TermError`."""
    match = _FRACTION.fullmatch(text)
    value = Fraction(int(match[1]), int(match[2])) if match else None
    if value is None or fraction_text(value) != text:
        raise TermError("must be a fraction in lowest terms, such as 9/20", field=field)
    return value
