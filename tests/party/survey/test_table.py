import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from party.data import read_frame
from party.errors import ConfigError, DataError
from party.survey import disguise_table, load_survey, read_codes, read_design, read_disguised
from party.survey.signal import check_origin
from protocols.simulation.two_party import bulk_draw
from tests.party.survey.files import RELATED, UNRELATED, rows, swap, write_design, write_rows


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


RECORDS = 3_000


@pytest.mark.parametrize("theta", ["1/20", "19/20"])
def test_a_copy_of_quite_another_theta_is_refused(tmp_path: Path, theta: str) -> None:
    """At theta 1/20 nearly all smokers and nobody else say no: by the design's 4/5 fewer than none would smoke."""
    made = read_design(write_design(tmp_path, swap(RELATED, 'theta = "4/5"', f'theta = "{theta}"'), "made.toml"))
    believed = read_design(write_design(tmp_path))
    codes = np.zeros((RECORDS, len(made.names)), dtype=np.uint8)
    sent = made.design.randomize(codes, bulk_draw(np.random.default_rng(1), RECORDS))
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
    data = write_rows(tmp_path, rows(RECORDS))
    disguise_table(data, questionnaire, tmp_path / "secret").write(tmp_path / "d.csv")
    assert len(read_disguised(tmp_path / "d.csv", questionnaire)) == RECORDS
    # 500 copies of few and of equal records: a false alarm would come once in 10^9 values.
    for text in (RELATED, UNRELATED):
        questionnaire = read_design(write_design(tmp_path, text))
        generator = np.random.default_rng(2)
        for records in (1, 2, 5, 30, 1_000):
            for _ in range(100):
                codes = np.tile(generator.integers(0, questionnaire.design.sizes), (records, 1)).astype(np.uint8)
                check_origin(questionnaire.design.randomize(codes, bulk_draw(generator, records)), questionnaire)
