"""A table is disguised once: the same again is the same, and whatever would be a second copy is refused by name."""

import csv
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from party.data import read_frame
from party.errors import ConfigError, DataError, IdentityError
from party.keys.coin_secret import new_key, read_coin_secret
from party.show.mining import copy_lines
from party.show.privacy_short import reading_line
from party.survey import DisguisedTable, disguise_table, load_survey, read_codes, read_design, read_disguised
from party.survey.table import check_origin
from protocols.privacy.attack import disclosure
from protocols.randomized_response.related_question import compared_draw, keyed_draw
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from tests.party.survey.files import HEADER, RELATED, UNRELATED, rows, swap, write_design, write_rows
from tests.support.binomial import lower_tail, upper_tail
from tests.support.examples import at_most

RECORDS = 60


def disguise(
    folder: Path,
    text: str = RELATED,
    lines: list[str] | None = None,
    dataset: str | None = None,
    personal: Path | None = None,
) -> DisguisedTable:
    data = write_rows(folder, rows(RECORDS) if lines is None else lines)
    questionnaire = read_design(write_design(folder, text))
    return disguise_table(data, questionnaire, folder / "coins", dataset, personal)


@pytest.mark.parametrize("text", [RELATED, UNRELATED])
def test_the_copy_is_what_the_design_makes_with_coins_of_secret_data_set_and_ids(tmp_path: Path, text: str) -> None:
    table = disguise(tmp_path, text)
    secret = read_coin_secret(tmp_path / "coins")
    questionnaire = read_design(tmp_path / "design.toml")
    draw = keyed_draw(secret.key, "data", [f"p{i}" for i in range(RECORDS)])
    expected = questionnaire.design.randomize(read_codes(tmp_path / "data.csv", questionnaire), draw)
    table.write(tmp_path / "out.csv")
    assert np.array_equal(read_codes(tmp_path / "out.csv", questionnaire), expected)
    assert table.columns == questionnaire.names
    plain, disguised = questionnaire.names.index("sex"), questionnaire.names.index("age")
    true = read_codes(tmp_path / "data.csv", questionnaire)
    assert np.array_equal(expected[:, plain], true[:, plain])
    assert not np.array_equal(expected[:, disguised], true[:, disguised])


@pytest.mark.parametrize("text", [RELATED, UNRELATED])
def test_what_a_collector_reads_of_the_copy_stands_beside_it(tmp_path: Path, text: str) -> None:
    table = disguise(tmp_path, text)
    secret = read_coin_secret(tmp_path / "coins")
    questionnaire = read_design(tmp_path / "design.toml")
    true = read_codes(tmp_path / "data.csv", questionnaire)
    table.write(tmp_path / "out.csv")
    sent = read_codes(tmp_path / "out.csv", questionnaire)
    draw = compared_draw(secret.key, secret.dataset, RECORDS)
    assert table.read == disclosure(true, sent, questionnaire.design, draw)
    assert table.read is not None
    assert table.read.copy.records == RECORDS
    told = list(copy_lines(table, questionnaire, tmp_path / "out.csv", None))
    assert reading_line(table.read) in told


def test_the_same_again_is_the_same_whatever_the_order(tmp_path: Path) -> None:
    first = disguise(tmp_path)
    secret = (tmp_path / "coins").read_bytes()
    again = disguise(tmp_path, swap(RELATED, '"4/5"', '"0.8"'))
    assert first.cells == again.cells
    assert (tmp_path / "coins").read_bytes() == secret
    first = disguise(tmp_path)
    turned = disguise(tmp_path, lines=rows(RECORDS)[::-1])
    assert [cells[::-1] for cells in turned.cells] == list(first.cells)


def test_two_secrets_give_two_copies(tmp_path: Path) -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert {len(key) for key in keys} == {32}
    first = disguise(tmp_path)
    (tmp_path / "coins").unlink()
    assert disguise(tmp_path).cells != first.cells


def test_the_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    disguise(tmp_path, dataset="visits-2026")
    path = tmp_path / "coins"
    assert path.stat().st_mode & 0o777 == 0o600
    content = json.loads(path.read_text())
    assert set(content) == {"format", "dataset", "key", "released", "check"}
    assert (content["format"], content["dataset"], len(content["key"])) == ("cotally-coins/1", "visits-2026", 64)
    assert repr(read_coin_secret(path)) == "<CoinSecret of 'visits-2026'>"
    with pytest.raises(ConfigError, match=r"is the secret of data set 'visits-2026'"):
        disguise(tmp_path, dataset="visits-2027")


