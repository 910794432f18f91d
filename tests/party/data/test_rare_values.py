"""No value that few records hold is named: texts, bins, edges, missing cells and the class; no identifier is taken."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from party.data import Column, ColumnTreatment, DataShare, TreatedColumn, label_of, read_share, treat
from party.data.bins import edges_of
from party.data.cells import Cells
from party.data.notices import About
from party.data.numbers import SortedNumbers
from party.errors import DataError
from party.show.notices import notice_text
from tests.support.examples import at_most

GIVEN_UP = (
    ': WARNING, {}% of the column is given up; raise max_values, or write group = "class" where the class is ours'
)


def treated(cells: Sequence[str | None], **treatment: Any) -> TreatedColumn:
    column = Column("size", Cells.of(cells), Path("table.csv"), range(2, len(cells) + 2))
    classes = np.array([len(cell or "") + i % 3 > 2 for i, cell in enumerate(cells)], dtype=np.uint8)
    return treat(column, ColumnTreatment(**treatment), classes)


def held(result: TreatedColumn) -> dict[str, int]:
    counts = Counter(result.codes.tolist())
    return {value: counts[code] for code, value in enumerate(result.values)}


def share_of(folder: Path, columns: Mapping[str, Sequence[str]], **arguments: Any) -> DataShare:
    path = folder / "table.csv"
    rows = zip(*columns.values(), strict=True)
    body = "".join(f"r{i}," + ",".join(f'"{cell}"' for cell in row) + "\n" for i, row in enumerate(rows))
    path.write_text(f"id,{','.join(columns)}\n{body}")
    return read_share(path, "alice", "id", **arguments)


def refused(folder: Path, columns: Mapping[str, Sequence[str]], **arguments: Any) -> str:
    with pytest.raises(DataError) as caught:
        share_of(folder, columns, **arguments)
    assert not [
        cell for cells in columns.values() for cell in set(cells) if len(cell) > 3 and cell in str(caught.value)
    ]
    return str(caught.value)


def said(column: TreatedColumn) -> tuple[str, ...]:
    return tuple(map(notice_text, column.remarks))


def test_all_rare_values_are_counted_though_max_values_leaves_no_room_for_them_either() -> None:
    cells = ["a"] * 20 + ["b"] * 12 + ["c"] * 10 + [f"rare {i}" for i in range(193)]
    for most in (None, 4, 5):
        (told,) = said(treated(cells, max_values=most))
        rare, _, cure = told.partition(": WARNING, 82% of the column is given up; ")
        assert rare == "values that fewer than 10 records hold (193) have become 'other'"
        assert cure == "merge values in the file, or list it under ignore"
    assert said(treated(["a"] * 20 + ["b"] * 4 + ["other"] * 6))[0].startswith("values that fewer than 10 records ho")
    assert said(treated(["a"] * 20 + ["b"] * 12 + ["other"] * 3 + ["c"] * 8)) == (
        "values that fewer than 10 records hold (1) have become 'other'",
    )
    assert said(treated(["a"] * 20 + ["other"] * 12)) == ()


def test_few_missing_cells_go_with_the_rare_values_or_else_with_the_commonest() -> None:
    cells: Sequence[str | None] = ["a"] * 20 + ["b"] * 30
    assert held(treated([*cells, *[None] * 9])) == {"a": 20, "b": 39}
    assert treated([*cells, *[None] * 9]).missing_label is None  # else it would tell that few are missing
    assert held(treated([*cells, *["c"] * 4, *[None] * 9])) == {"a": 20, "b": 30, "other": 13}
    assert held(treated([*cells, *[None] * 10])) == {"a": 20, "b": 30, "missing": 10}
    assert held(treated([*cells, *[None] * 3], missing="unknown")) == {"a": 20, "b": 33}


def test_values_of_few_are_not_named_and_edges_are_no_records_own() -> None:
    result = treated(["a"] * 20 + ["b"] * 10 + ["c"] * 9 + ["d"])
    assert held(result) == {"a": 20, "b": 10, "other": 10}
    assert said(result) == ("values that fewer than 10 records hold (2) have become 'other'",)
    result = treated(["a"] * 20 + ["b"] * 12 + ["c"] * 9)
    assert held(result) == {"a": 20, "other": 21}
    assert treated(["a"] * 20 + ["b"] * 9).values == ("other",)
    assert "one value is left" in said(treated(["a"] * 20 + ["b"] * 9))[-1]
    cells = ["a"] * 90 + ["b"] * 80 + ["c"] * 70 + ["d"] * 50 + ["e"] * 47
    assert said(treated(cells, max_values=4)) == (
        "the 3 commonest values are kept; 2 others (97 records, 29%) are 'other'",
    )
    assert said(treated(cells, max_values=2)) == (
        f"the commonest value is kept; 4 others (247 records, 73%) are 'other'{GIVEN_UP.format(73)}",
    )
    (less,) = said(treated([*cells, *"fgh"], max_values=4))
    assert less.endswith("; 5 others (100 records, 29%) are 'other', 3 of which fewer than 10 records hold")
    assert said(treated(cells, max_values=5)) == ()
    assert said(treated(["a"] * 20 + ["b"] * 12 + ["c"] * 9)) == (
        "the commonest value is kept; 2 others (21 records, 51%) are 'other', 1 of which fewer than 10 records hold"
        + GIVEN_UP.format(51),
    )
    assert held(treated(["a"] * 20 + ["other"] * 12 + [None] * 2)) == {"a": 20, "other": 14}
    salaries = [Decimal(1000 + 7 * i) for i in range(400)] + [Decimal(987_654)]
    counts = Counter(salaries)
    (exact,), (told,) = (
        edges_of("median-of-range", SortedNumbers.of(counts)),
        edges_of("median-of-range", SortedNumbers.of(counts), 10),
    )
    assert exact == (1000 + 987_654) / Decimal(2)
    assert told == 2400  # half of (1000 + 63) + (3793 - 56), rounded
    assert edges_of(
        "median-of-range", SortedNumbers.of(Counter({**counts, Decimal(987_654): 0, Decimal(555_555): 1})), 10
    ) == (told,)
    odd = Counter(Decimal(100_003 + 17 * i) for i in range(1000))
    edges = edges_of("quantiles:4", SortedNumbers.of(odd), 10)
    assert edges == tuple(map(Decimal, (104_200, 108_500, 112_700)))
    for exact, told in zip(edges_of("quantiles:4", SortedNumbers.of(odd)), edges, strict=True):
        assert abs(sum(value <= exact for value in odd) - sum(value <= told for value in odd)) < 10
    ages = Counter({Decimal(age): 40 for age in range(18, 66)})
    assert (
        edges_of("quantiles:4", SortedNumbers.of(ages), 10)
        == edges_of("quantiles:4", SortedNumbers.of(ages))
        == tuple(map(Decimal, (29, 41, 53)))
    )


NUMBERS = st.decimals(-50, 50, places=2)


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.sampled_from(["median-of-range", "quantiles:2", "quantiles:5"]))
def test_an_edge_moves_past_fewer_records_than_hide_each_other(numbers: list[Decimal], bins: str) -> None:
    counts = Counter(numbers)
    exact, told = edges_of(bins, SortedNumbers.of(counts)), edges_of(bins, SortedNumbers.of(counts), 4)
    if bins == "median-of-range":
        return
    below = [[sum(n for value, n in counts.items() if value <= edge) for edge in edges] for edges in (exact, told)]
    assert all(min(abs(new - old) for old in below[0]) < 4 for new in below[1])


def test_rare_bins_join_a_neighbour_and_a_rare_class_is_merged_or_refused(tmp_path: Path) -> None:
    cells = ["1"] * 30 + ["4"] * 3 + ["7"] * 12 + ["11"] * 40
    result = treated(cells, bins=(Decimal(2), Decimal(5), Decimal(9)))
    assert held(result) == {"<= 2": 30, "(2, 9]": 15, "> 9": 40}
    assert [label_of(result.values, text) for text in ("4", "5.5", "99")] == ["(2, 9]", "(2, 9]", "> 9"]
    assert said(result) == ("bins of fewer than 10 records have joined their neighbours",)
    cells = ["1"] * 30 + ["7"] * 12 + ["250000"]
    assert held(treated(cells, bins=(Decimal(2), Decimal(100), Decimal(1000)))) == {"<= 2": 30, "> 2": 13}
    assert treated(cells, bins=(Decimal(300000),)).values == ("other",)
    cells = ["2020-05-01"] * 20 + ["2021-05-01"] * 9 + ["2022-05-01"] * 30
    assert held(treated(cells, bins="year")) == {"<= 2020-12-31": 20, "> 2020-12-31": 39}
    few = {"class_name": "y", "treatments": {"y": ColumnTreatment()}}
    y = ["a"] * 20 + ["b"] * 20 + ["c"] * 5 + ["d"] * 5
    share = share_of(tmp_path, {"x": ["p", "q"] * 25, "y": y}, **few)
    assert share.class_attribute is not None
    assert share.class_attribute.values == ("a", "b", "other")
    for last in (["c"] * 5, [""] * 5):
        text = refused(tmp_path, {"x": ["p", "q", "p"] * 15, "y": ["a"] * 20 + ["b"] * 20 + last}, **few)
        assert "column 'y': leave out the records whose class fewer than 10 records have" in text
        assert "values: 'c' (5) are too few" in text if last[0] else "values: these are too few" in text
    assert "leave out" in refused(tmp_path, {"x": ["p"] * 25, "y": ["a"] * 20 + ["b"] * 5}, class_name="y")


MAILS = [f"person{i}@mail.example" for i in range(300)]
USUAL = {"*": ColumnTreatment(max_values=4)}


def test_a_column_whose_cells_nearly_all_differ_is_refused_as_an_identifier(tmp_path: Path) -> None:
    for cells in [
        MAILS,
        [f"Name{i % 160}" for i in range(300)],
        [f"+4179{i * 7919 % 1000:03}{i}" for i in range(300)],
        [f"079{i * 7919 % 1000:03}{i:03}" for i in range(300)],
        [str(4_000_000 + i * 7919) for i in range(300)],
        [str(i) for i in range(300)],
        [f"{i},5" for i in range(300)],
        [(date(1950, 1, 1) + timedelta(days=31 * i)).isoformat() for i in range(300)],
    ]:
        table = {"x": ["p", "q"] * 150, "who": cells}
        text = refused(tmp_path, table, treatments=USUAL)
        use = "its dates shall be used" if cells[0].count("-") == 2 else "it is a measurement"
        texts = cells[0][0].isalpha()
        assert "column 'who': list it under ignore" + (":" if texts else f" or, if {use}, ") in text
        assert ("bins" in text) != texts
        assert "of its 300 cells differ, as in an identifier" in text
        assert refused(tmp_path, table, treatments={"who": ColumnTreatment()})
        assert len(share_of(tmp_path, table, treatments=USUAL, ignore=["who"]).attributes) == 1


def test_columns_that_name_records_are_refused_and_numbers_binned_unless_listed(tmp_path: Path) -> None:
    table = {"x": ["p", "q"] * 150, "who": MAILS}
    assert "predict another column: 300 of" in refused(tmp_path, table, class_name="who")
    table = {"mail": MAILS, "x": ["p", "q"] * 150, "phone": [f"+4179{i:06}" for i in range(300)]}
    text = refused(tmp_path, table, treatments=USUAL)
    assert text.endswith(
        "table.csv: columns 'mail', 'phone': list them under ignore, or give bins to those that are measurements "
        '("quantiles:4") and to dates ("year" and, where these are many, max_values): over half of the cells of each '
        "differ, as in an identifier"
    )
    assert len(share_of(tmp_path, table, treatments=USUAL, ignore=["mail", "phone"]).attributes) == 1
    table = {
        "salary": [str(1000 + 13 * i) for i in range(300)],
        "code": ["1", "2", "3"] * 100,
        "height": [str(150 + i % 40) if i % 10 else "" for i in range(300)],
    }
    share = share_of(tmp_path, table, treatments=USUAL)
    assert [a.values for a in share.attributes] == [
        ("<= 2000", "(2000, 3000]", "(3000, 4000]", "> 4000"),
        ("1", "2", "3"),
        ("<= 163", "(163, 176]", "> 176", "missing"),
    ]
    assert tuple(map(notice_text, share.notices)) == (
        "column 'salary': numbers that are not listed under [columns]: binned by bins = \"quantiles:4\"",
        "column 'height': numbers that are not listed under [columns]: binned by bins = \"quantiles:3\"",
    )


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            [str(200 + i % 50) for i in range(500)],
            '50 different numbers are taken as texts: if they are quantities, give it bins = "quantiles:4"; codes',
        ),
        (
            [f"{i % 12},5" for i in range(500)],
            'numbers with commas are taken as texts: say decimal = "," under [data], and give it bins',
        ),
        (
            [f"2024-05-{1 + i % 30:02}" for i in range(500)],
            'dates are taken as texts: give it bins = "year", "quarter"',
        ),
    ],
)
def test_a_listed_measurement_without_bins_is_warned_about(cells: list[str], words: str, tmp_path: Path) -> None:
    share = share_of(tmp_path, {"age": cells}, treatments={"age": ColumnTreatment(max_values=4)})
    (notice,) = map(notice_text, share.notices)
    assert notice.startswith("column 'age': its ")
    assert words in notice
    assert not [cell for cell in cells if cell in notice.split("its", 1)[1].split(" ")]


def test_what_no_decimal_sign_makes_a_number_is_refused() -> None:
    with pytest.raises(DataError, match=r"the column is binned: .*leave its bins out$"):
        treated(["1;5"] * 30, bins="median-of-range")
    for cells, advice in (
        (["1,5"], 'say decimal = "," under [data]'),
        (["1,234", "0,5", "7"], 'say decimal = "," under [data]'),
        (["1,234,567"], 'say decimal = "." under [data]'),
        (["1,234", "12,000.50"], 'say decimal = "." under [data]'),
        (["1,234", "808"], 'say under [data] decimal = "." if its commas group thousands, as in 1,234 for 1234, or'),
        (["1.234.567"], 'say decimal = "," under [data]'),
    ):
        with pytest.raises(DataError, match="the cell is not a plain number, and the column is binned: ") as e:
            treated(cells * 30, bins="median-of-range")
        assert advice in str(e.value)


DATABASES = [
    "2019-05-31 12:30:00+00",
    "2019-05-31 12:30:00.123456+02",
    "2019-05-31 12:30:00 UTC",
    "2019-05-31T12:30:00.123456Z",
    "2019-05-31 12:30:00.0000000 +02:00",
    "2019-05-31 12:30:00.1234567",
    "31.05.2019 12:30",
    "2019/05/31",
]


def test_timestamps_are_dates_binned_by_year_quarter_month_and_edges() -> None:
    cells = [(date(2022, 7, 1) + timedelta(days=i)).isoformat() for i in range(730)]
    years = treated(cells, bins="year")
    assert held(years) == {"<= 2022-12-31": 184, "(2022-12-31, 2023-12-31]": 365, "> 2023-12-31": 181}
    assert len(treated(cells, bins="quarter").values) == 8
    assert treated(cells, bins="month").values[1] == "(2022-07-31, 2022-08-31]"
    fewer = treated(cells, bins="month", max_values=4).values
    assert len(fewer) == 4
    assert fewer[0] == "<= 2023-02-28"
    assert treated(cells, bins=(date(2023, 3, 15),)).values == ("<= 2023-03-15", "> 2023-03-15")
    told = [label_of(years.values, text) for text in ("1999-01-01", "31.12.2023", "2024-01-01 00:00:00", "1/2/2024")]
    assert told == ["<= 2022-12-31", "(2022-12-31, 2023-12-31]", "> 2023-12-31", None]
    for written in DATABASES:
        assert treated([written, "2024-01-31"] * 20, bins="year").values == ("<= 2019-12-31", "> 2019-12-31")
    for written in DATABASES:
        with pytest.raises(DataError, match=r'it is a date: give the column bins = "year", "quarter" or "month"$'):
            treated([written, "2024-01-31"] * 20, bins="quantiles:4")
    for cell in ("5/6/2024", "2024-02-30", "next week", "20240506", "2024-05-06T25"):
        with pytest.raises(
            DataError, match=r"line 3, column 'size': the cell is not a date such as 2024-05-31"
        ) as caught:
            treated(["2024-05-06", cell], bins="year")
        assert cell not in str(caught.value)


def test_no_cut_by_the_class_is_lost_to_a_better_one_that_leaves_too_few_on_one_side() -> None:
    held = [(0, "n", 3), (1, "n", 2), (2, "y", 1), (2, "n", 2), (3, "n", 8), (5, "n", 2), (6, "y", 2), (7, "y", 6)]
    cells, classes = zip(*[(str(value), label) for value, label, n in held for _ in range(n)], strict=True)
    column = Column("size", Cells.of(cells), Path("table.csv"), range(2, len(cells) + 2))
    result = treat(column, ColumnTreatment(bins="class"), np.array([each == "y" for each in classes], dtype=np.uint8))
    assert result.values == ("<= 4", "> 4")


TEXTS = st.sampled_from([None, "?", "1", "2", "2.5", "7", "other", "missing", "x", "y", "> 3", "z", "é", "e"])
DATES = st.dates(date(2019, 1, 1), date(2024, 12, 31)).map(str)
TREATMENT: dict[str, Any] = {
    "max_values": st.one_of(st.none(), st.integers(2, 6)),
    "missing": st.sampled_from(["value", "majority", "x", "5", "other"]),
    "smallest_value": st.integers(2, 12),
}
BINS = st.sampled_from(
    ["class", "median-of-range", "quantiles:3", "quantiles:8", (Decimal(-9), Decimal(0), Decimal("0.5"))]
)
GROUPED = TREATMENT | {"max_values": st.integers(2, 6), "group": st.just("class")}
PERIODS = st.sampled_from(["year", "quarter", "month", "class", (date(2020, 2, 2), date(2023, 1, 1))])
CASES = st.one_of(
    st.tuples(st.lists(TEXTS, min_size=1, max_size=80), st.builds(ColumnTreatment, **TREATMENT)),
    st.tuples(st.lists(TEXTS, min_size=1, max_size=80), st.builds(ColumnTreatment, **GROUPED)),
    st.tuples(
        st.lists(st.one_of(st.none(), NUMBERS.map(str)), max_size=80), st.builds(ColumnTreatment, BINS, **TREATMENT)
    ),
    st.tuples(st.lists(st.one_of(st.none(), DATES), max_size=80), st.builds(ColumnTreatment, PERIODS, **TREATMENT)),
)


@settings(max_examples=at_most(500))
@given(CASES)
def test_no_label_is_held_by_fewer_records_than_the_limit(case: tuple[list[str | None], ColumnTreatment]) -> None:
    cells, treatment = case
    try:
        result = treated(cells, **vars(treatment))
    except DataError:
        return
    counts = held(result)
    assert result.values == ("other",) or min(counts.values()) >= treatment.smallest_value
    assert sum(counts.values()) == len(cells)
    assert treatment.max_values is None or len(counts) <= treatment.max_values
    absorbed = any(remark.about is About.MISSING_ABSORBED for remark in result.remarks)
    for text, code in zip(cells, result.codes, strict=True):
        label = label_of(result.values, text, missing_label=result.missing_label)
        assert label == result.values[code] or (absorbed and text is None)


@settings(max_examples=at_most(200))
@given(st.lists(TEXTS, min_size=1, max_size=60), st.integers(2, 12))
def test_a_value_that_is_named_is_so_whatever_the_rare_ones_are_called(cells: list[str | None], limit: int) -> None:
    """What rare values are called cannot be seen in the domain."""
    counts = Counter(cells)
    rare = {text for text, n in counts.items() if n < limit and text not in {None, "?", "other", "missing", "> 3"}}
    renamed = [f"renamed {text}" if text in rare else text for text in cells]
    usual = replace(ColumnTreatment(), smallest_value=limit)
    try:
        before, after = treated(cells, **vars(usual)), treated(renamed, **vars(usual))
    except DataError:
        return
    assert set(before.values) == set(after.values)
