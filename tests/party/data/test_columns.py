"""Whatever is in a column, it is read, binned, refused and remarked upon as the reader of texts and decimals says.

The fast ways are pyarrow's split of the lines, doubles by columns, and numbers that Parquet holds as such.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from party.data import (
    Column,
    ColumnTreatment,
    DataShare,
    Form,
    TreatedColumn,
    csv_file,
    label_of,
    numbers,
    read_frame,
    read_share,
    treat,
)
from party.data.arrow_cells import ArrowCells
from party.data.bins import MAX_NUMBER, bin_label_of, bin_labels, bin_of, edges_of, is_bin_label, number
from party.data.cells import Cells, NumberCells, TextCells
from party.data.looks import Looks
from party.data.notices import About
from party.data.numbers import DIGITS_OF_A_DOUBLE, Doubles, SortedNumbers, decimal_text, doubles, sorted_numbers
from party.data.texts import plain_text
from party.errors import ConfigError, DataError
from tests.support.examples import at_most

CANARY = "canary-7731"


def column(cells: Sequence[str | None]) -> Column:
    texts = [None if text == "?" else text for text in cells]
    return Column("size", Cells.of(texts), Path("table.csv"), range(2, len(cells) + 2))


def treated(cells: Sequence[str | None], **treatment: Any) -> TreatedColumn:
    return treat(column(cells), ColumnTreatment(**{"smallest_value": 1} | treatment))


def labels(result: TreatedColumn) -> list[str]:
    return [result.values[code] for code in result.codes]


def classes_of(cells: Sequence[str | None]) -> NDArray[np.uint8]:
    """Return two classes, of which most long texts have one."""
    often = np.array([len(cell or "") > 1 for cell in cells])
    return (np.random.default_rng(len(cells)).random(len(cells)) < np.where(often, 0.9, 0.2)).astype(np.uint8)


def refused(cells: Sequence[str | None], line: int | None = None, **treatment: Any) -> str:
    with pytest.raises(DataError) as caught:
        treated(cells, **treatment)
    assert (caught.value.line, caught.value.column) == (line, "size")
    assert CANARY not in str(caught.value)
    assert str(caught.value).startswith("table.csv")
    return str(caught.value)


# SortedNumbers and bins


def test_what_is_not_a_plain_number_is_no_number() -> None:
    for text in [
        "", "nan", "inf", "-Infinity", " 1", "1 ", "1_0", "1,5", "0x1", "٣", "1e100", "1e", ".", "--1",
        "9" * (MAX_NUMBER + 1),
    ]:  # fmt: skip
        assert number(text) is None


def test_numbers_are_plain_and_cut_between_the_extremes() -> None:
    for text in ("0", "-1", "+1.50", ".5", "5.", "1e3", "1E-99", "9" * MAX_NUMBER):
        assert number(text) == Decimal(text)
    low, high = Decimal("1." + "1" * 34 + "e-99"), Decimal("9" * 37 + "e99")
    (edge,) = edges_of("median-of-range", SortedNumbers.of(Counter([low, high])))
    assert Fraction(edge) == (Fraction(low) + Fraction(high)) / 2
    assert bin_label_of(bin_labels([edge]), "1e99") == bin_labels([edge])[0]
    result = treated(["20", "20.0", "20.01", "35.5", "35.51", "-3"], bins=(Decimal(20), Decimal("35.50")))
    assert result.values == ("<= 20", "(20, 35.5]", "> 35.5")
    assert labels(result) == ["<= 20", "<= 20", "(20, 35.5]", "(20, 35.5]", "> 35.5", "<= 20"]
    assert labels(treated(["17", "90", "53", "53.5", "54"], bins="median-of-range")) == [
        "<= 53.5", "> 53.5", "<= 53.5", "<= 53.5", "> 53.5",
    ]  # fmt: skip
    assert labels(treated(["0.30000000000000000001", "0.3"], bins=(Decimal("0.3"),))) == ["> 0.3", "<= 0.3"]


def test_edges_are_neither_repeated_nor_the_largest_number() -> None:
    for cells, bins, values in [
        (["1", "1", "1", "1", "2"], "quantiles:4", ("<= 1", "> 1")),
        (["1", "2", "2", "2"], "quantiles:4", ("<= 1", "> 1")),
        (["7", "7.0"], "quantiles:3", ("<= 7", "> 7")),
        (["7", "7.0"], "median-of-range", ("<= 7", "> 7")),
        (["1", "2"], "quantiles:256", ("<= 1", "> 1")),
        (["1", "2", "3", "4"], "quantiles:2", ("<= 2", "> 2")),
        (["1", "2", "3"], "quantiles:2", ("<= 2", "> 2")),
        (["1000", "-0.50"], (Decimal("-0.0"), Decimal("1e2")), ("<= 0", "(0, 100]", "> 100")),
    ]:
        assert treated(cells, bins=bins).values == values


NUMBERS = st.decimals(-50, 50, places=2)


@given(st.lists(NUMBERS, min_size=1, max_size=6, unique=True).map(sorted), NUMBERS)
def test_a_bins_label_can_be_read_back(edges: list[Decimal], value: Decimal) -> None:
    bins = bin_labels(edges)
    assert bin_label_of(bins, str(value)) == bins[bin_of(edges, value)]
    assert all(map(is_bin_label, bins))


def test_bins_are_values_and_quantiles_hold_equal_shares_where_values_allow() -> None:
    result = treated([str(n) for n in range(12)], bins="quantiles:4")
    assert result.values == ("<= 2", "(2, 5]", "(5, 8]", "> 8")
    assert Counter(labels(result)) == dict.fromkeys(result.values, 3)
    result = treated(["5", "?"], bins=(Decimal(1), Decimal(2)))
    assert result.values == ("<= 1", "(1, 2]", "> 2", "missing")
    assert treated(["?"], bins=(Decimal(1),)).values == ("<= 1", "> 1", "missing")
    assert not any(map(is_bin_label, ["< 5", "<=5", "<= x", "(1, 2)", "5", "other", "<= 5 ", "<= 5\n", "<= 1e5"]))


def test_bins_rise_and_so_do_texts_in_the_order_that_is_declared_and_all_else_is_outside() -> None:
    assert treated(["5", "?"], bins=(Decimal(1), Decimal(2))).ordered == 3
    assert treated(["?", "5"], bins=(Decimal(1),), missing="unknown").ordered == 2
    cells = ["low", "high", "mid", "?", "odd", "odd"]
    result = treated(cells, order=("low", "mid", "high", "top"))
    assert (result.values, result.ordered) == (("low", "mid", "high", "odd", "missing"), 3)
    merged = treated([*cells, "low", "mid"], order=("low", "mid", "high"), max_values=4)
    assert (merged.values, merged.ordered) == (("low", "mid", "odd", "other"), 2)
    assert treated(cells).ordered == treated(["low", "?"], order=("low", "high")).ordered == 0
    for wrong in ({"order": ("low",)}, {"order": ("low", "low")}, {"order": ("1", "2"), "bins": (Decimal(1),)}):
        with pytest.raises(ConfigError, match="order must list two different values or more"):
            ColumnTreatment(**wrong)


# The whole treatment


def test_a_missing_cell_is_a_value_or_filled_in_or_refused() -> None:
    result = treated(["z", "?", None, "a"])
    assert labels(result) == ["z", "missing", "missing", "a"]
    assert result.values == ("a", "z", "missing")
    assert result.missing_label == "missing"
    assert labels(treated(["b", "a", "?", "b", "a"], missing="majority")) == ["b", "a", "a", "b", "a"]
    assert labels(treated(["b", "a", "?", "b"], missing="majority")) == ["b", "a", "b", "b"]
    assert labels(treated(["1", "8", "9", "?"], missing="majority", bins=(Decimal(5),)))[3] == "> 5"
    assert treated(["a", "a"], missing="majority").missing_label == "a"
    assert "all cells are missing" in refused(["?", None], missing="majority")
    assert "all cells are missing" in refused(["?", None], missing="majority", bins=(Decimal(1),))
    cure = 'leave these records out, or say under [columns] what a missing cell is, such as missing = "value"'
    assert f"2 cells are missing, the first one here: {cure}" in refused([CANARY, "?", None], line=3, missing="refuse")
    assert f"the cell is missing: {cure}" in refused([CANARY, "x", "?"], line=4, missing="refuse")
    assert treated(["a"], missing="refuse").values == ("a",)
    assert treated(["b", "?", "a"], missing="a").values == ("a", "b")
    assert labels(treated(["b", "?", "a"], missing="a")) == ["b", "a", "a"]
    assert treated(["b", "?", "a"], missing="?").values == ("a", "b", "?")
    assert treated(["b", "a"], missing="Z").values == ("a", "b")
    assert treated(["b", "a"], missing="Z").missing_label is None
    assert treated(["b", "a"], missing="a").missing_label == "a"
    assert labels(treated(["1", "?", "9"], missing="3", bins=(Decimal(5),))) == ["<= 5", "<= 5", "> 5"]
    assert labels(treated(["1", "?"], missing="> 5", bins=(Decimal(5),))) == ["<= 5", "> 5"]
    result = treated(["1", "?"], missing="unknown", bins=(Decimal(5),))
    assert result.values == ("<= 5", "> 5", "unknown")
    assert "reads as a bin" in refused(["1", "?"], missing="<= 7", bins=(Decimal(5),))


def test_a_binned_column_holds_numbers_and_needs_them() -> None:
    for text in ("nan", "inf", CANARY, "1 "):
        assert "not a plain number" in refused(["1", "?", text, "2"], line=4, bins="median-of-range")
    for bins in ("median-of-range", "quantiles:2"):
        assert "all cells are missing" in refused(["?", None], bins=bins)


def test_rare_values_are_merged_so_that_as_many_remain_as_asked_for() -> None:
    result = treated(["a", "a", "a", "b", "b", "c", "?"], max_values=3)
    assert result.values == ("a", "b", "other")
    assert labels(result) == ["a", "a", "a", "b", "b", "other", "other"]
    assert result.missing_label == "other"
    assert treated(["a", "b", "c"], max_values=3).values == ("a", "b", "c")
    assert treated(["a", "?", "?", "b"], max_values=2).values == ("other", "missing")
    for cells in (["c", "b", "a"], ["a", "b", "c"]):
        assert treated(cells, max_values=2).values == ("a", "other")
    result = treated(["a", "b", "b", "c", "?", "?"], max_values=2, missing="a")
    assert result.values == ("a", "other")
    assert result.missing_label == "a"
    assert treated(["a", "a", "b", "b", "?"], max_values=2, missing="z").missing_label == "other"
    assert treated(["a", "b", "?", "?"], max_values=2, missing="z").values == ("z", "other")
    cells = ["1", "2", "3", "3", "9", "9", "9"]
    edges = (Decimal(1), Decimal(2), Decimal(5))
    assert treated(cells, max_values=3, bins=edges).values == ("<= 2", "(2, 5]", "> 5")
    result = treated(cells, max_values=2, bins=edges)
    assert (result.values, labels(result)) == (("<= 5", "> 5"), ["<= 5"] * 4 + ["> 5"] * 3)
    assert treated([*cells, "?"], max_values=3, bins=edges).values == ("<= 5", "> 5", "missing")
    assert treated([*cells, "?"], max_values=2, bins=edges).values == ("<= 5", "other")
    result = treated(["a", "a", "other", "b"], max_values=2)
    assert (result.values, labels(result)) == (("a", "other"), ["a", "a", "other", "other"])
    assert treated(["a", "a", "other", "other", "other", "b"], max_values=2).values == ("a", "other")
    assert treated(["zebra", "missing", "other", "<= 5"]).values == ("<= 5", "missing", "other", "zebra")
    assert treated(["missing", "?"], missing="majority").values == ("missing",)
    assert "'missing'" in refused([CANARY, "missing", "?"])
    assert "label of a bin" in refused(["<= 5", "<= 5", "4", CANARY], max_values=2)
    assert "or a group" in refused(["{4 | 5}", "{4 | 5}", "4", CANARY], max_values=2)


def test_values_keep_their_text_and_are_at_most_256() -> None:
    result = treated(["b", " a", "B", "10", "9", "b"])
    assert result.values == (" a", "10", "9", "B", "b")
    assert labels(result) == ["b", " a", "B", "10", "9", "b"]
    assert result.missing_label is None
    assert treated(["10", "9", "1.0", "?", "-2", "1"]).values == ("-2", "1", "1.0", "9", "10", "missing")
    assert len(treated([f"{n}" for n in range(256)]).values) == 256
    text = refused([f"{n}" for n in range(256)] + ["?"])
    assert "257 values" in text
    assert "max_values" in text
    result = treated([f"{n}" for n in range(256)])
    assert result.codes.dtype == "uint8"
    assert labels(result) == [f"{n}" for n in range(256)]
    assert repr(treated([CANARY, "b"])) == "<TreatedColumn 2 x 2>"


# The treatment's own limits


def test_a_treatment_at_its_limits_is_accepted_and_beyond_them_refused() -> None:
    for setting, words in (
        ({"bins": "median"}, "median-of-range"),
        ({"bins": "quantiles:1"}, "2 to 256"),
        ({"bins": "quantiles:257"}, "2 to 256"),
        ({"bins": "quantiles:+4"}, "2 to 256"),
        ({"bins": "quantiles:٣"}, "2 to 256"),
        ({"bins": ()}, "1 to 255 edges"),
        ({"bins": tuple(map(Decimal, range(256)))}, "1 to 255 edges"),
        ({"bins": (Decimal("nan"),)}, "decimal numbers"),
        ({"bins": (Decimal("inf"),)}, "decimal numbers"),
        ({"bins": (Decimal("1e100"),)}, "decimal numbers"),
        ({"bins": (0.1,)}, "decimal numbers"),
        ({"bins": (date(2024, 1, 1), Decimal(2))}, "all be numbers, or all dates"),
        ({"bins": (date(2024, 1, 2), date(2024, 1, 1))}, "must rise"),
        ({"bins": (Decimal(2), Decimal(1))}, "must rise"),
        ({"bins": (Decimal(1), Decimal("1.0"))}, "must rise"),
        ({"max_values": 1}, "2 to 256"),
        ({"max_values": 257}, "2 to 256"),
        ({"missing": ""}, "fill in"),
        ({"smallest_value": 0}, "1 to 1000000"),
        ({"smallest_value": 1_000_001}, "1 to 1000000"),
    ):
        with pytest.raises(ConfigError, match=words):
            ColumnTreatment(**setting)
    assert ColumnTreatment("quantiles:2", 2) != ColumnTreatment("quantiles:256", 256)
    assert ColumnTreatment(tuple(map(Decimal, range(255))))


# Reading a raw cell at prediction


def test_a_raw_cell_is_found_among_the_values() -> None:
    for values, text, label in [
        (("a", "b"), "b", "b"), (("a", "b"), "c", None), (("a", "other"), "c", "other"),
        (("<= 5", "> 5"), "5", "<= 5"), (("<= 5", "> 5"), "5.01", "> 5"),
        (("<= 5", "(5, 7.5]", "> 7.5"), "7.5", "(5, 7.5]"), (("<= 5", "other"), "6", "other"),
        (("<= 5", "> 5"), "nan", None), (("5", "<= 6"), "5", "5"), (("a", "missing"), None, "missing"),
        (("a", "other"), None, None), (("a", "other", "missing"), None, "missing"), (("a",), None, None),
        (("2", "3"), "2.0", "2"), (("true", "false"), "True", "true"), (("2", "2.0"), "2.00", None),
        (("?", "n", "y"), "?", "?"),
    ]:  # fmt: skip
        assert label_of(values, text) == label


def test_missing_cells_of_new_rows_are_what_missing_cells_became() -> None:
    assert label_of(("a", "b", "missing"), None, missing_label="b") == "b"
    assert label_of(("<= 5", "> 5"), None, missing_label="> 5") == "> 5"
    assert label_of(("<= 5", "> 5", "missing", "other"), None) == "missing"
    assert label_of(("a", "other"), None) is None
    # A new row's missing cell is what the owner has declared, and no more than the values of the column show.
    for missing, there, label in (
        ("value", ["a", "b"], None), ("value", ["a", "b", "other"], "other"), ("majority", ["a", "a", "b"], "a"),
        ("b", ["a", "b"], "b"), ("c", ["a", "b"], None), ("refuse", ["a", "b", "other"], None),
    ):  # fmt: skip
        assert treated(there * 9, missing=missing, smallest_value=9).missing_label == label
        if missing != "refuse":
            assert treated([*there * 9, "?"], missing=missing, smallest_value=9).missing_label == label
    assert treated(["a", "b", "?"], missing=" 7.0 ").missing_label == "7"
    assert treated(["1", "9"], missing="7.0", bins=(Decimal(5),)).missing_label == "> 5"


TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        ["?", "-1", "0", "5", "5.0", "7", "1e1", "12.50", "other", "missing", "<= 5", "(0, 7]", "> 7", "x"]
    ),
    st.text(min_size=1, max_size=2),
    st.integers(-20, 20).map(str),
)
NUMERIC = st.one_of(st.none(), st.just("?"), NUMBERS.map(str), st.integers(-9, 9).map(str))
BINS: Any = st.sampled_from(
    ["median-of-range", "quantiles:2", "quantiles:5", (Decimal("-3.5"), Decimal(0), Decimal(4))]
)
TREATMENTS: dict[str, Any] = {
    "max_values": st.one_of(st.none(), st.integers(2, 5)),
    "missing": st.sampled_from(["value", "majority", "x", "5", "?", "other", "missing"]),
    "smallest_value": st.integers(1, 5),
}
GROUPED = TREATMENTS | {"max_values": st.integers(2, 5), "group": st.just("class")}
CASES = st.one_of(
    st.tuples(st.lists(TEXTS, min_size=1, max_size=12), st.builds(ColumnTreatment, **TREATMENTS)),
    st.tuples(st.lists(TEXTS, min_size=1, max_size=40), st.builds(ColumnTreatment, **GROUPED)),
    st.tuples(st.lists(NUMERIC, min_size=1, max_size=40), st.builds(ColumnTreatment, st.just("class"), **TREATMENTS)),
    st.tuples(st.lists(NUMERIC, min_size=1, max_size=12), st.builds(ColumnTreatment, BINS, **TREATMENTS)),
)


@settings(max_examples=at_most(600))
@given(CASES)
@example((["-1", "0", "<= 5", None], ColumnTreatment(None, 2, "majority", smallest_value=1, group="class")))
def test_every_cell_of_a_treated_column_is_found_again(case: tuple[list[str | None], ColumnTreatment]) -> None:
    cells, treatment = column([text and plain_text(text) for text in case[0]]).cells, case[1]
    try:
        result = treat(column(cells), treatment, classes_of(case[0]))
    except DataError:
        return
    absorbed = any(remark.about is About.MISSING_ABSORBED for remark in result.remarks)
    for text, label in zip(cells, labels(result), strict=True):
        assert label_of(result.values, text, result.missing_label) == label or (absorbed and text is None)
    assert treatment.max_values is None or len(result.values) <= treatment.max_values
    held = Counter(labels(result))
    if treatment.bins is None:
        assert set(held) == set(result.values)
    if treatment.smallest_value > 1 and result.values != ("other",):
        assert min(held[value] for value in result.values) >= treatment.smallest_value
    if treatment == ColumnTreatment(smallest_value=1):
        assert labels(result) == [text or "missing" for text in cells]


@pytest.mark.parametrize("texts", [["a", None, "b"], ["1", None, "2"]])
def test_cells_equal_the_sequences_of_the_same_texts_alone(texts: Sequence[str | None]) -> None:
    cells = Cells.of(texts)
    assert (cells.numbers is None) == ("a" in texts)
    assert cells == texts
    assert cells == Cells.of(texts)
    others: list[object] = [[*texts[:2], "x"], texts[:2], [*texts, None], None, 3]
    assert not any(cells == other for other in others)


def test_numbers_that_stand_for_nothing_become_empty_cells() -> None:
    cells = Cells.of(["3", "1.5", None]).numbers
    assert cells is not None
    assert list(cells.without([3.0, 9.0])) == [None, "1.5", None]
    assert cells.without([9.0]) is cells


NUMBERS_TEXTS = st.from_regex(r"-?(0|[1-9][0-9]{0,6})(\.[0-9]{1,6})?", fullmatch=True)


@given(st.dictionaries(NUMBERS_TEXTS, st.integers(1, 9), min_size=1, max_size=40))
def test_doubles_give_what_decimals_give(counts: dict[str, int]) -> None:
    texts, records = [*counts], np.array([*counts.values()])
    short = doubles(texts)
    assert short is not None
    each = np.repeat(short, records)
    fast = Doubles.among(each)
    slow, places = sorted_numbers(texts, records, Decimal)
    assert [*fast.values] == [*slow.values]
    assert fast.records.tolist() == slow.records.tolist()
    for edges in ([*slow.values][::3], [Decimal("-1e9")], [Decimal("1e9")], [Decimal(0), Decimal("0.0000001")]):
        assert fast.sizes(edges) == slow.sizes(edges)
        assert slow.bins(edges).tolist() == [sum(edge < value for edge in edges) for value in slow.values]
        assert fast.bins_of(each, edges).tolist() == np.repeat(slow.bins(edges)[places], records).tolist()


@given(st.sets(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=9), st.integers(1, 12), st.booleans())
def test_numbers_that_may_be_codes_or_row_numbers_are_known_by_their_doubles(
    some: set[Decimal], length: int, count: bool
) -> None:
    first = min(some)
    values = [first + i for i in range(length)] if count else [round(value) for value in some]
    held = Doubles.among(np.array([float(value) for value in values]))
    texts = {decimal_text(Decimal(value)) for value in values}
    assert held.digits == (len(min(texts)) if all(map(str.isdigit, texts)) and len({*map(len, texts)}) == 1 else None)
    assert held.may_count_up or not count


def test_fifteen_digits_are_told_apart_as_doubles_which_tell_what_decimals_tell() -> None:
    texts = ["999999999999998", "999999999999999", "0.0000000000001", "-99999999999999"]
    found = doubles(texts)
    assert found is not None
    assert len(set(found.tolist())) == 4
    assert np.finfo(np.float64).precision == DIGITS_OF_A_DOUBLE
    assert doubles([*texts, "0.30000000000000001"]) is None
    assert all(Doubles.among(np.array(each)).may_count_up for each in ([5.0], [7.0, 9.0, 8.0], [-1.0, 0.0]))
    assert not any(
        Doubles.among(np.array(each)).may_count_up for each in ([7.0, 9.0], [1.0, 2.0, 4.0], [0.1, 0.2, 0.3])
    )
    for text in ("1e3", "+1", "nan", "inf", "1_0", " 1", "1,5", "", ".", "-", "1.2.3", "\u0663", "007", "-01", "1\n2"):
        assert doubles(["1", text]) is None
    held = SortedNumbers.of(Counter({Decimal(5): 2, Decimal(1): 3, Decimal(9): 1}))
    assert [held.nth(n) for n in range(1, 8)] == list(map(Decimal, (1, 1, 1, 5, 5, 9, 9)))
    assert [held.nth_from_above(n) for n in range(1, 8)] == list(map(Decimal, (9, 5, 5, 1, 1, 1, 1)))


def test_few_numbers_are_read_exactly_to_find_the_edges_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> Decimal:
        read.append(text)
        return Decimal(text)

    monkeypatch.setattr(numbers, "Decimal", counted)
    texts = list(map(str, range(10_000)))
    each = doubles(texts)
    assert each is not None
    Doubles.among(each).sizes([Decimal(2500), Decimal(5000)])
    assert 0 < len(read) < 100


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
FAST_TREATMENTS = st.builds(
    ColumnTreatment,
    bins=st.sampled_from(
        [
            *(None, "median-of-range", "quantiles:3", "quantiles:4", "year", "class", (date(2024, 1, 1),)),
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
@given(COLUMNS, FAST_TREATMENTS, st.booleans(), FORMS)
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
    classes = classes_of(column)
    path.write_text("id,v,c\n" + "".join(f"p{i},{cell},c{classes[i]}\n" for i, cell in enumerate(column)))
    treatments = {"v" if listed else "*": treatment, "c": ColumnTreatment(smallest_value=1)}

    def read() -> DataShare:
        return read_share(path, "a", "id", "c", treatments, form=form)

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
@given(st.one_of(DOUBLES, WHOLE), FAST_TREATMENTS, st.booleans(), FORMS)
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


def test_a_column_that_is_not_all_plain_numbers_stays_text() -> None:
    for texts in [["1", "x"], ["1"] * 2000 + ["x"], ["1", "1-2"], ["01"], ["", ""], []]:
        column = pa.chunked_array([pa.array(texts, pa.string())])
        assert ArrowCells(column).numbers is None
        assert Cells.of(texts).numbers is None
        assert list(ArrowCells(column)) == [text or None for text in texts]


def test_a_marker_that_is_a_number_is_one_however_it_is_written(tmp_path: Path) -> None:
    for stray, marker in product(["", "x\n"], ["-9", "-9.0", " -9.00", "-9.0e0"]):
        path = tmp_path / "t.csv"
        path.write_text("v\n-9\n-9.0\n3\n" + stray)
        form = replace(Form(), missing=(marker, "NA"))
        column = read_frame(path, form).column("v")
        assert (list(column.cells)[:3], column.taken) == ([None, None, "3"], (marker,))
        assert list(read_frame(path, form).column("v", keep=["-9.000"]).cells)[:3] == ["-9", "-9", "3"]