def test_joint_personal_chances_are_refused_after_independent_ones_of_the_same_columns(tmp_path: Path) -> None:
    """Coins would be the same and personal answers others: where the two copies differ, both are personal."""
    disguise(tmp_path, UNRELATED)
    joint = 'joint = ["1/6", "1/6", "1/6", "1/12", "1/12", "1/12", "1/12", "1/12", "1/12"]'
    apart = UNRELATED[: UNRELATED.index("[personal.age]")]
    with pytest.raises(ConfigError, match="with other personal before"):
        disguise(tmp_path, swap(apart, '["age", "drinks"]', f'{{ columns = ["age", "drinks"], {joint} }}'))


def test_supplied_personal_answers_are_taken_by_id_and_are_part_of_what_left(tmp_path: Path) -> None:
    answers = [f"p{i},{30 + i},x,often,yes" for i in reversed(range(RECORDS))]
    personal = write_rows(tmp_path, answers, "personal.csv")
    table = disguise(tmp_path, UNRELATED, personal=personal)
    questionnaire = read_design(tmp_path / "design.toml")
    assert isinstance(questionnaire.design, UnrelatedDesign)
    key = read_coin_secret(tmp_path / "coins").key
    truths = questionnaire.design.truths(keyed_draw(key, "data", [f"p{i}" for i in range(RECORDS)]))
    told = [row.split(",")[4] for row in rows(RECORDS)]
    expected = [true if truth else "yes" for true, truth in zip(told, truths[:, 0], strict=True)]
    assert table.to_dict()["smoker"] == expected
    assert table.to_dict()["sex"] == [row.split(",")[2] for row in rows(RECORDS)]
    with pytest.raises(ConfigError, match="with other answers before"):
        disguise(tmp_path, UNRELATED)
    changed = write_rows(tmp_path, [swap(answers[0], "yes", "no"), *answers[1:]], "personal.csv")
    with pytest.raises(ConfigError, match="with other answers before"):
        disguise(tmp_path, UNRELATED, personal=changed)


def test_a_missing_cell_is_the_declared_value(tmp_path: Path) -> None:
    text = swap(RELATED, '[40, "60"]', '[40, 60]\nmissing = "value"')
    questionnaire = read_design(write_design(tmp_path, text))
    data = write_rows(tmp_path, ["p1,?,f,never,no", "p2,,f,never,no", "p3,60,f,never,no", "p4,<= 40,f,never,no"])
    assert read_codes(data, questionnaire)[:, 1].tolist() == [3, 3, 1, 0]


def test_columns_that_the_design_does_not_name_are_left_out_and_named(tmp_path: Path) -> None:
    data = write_rows(tmp_path, [f"{row},secret" for row in rows(3)], header=f"{HEADER},name")
    table = disguise_table(data, read_design(write_design(tmp_path)), tmp_path / "coins")
    assert table.left_out == ("name",)
    table.write(tmp_path / "out.csv")
    assert not {"secret", "p1"} & {*(tmp_path / "out.csv").read_text().replace("\n", ",").split(",")}
    assert repr(table) == "<DisguisedTable 3 x 4>"


def test_ids_are_kept_where_the_design_says_so(tmp_path: Path) -> None:
    table = disguise(tmp_path, "keep_id = true\n" + RELATED)
    assert table.columns[0] == "id"
    assert table.cells[0] == [f"p{i}" for i in range(RECORDS)]
    assert disguise(tmp_path).cells == table.cells[1:]


def test_a_secret_that_was_edited_gives_no_second_copy_under_the_same_key(tmp_path: Path) -> None:
    disguise(tmp_path)
    content = json.loads((tmp_path / "coins").read_text())
    content["released"]["theta"] = "7/10"
    (tmp_path / "coins").write_text(json.dumps(content))
    for design in (RELATED, swap(RELATED, "4/5", "7/10")):
        with pytest.raises(IdentityError, match="coins is damaged"):
            disguise(tmp_path, design)


def test_ids_come_back_from_the_copy_as_they_were(tmp_path: Path) -> None:
    ids = ["a b", "a  b", '"', ",", " ", "é", "e\u0301", "01", "1"]
    count = len(ids)
    frame = pd.DataFrame(
        {"id": ids, "age": count * [30], "sex": count * ["f"], "drinks": count * ["often"], "smoker": count * ["no"]}
    )
    questionnaire = read_design(write_design(tmp_path, "keep_id = true\n" + RELATED))
    disguise_table(frame, questionnaire, tmp_path / "coins").write(tmp_path / "d.csv")
    assert list(read_frame(tmp_path / "d.csv").cells[0]) == ids


