"""Round two: the model that respondents test on their personal answers, and what comes back (Surveys 3.4).

`cotally-test/1` is what the page reads: which columns the model reads, the model as plain numbers, and the coin of the
bit. `cotally-bit/1` is what it sends: `{"format", "round": digest, "code", "bit": "0" or "1"}`, of one length.

Discloses, to the collector: one bit per respondent, disguised as the settings say. The collector chooses the model, and
so what the bit is about; `protocols/survey/mining.py` says what it can learn at most. One model is published per
survey, and a code is counted once, so there is no second bit to hold against the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

import numpy as np

from party.models.any_file import model_from_text
from party.settings.survey import Questionnaire
from party.survey.mining import hold_out
from party.survey.web.description import survey_digest, whole_numbers
from party.survey.web.store import BitCount, PublishedModel, response_codes
from protocols.errors import InputError
from protocols.learning.model import Model
from protocols.learning.naive_bayes import NaiveBayes, grains
from protocols.learning.tree import Leaf
from protocols.randomness import canonical
from protocols.survey.mining import Accuracy, BitDesign, accuracy_by_bits, personal_accuracy, tested_group
from protocols.survey.responses import Responses
from protocols.tables import Codes

TEST_FORMAT: Final = "cotally-test/1"


@dataclass(frozen=True)
class ModelTest:
    """What the bits say of a model."""

    count: BitCount
    design: BitDesign
    personal: Accuracy | None
    accuracy: Accuracy | None


@dataclass(frozen=True)
class HeldOut:
    """Which records were held out when a model was learned: their share, and the seed of the public order."""

    share: Fraction
    seed: int


def check_publishable(model: Model, codes: Codes, exported: Codes, asked: Questionnaire, held: HeldOut) -> None:
    """Refuse a model that cannot be tested."""
    if not held.share:
        raise InputError("must be above 0: a model is tested on answers that it was not learned from", field="test")
    survey = _responses(codes, asked)
    described = [[(c.name, c.values) for c in schema.columns] for schema in (model.schema, survey.schema)]
    if described[0] != described[1]:
        raise InputError("the model is of other columns than this survey: mine one from its answers")
    tested_group(model.columns | {survey.schema.class_index}, asked.design)
    if not np.array_equal(codes, exported):
        raise InputError("the answers are not those of the table any more: export them, and mine the model again")
    hold_out(survey, held.share, held.seed, prune=False)


def _responses(codes: Codes, questionnaire: Questionnaire) -> Responses:
    return Responses(questionnaire.schema(), codes, questionnaire.design)


def round_digest(questionnaire: Questionnaire, model: PublishedModel) -> str:
    """Return the digest of all that decides what a bit means: it goes with each."""
    parts = (survey_digest(questionnaire).encode(), model.truth.encode(), model.text.encode())
    return sha256(canonical(b"cotally round two", *parts)).hexdigest()


def test_json(questionnaire: Questionnaire, published: PublishedModel) -> dict[str, object]:
    """Return what the script of the page reads."""
    return {
        "format": TEST_FORMAT,
        "survey": survey_digest(questionnaire),
        "round": round_digest(questionnaire, published),
        "columns": [len(values) for values in questionnaire.values],
        "coin": list(map(str, whole_numbers(BitDesign(Fraction(published.truth)).coin))),
        "model": model_numbers(model_from_text(published.text)),
    }


def model_numbers(model: Model) -> dict[str, Any]:
    """Return a model as numbers: logarithms in grains, or nodes `[column, numbers of its children]` and `[class]`."""
    if isinstance(model, NaiveBayes):
        return {
            "prior": _finite(grains(model.prior).tolist()),
            "tables": [list(map(_finite, grains(table).tolist())) for table in model.conditional],
        }
    nodes: list[list[object]] = [[]]
    pending = [(0, model.root)]
    while pending:
        place, node = pending.pop()
        if isinstance(node, Leaf):
            nodes[place] = [node.label]
            continue
        children = range(len(nodes), len(nodes) + len(node.children))
        nodes[place] = [node.attribute, list(children)]
        nodes += [[] for _ in children]
        pending += zip(children, node.children, strict=True)
    return {"nodes": nodes}


def _finite(logarithms: Sequence[float]) -> list[float | None]:
    return [None if number == -np.inf else number for number in logarithms]


def model_test(
    published: PublishedModel, count: BitCount, responses: Sequence[bytes], asked: Questionnaire
) -> ModelTest:
    """Return what the bits say so far."""
    design = BitDesign(Fraction(published.truth))
    if not count.bits:
        return ModelTest(count, design, None, None)
    survey = _responses(response_codes(responses, asked), asked)
    held = hold_out(survey, Fraction(published.test), published.seed, prune=False).test
    personal = personal_accuracy(count.right, count.bits, design)
    model = model_from_text(published.text)
    return ModelTest(
        count, design, personal, accuracy_by_bits(model, held, personal) if isinstance(held, Responses) else None
    )
