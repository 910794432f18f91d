"""What a party objects to in a prediction that it is asked to take part in, by the rows that it offers."""

from pathlib import Path

import numpy as np
import pytest

from party.data import read_frame
from party.node.offers import Offer, Offers
from protocols.jobs import Predict, PredictionTerms, Receiver
from protocols.learning.models import Model
from protocols.terms import Cipher
from protocols.two_party.prediction import SharedRows
from protocols.two_party.ways import NO_SHARES
from tests.party.models.test_bayes_file import small_bayes
from tests.support.models import small_model


def asked(model: Model, *, probabilities: bool = False) -> Predict:
    return Predict(PredictionTerms(model.digest(), next(iter(Receiver)), probabilities, Cipher.CURVE, 3072))


def offers(folder: Path, model: Model) -> Offers:
    path = folder / "rows.csv"
    path.write_text("id,age\n1,30\n")
    rows = SharedRows(model, ("1",), np.zeros((1, len(model.schema.attributes)), np.uint8))
    return Offers(lambda: Offer(read_frame(path), (0,), rows, (), ()))


@pytest.mark.parametrize(
    ("mine", "wanted", "probabilities", "field"),
    [
        (small_model(), small_model(), False, None),
        (small_model(), small_model(), True, None),
        (small_bayes(), small_bayes(), False, None),
        (small_bayes(), small_bayes(), True, "probabilities"),
        (small_model(), small_bayes(), False, "model"),
    ],
)
def test_a_prediction_by_another_model_or_of_shares_that_it_lacks_is_objected_to(
    tmp_path: Path, mine: Model, wanted: Model, probabilities: bool, field: str | None
) -> None:
    objection = offers(tmp_path, mine).judge_job(asked(wanted, probabilities=probabilities))
    assert (None if objection is None else objection.field) == field
    assert field != "probabilities" or (objection is not None and objection.reason == NO_SHARES)


def test_who_offers_no_rows_objects_to_a_prediction() -> None:
    objection = Offers().judge_job(asked(small_model()))
    assert objection is not None
    assert (objection.field, objection.reason) == ("rows", "there are no rows to classify here")