@pytest.mark.parametrize("text", ["a\0b", "a\ud800", 1025 * "a"])
@pytest.mark.parametrize("column", ["id", "drinks"])
def test_a_data_frame_that_no_file_could_hold_is_refused_before_a_secret_is_made(
    tmp_path: Path, column: str, text: str
) -> None:
    columns = {"id": ["p1", "p2"], "age": [1, 2], "sex": ["f", "m"], "drinks": ["often", "never"], "note": ["", "x"]}
    frame = pd.DataFrame({**columns, "smoker": ["yes", "no"]}, dtype=object)
    frame.loc[1, column] = text
    named = frame.set_axis(pd.Index([*list(columns)[:-1], text, "smoker"], dtype=object), axis=1)
    questionnaire = read_design(write_design(tmp_path))
    with pytest.raises(DataError, match=rf"DataFrame, line 2, column '{column}': the cell (holds|has)") as error:
        disguise_table(frame, questionnaire, tmp_path / "coins")
    assert text not in str(error.value)
    with pytest.raises(DataError, match=r"DataFrame: the name of column 5 (holds|has)"):
        disguise_table(named, questionnaire, tmp_path / "coins")
    assert not (tmp_path / "coins").exists()


def test_csv_and_parquet_hold_the_same_and_are_the_same_again(tmp_path: Path) -> None:
    table = disguise(tmp_path)
    for name in ("a.csv", "a.parquet"):
        table.write(tmp_path / name)
        first = (tmp_path / name).read_bytes()
        disguise(tmp_path).write(tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
    frames = [read_frame(tmp_path / name) for name in ("a.csv", "a.parquet")]
    assert list(map(list, frames[0].cells)) == list(map(list, frames[1].cells))
    with (tmp_path / "a.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["sex", "age", "drinks", "smoker"]


def test_coins_follow_the_declared_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """False alarm at most once in 10^6 runs; theta = 3/4 in place of 4/5 is caught with a chance of over 0.99."""
    monkeypatch.setattr("party.keys.coin_secret.new_key", new_key)
    records, truth = 4000, Fraction(4, 5)
    table = disguise(tmp_path, lines=[f"p{i},30,f,never,no" for i in range(records)])
    told = table.to_dict()["smoker"].count("no")
    assert min(lower_tail(records, truth, told), upper_tail(records, truth, told)) > 1e-6 / 2
    caught = next(n for n in range(records) if lower_tail(records, truth, n) > 1e-6 / 2)
    assert lower_tail(records, Fraction(3, 4), caught - 1) > 0.99


def test_the_same_rows_in_a_file_or_frame_are_the_same(tmp_path: Path) -> None:
    design, data = read_design(write_design(tmp_path)), write_rows(tmp_path, rows(30))
    expected = read_codes(data, design)
    assert expected.shape == (30, 4)
    assert np.array_equal(read_codes(str(data), design), expected)
    assert np.array_equal(read_codes(read_frame(data), design), expected)
    assert np.array_equal(read_codes(pd.read_csv(data), design), expected)
    design, data = read_design(write_design(tmp_path)), write_rows(tmp_path, rows(30))
    from_file = disguise_table(data, design, tmp_path / "coins")
    again = disguise_table(pd.read_csv(data), design, tmp_path / "coins")
    assert from_file.cells == again.cells
    survey = load_survey(pd.DataFrame(again.to_dict()), design)
    assert (len(survey), survey.schema.class_attribute.name) == (30, "smoker")
    assert [attribute.name for attribute in survey.schema.attributes] == ["sex", "age", "drinks"]
    assert survey.design == design.design
    for missing in (None, float("nan"), pd.NA, ""):
        questionnaire = read_design(write_design(tmp_path))
        frame = pd.DataFrame(
            {"age": [30, 70], "sex": ["f", "m"], "drinks": ["often", missing], "smoker": ["yes", "no"]}
        )
        with pytest.raises(DataError, match=r"DataFrame, line 2, column 'drinks': the cell is missing"):
            read_codes(frame, questionnaire)


def test_a_data_frame_that_is_no_table_is_refused(tmp_path: Path) -> None:
    questionnaire = read_design(write_design(tmp_path))
    with pytest.raises(DataError, match="there are no records"):
        read_codes(pd.DataFrame({"age": []}), questionnaire)
    with pytest.raises(DataError, match="there are no records"):
        read_codes(pd.DataFrame(), questionnaire)
    with pytest.raises(DataError, match="two columns have one name"):
        read_codes(pd.DataFrame([[1, 2]], columns=["age", "age"]), questionnaire)
    with pytest.raises(DataError, match="column 'sex': the file has no such column"):
        read_codes(pd.DataFrame({"age": [1]}), questionnaire)


def test_data_frames_of_any_library_give_the_same_codes_and_other_things_are_refused(tmp_path: Path) -> None:
    design, data = read_design(write_design(tmp_path)), write_rows(tmp_path, rows(30))
    frame = pd.read_csv(data)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    expected = read_codes(data, design)
    for other in (arrow, pytest.importorskip("polars").from_arrow(arrow)):
        assert np.array_equal(read_codes(other, design), expected)
    none: Any
    for none in ({"age": [1]}, np.zeros((2, 2)), 3):
        with pytest.raises(DataError, match="this is no table that is read: give a data frame of pandas, polars or"):
            read_codes(none, design)


def test_without_narwhals_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(DataError, match=r"reading a data frame needs narwhals: pip install '\.\[pandas\]'"):
        read_codes(pd.DataFrame({"age": [1]}), read_design(write_design(tmp_path)))


def test_a_column_of_lists_or_no_attribute_is_refused(tmp_path: Path) -> None:
    design, data = read_design(write_design(tmp_path)), write_rows(tmp_path, rows(30))
    frame = pa.Table.from_pandas(pd.read_csv(data), preserve_index=False)
    many = frame.append_column("many", pa.array([[1, 2]] * 30))
    assert np.array_equal(read_codes(many, design), read_codes(data, design))
    with pytest.raises(DataError, match="column 'drinks': it holds lists or structures"):
        read_codes(many.drop_columns("drinks").rename_columns({"many": "drinks"}), design)
    data = write_rows(tmp_path, rows(5))
    without_class = read_design(write_design(tmp_path, swap(RELATED, 'class = "smoker"\n', "")))
    with pytest.raises(ConfigError, match="names no class, so there is nothing to predict"):
        load_survey(data, without_class)
    alone = 'theta = "4/5"\nclass = "smoker"\n[columns.smoker]\nvalues = ["yes", "no"]\n[groups]\na = ["smoker"]\n'
    with pytest.raises(ConfigError, match="there is none beside the class"):
        load_survey(data, read_design(write_design(tmp_path, alone)))
    design = read_design(write_design(tmp_path, swap(RELATED, 'missing = "refuse"', 'missing = "value"')))
    missing = {column.name: column.missing.value for column in design.schema().attributes}
    assert {name for name, value in missing.items() if value == "missing"} == {"drinks"}
    assert {value for name, value in missing.items() if name != "drinks"} == {None}


TABLE_RECORDS = 3_000


@pytest.mark.parametrize("theta", ["1/20", "19/20"])
def test_a_copy_of_quite_another_theta_is_refused(tmp_path: Path, theta: str) -> None:
    """At theta 1/20 nearly all smokers and nobody else say no: by the design's 4/5 fewer than none would smoke."""
    made = read_design(write_design(tmp_path, swap(RELATED, 'theta = "4/5"', f'theta = "{theta}"'), "made.toml"))
    believed = read_design(write_design(tmp_path))
    codes = np.zeros((TABLE_RECORDS, len(made.names)), dtype=np.uint8)
    sent = made.design.randomize(codes, bulk_draw(np.random.default_rng(1), TABLE_RECORDS))
    check_origin(sent, made)
    with pytest.raises(
        DataError,
        match="cannot produce: check that the table is the disguised one and the design the one used to make it",
    ):
        check_origin(sent, believed)
    each = zip(made.names, made.values, sent.T.tolist(), strict=True)
    cells = {name: [values[code] for code in codes] for name, values, codes in each}
    with pytest.raises(DataError, match="cannot produce"):
        read_disguised(pd.DataFrame(cells), believed)


def test_a_table_of_plain_or_disguised_numbers_is_read(tmp_path: Path) -> None:
    questionnaire = read_design(write_design(tmp_path))
    data = write_rows(tmp_path, rows(30))
    with pytest.raises(DataError, match="plain numbers, and disguised answers are bins: is this the true table"):
        load_survey(data, questionnaire)
    questionnaire = read_design(write_design(tmp_path))
    data = write_rows(tmp_path, rows(TABLE_RECORDS))
    disguise_table(data, questionnaire, tmp_path / "secret").write(tmp_path / "d.csv")
    assert len(read_disguised(tmp_path / "d.csv", questionnaire)) == TABLE_RECORDS
    # Copies of few and of equal records, 500 of them under --all: a false alarm would come once in 10^9 values.
    for text in (RELATED, UNRELATED):
        questionnaire = read_design(write_design(tmp_path, text))
        generator = np.random.default_rng(2)
        for records in (1, 2, 5, 30, 1_000):
            for _ in range(at_most(100)):
                codes = np.tile(generator.integers(0, questionnaire.design.sizes), (records, 1)).astype(np.uint8)
                check_origin(questionnaire.design.randomize(codes, bulk_draw(generator, records)), questionnaire)
