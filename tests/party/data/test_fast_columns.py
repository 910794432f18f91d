"""Whatever is in a column, it is read, binned, refused and remarked upon as the reader of texts and decimals says.

The fast ways are pyarrow's split of the lines, doubles by columns, and numbers that Parquet holds as such.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from party.data import ColumnTreatment, DataShare, Form, csv_file, read_frame, read_share
from party.data.arrow_cells import ArrowCells
from party.data.cells import Cells, NumberCells, TextCells
from party.data.looks import Looks
from party.errors import DataError
from tests.support.examples import at_most

PLAIN = st.from_regex(r"-?(0|[1-9][0-9]{0,8})(\.[0-9]{0,5})?", fullmatch=True)
FEW = st.sampled_from(["0", "1", "1.0", "1.00", "2", "-0", "0.0", "2.5", "2.50", ".5", "-.5", "5.", "10", ""])
EDGE = ["9007199254740993", "9007199254740992", "0.30000000000000001", "0.3", "123456789012345", "1234567890123456"]
ODD = st.sampled_from([*EDGE, "007", "-07", "1e3", "1E-5", "+1", " 1", "1 ", "NA", "?", "-", "nan", "inf", "x", "1,5"])
COLUMNS = st.one_of(
    st.lists(st.one_of(PLAIN, FEW), min_size=1, max_size=40),
    st.lists(FEW, min_size=1, max_size=40),
    st.lists(st.one_of(PLAIN, FEW, ODD), min_size=1, max_size=30),
    st.integers(0, 10**8).flatmap(lambda first: st.integers(1, 30).map(lambda n: [str(first + i) for i in range(n)])),
)
TREATMENTS = st.builds(
    ColumnTreatment,
    bins=st.sampled_from(
        [
            *(None, "median-of-range", "quantiles:3", "quantiles:4", "year", (date(2024, 1, 1),)),
            *((Decimal("0.3"), Decimal("1.0"), Decimal("2.5")), (Decimal(2**53),), (Decimal("-0.0"),)),
        ]
    ),
    max_values=st.sampled_from([None, 2, 4]),
    missing=st.sampled_from(["value", "majority", "refuse", "1", "9"]),
    smallest_value=st.sampled_from([1, 3]),
)
FORMS = st.sampled_from([Form(separator=","), Form(separator=",", missing=("-0", "2", "1e3", "9", "NA"))])
slow_io = settings(
    max_examples=at_most(300), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def contents(share: DataShare) -> tuple[Any, ...]:
    return (share.ids, share.attributes, share.table.codes.tolist(), share.notices)


def outcome(read: Callable[[], DataShare]) -> tuple[Any, ...] | str:
    try:
        return contents(read())
    except DataError as error:
        return str(error)


def carefully(monkeypatch: pytest.MonkeyPatch, read: Callable[[], DataShare]) -> tuple[Any, ...] | str:
    """Read without pyarrow's split of the lines and without doubles."""
    with monkeypatch.context() as patched:
        patched.setattr(csv_file, "read_plain", lambda *_: None)
        for kind in (TextCells, ArrowCells):
            patched.setattr(kind, "numbers", None)
        return outcome(read)


@slow_io
@given(COLUMNS, TREATMENTS, st.booleans(), FORMS)
@example(["1.50", "1.5", "-0", "0"] * 3, ColumnTreatment(max_values=2), False, Form(separator=","))
def test_a_csv_column_becomes_what_the_careful_reader_makes_of_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    column: list[str],
    treatment: ColumnTreatment,
    listed: bool,
    form: Form,
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,v\n" + "".join(f"p{i},{cell}\n" for i, cell in enumerate(column)))

    def read() -> DataShare:
        return read_share(path, "a", "id", None, {"v" if listed else "*": treatment}, form=form)

    assert outcome(read) == carefully(monkeypatch, read)


DOUBLES = st.lists(
    st.one_of(
        st.none(),
        st.floats(allow_nan=True),
        st.floats(-1e6, 1e6),
        st.sampled_from([0.0, -0.0, 1.0, 2.5, 0.3, 0.1 + 0.2, 2.0**53, 1e15, 1e-15, 1e-16, 1e40, 1e100]),
    ),
    min_size=1,
    max_size=30,
)
WHOLE = st.lists(st.one_of(st.none(), st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=30)


@slow_io
@given(st.one_of(DOUBLES, WHOLE), TREATMENTS, st.booleans(), FORMS)
def test_a_parquet_column_becomes_what_its_texts_become(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    column: list[float | None] | list[int | None],
    treatment: ColumnTreatment,
    listed: bool,
    form: Form,
) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"id": [f"p{i}" for i in range(len(column))], "v": column}), path)

    def read() -> DataShare:
        return read_share(path, "a", "id", None, {"v" if listed else "*": treatment}, form=form)

    assert outcome(read) == carefully(monkeypatch, read)


def test_plain_numbers_of_either_file_are_never_made_texts(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    numbers = rng.normal(50, 20, 300).round(3)
    path = tmp_path / "t.csv"
    path.write_text("id,v\n" + "".join(f"p{i},{number}\n" for i, number in enumerate(numbers)))
    parquet = path.with_suffix(".parquet")
    pq.write_table(pa.table({"id": [f"p{i}" for i in range(300)], "v": numbers}), parquet)
    for each in (path, parquet):
        column = read_frame(each).column("v")
        assert isinstance(column.cells, NumberCells)
        assert Looks(column).kind == "numbers"
        assert not Looks(column).names_by_digits
        assert "texts" not in vars(column.cells)
    assert contents(read_share(path, "a", "id")) == contents(read_share(parquet, "a", "id"))


@pytest.mark.parametrize("chunks", [1, 2, 7])
def test_the_chunks_of_a_column_make_no_difference(chunks: int) -> None:
    texts = ["5", "", "-1.5", "0.25", "5.0", "7", ""]
    size = -(-len(texts) // chunks)
    whole = pa.array(["x", *texts, "y"]).slice(1, len(texts))  # its buffers hold more than it does
    cells = ArrowCells(pa.chunked_array([whole.slice(at, size) for at in range(0, len(texts), size)]))
    assert cells.numbers is not None
    assert list(cells.numbers) == ["5", None, "-1.5", "0.25", "5", "7", None]
    assert cells == [text or None for text in texts]
    assert cells.numbers.only(np.array([6, 0])) == [None, "5"]


@pytest.mark.parametrize("texts", [["1", "x"], ["1"] * 2000 + ["x"], ["1", "1-2"], ["01"], ["", ""], []])
def test_a_column_that_is_not_all_plain_numbers_stays_text(texts: list[str]) -> None:
    column = pa.chunked_array([pa.array(texts, pa.string())])
    assert ArrowCells(column).numbers is None
    assert Cells.of(texts).numbers is None
    assert list(ArrowCells(column)) == [text or None for text in texts]


@pytest.mark.parametrize("stray", ["", "x\n"])
@pytest.mark.parametrize("marker", ["-9", "-9.0", " -9.00", "-9.0e0"])
def test_a_marker_that_is_a_number_is_one_however_it_is_written(tmp_path: Path, stray: str, marker: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("v\n-9\n-9.0\n3\n" + stray)
    form = replace(Form(), missing=(marker, "NA"))
    column = read_frame(path, form).column("v")
    assert (list(column.cells)[:3], column.taken) == ([None, None, "3"], (marker,))
    assert list(read_frame(path, form).column("v", keep=["-9.000"]).cells)[:3] == ["-9", "-9", "3"]
