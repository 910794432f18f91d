"""What a party's own files are refused for when they are made into what it brings or offers to a session."""

from pathlib import Path

import numpy as np
import pytest

from party.data import read_frame
from party.errors import ConfigError, IdentityError
from party.models.any_file import write_model
from party.node.aligning import Offer, Offers, load_offer, offer_of_settings
from party.node.creation import create_party
from party.node.inputs import load_inputs, pinned_peer
from party.settings.party import PartyConfig, read_party_config
from protocols.jobs import Predict, PredictionTerms, Receiver
from protocols.learning.naive_bayes import Model
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.prediction import SharedRows
from protocols.two_party.ways import NO_SHARES
from tests.party.models.test_bayes_file import small_bayes
from tests.support.models import small_model

BITS = 512
SETTINGS = 'name = "alice"\n[data]\nfile = "t.csv"\nid = "id"\n[agree]\nsmallest_key_bits = 512\n'
ROWS = "id,age,sex\n" + "".join(f"p{row},{20 + row % 2},{'fm'[row % 2]}\n" for row in range(40))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made") / "alice"
    create_party(made, "alice", ["localhost"], BITS, {"party.toml": SETTINGS}, floor_bits=BITS)
    (made / "t.csv").write_text(ROWS)
    return made


def load(folder: Path, disguise: str, settings: str = SETTINGS) -> PartyInputs:
    (folder / "party.toml").write_text(f"{settings}{disguise}")
    return load_inputs(read_party_config(folder / "party.toml", BITS), BITS)


def test_each_column_has_a_coin_of_its_own_unless_groups_are_named(folder: Path) -> None:
    assert load(folder, "").groups == ((0,), (1,))
    assert load(folder, '[disguise]\nplain = ["age"]\n').groups == ((1,),)
    assert load(folder, "[disguise]\ngroups = 1\n").groups == ((0, 1),)


def test_groups_that_name_every_column_once_are_taken_as_they_are(folder: Path) -> None:
    assert load(folder, '[disguise]\ngroups = [["sex"], ["age"]]\n').groups == ((1,), (0,))
    assert load(folder, '[disguise]\ngroups = [["sex"]]\nplain = ["age"]\n').groups == ((1,),)


@pytest.mark.parametrize(
    "disguise",
    ['groups = [["agee", "sex"], ["age"]]', 'groups = [["age", "sex"]]\nplain = ["agee"]', 'plain = ["agee"]'],
)
def test_a_disguise_of_a_column_that_the_data_lack_is_refused(folder: Path, disguise: str) -> None:
    with pytest.raises(ConfigError, match=r"lists column 'agee', but t\.csv has no such attribute; did you mean"):
        load(folder, f"[disguise]\n{disguise}\n")


def test_a_column_in_no_group_is_refused_and_not_left_undisguised(folder: Path) -> None:
    with pytest.raises(ConfigError, match="disguise puts the column 'age' in no group; list it, or as plain"):
        load(folder, '[disguise]\ngroups = [["sex"]]\n')


def test_a_file_of_data_that_is_not_there_is_named_with_the_setting_that_names_it(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"party\.toml: \[data\] file: .*gone\.csv does not exist"):
        load(folder, "", SETTINGS.replace("t.csv", "gone.csv"))


def test_keys_are_made_as_agreed_and_never_over_others(tmp_path: Path) -> None:
    for bits in (2047, 16385):
        with pytest.raises(IdentityError, match="the key must have 2048 to 16384 bits"):
            create_party(tmp_path / "alice", "alice", ["localhost"], bits, {}, floor_bits=2048)
        assert not (tmp_path / "alice").exists()
    (tmp_path / "party.toml").write_text("mine")
    with pytest.raises(IdentityError, match=r"party\.toml exists and is kept"):
        create_party(tmp_path, "alice", ["localhost"], 2048, {"party.toml": ""}, floor_bits=2048)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("party.toml", "mine")]
    path = tmp_path / "party.toml"
    path.write_text('name = "alice"\n[data]\nfile = "t.csv"\nid = "id"\n[node]\npeer = "bob"\n')
    with pytest.raises(ConfigError, match="the certificate of bob is not trusted yet"):
        pinned_peer(read_party_config(path))


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
