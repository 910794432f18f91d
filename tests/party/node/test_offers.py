"""What a party objects to in a prediction that it is asked to take part in, by the rows that it offers."""

from pathlib import Path

import numpy as np
import pytest

from party.data import read_frame
from party.errors import ConfigError
from party.models.any_file import write_model
from party.node.aligning import Offer, Offers, load_offer, offer_of_settings
from party.settings.party import PartyConfig, read_party_config
from protocols.jobs import Predict, PredictionTerms, Receiver
from protocols.learning.naive_bayes import Model
from protocols.two_party.prediction import SharedRows
from protocols.two_party.ways import NO_SHARES
from tests.party.models.test_bayes_file import small_bayes
from tests.support.models import small_model


def asked(model: Model, *, probabilities: bool = False) -> Predict:
    return Predict(PredictionTerms(model.digest(), next(iter(Receiver)), probabilities))


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
    assert (objection.field, objection.reason) == ("rows", "there are no rows to classify here: name a file with some")


def config(folder: Path, name: str, data: str = "") -> PartyConfig:
    path = folder / "party.toml"
    path.write_text(f'name = "{name}"\n[data]\nfile = "rows.csv"\nid = "id"\n{data}[node]\npeer = "bob"\n')
    return read_party_config(path)


def test_settings_that_name_no_rows_offer_none_and_say_where_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"party\.toml: \[predict\] rows: names no file"):
        offer_of_settings(config(tmp_path, "alice"))


def test_rows_are_read_by_the_markers_that_the_model_was_trained_with_whatever_the_settings_say_now(
    tmp_path: Path,
) -> None:
    model = tmp_path / "model.json"
    write_model(model, small_model())
    (tmp_path / "rows.csv").write_text("id,alice.age,city\n1,<= 40,n/a\n2,<= 40,Oslo\n3,-,Oslo\n")
    for data in ("", 'missing = ["Oslo"]\n'):
        codes = load_offer(config(tmp_path, "alice", data), model, tmp_path / "rows.csv").shared.codes
        assert codes[:, :2].tolist() == [[0, 2], [0, 1], [2, 1]]


def test_a_model_that_reads_columns_of_a_third_party_is_named_before_the_rows_are_read(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    write_model(model, small_model())
    (tmp_path / "rows.csv").write_text("id,alice.age,city\n1,<= 40,Oslo\n")
    assert load_offer(config(tmp_path, "alice"), model, tmp_path / "rows.csv").shared.people == ("1",)
    with pytest.raises(ConfigError, match=r"model\.json: the model reads columns of others than carol and bob: bring"):
        load_offer(config(tmp_path, "carol"), model, tmp_path / "rows.csv")
