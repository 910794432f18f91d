"""Cells as the values of a model, in SQL: derived tables, each upon the one before, so that each is written once.

They make of a column its cell `r`, the text `t` (as the database writes it, with single blanks), the look `d` (0 for
each digit), the form `f` (a run of digits is one), the number `n`, the same where it is canonical `s`, and the day `y`;
then of each reading its value `v`: null for one that is not known, and an empty text where `predict` may read what SQL
cannot. The tests compare both on whatever a table may hold.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from party.data.bins import DAYS, MAX_NUMBER, NUMBERS
from party.data.frame import MAX_CELL_LENGTH
from party.data.moments import plain_moment
from party.data.numbers import DIGITS_OF_A_DOUBLE
from party.models.exports.readings import CellReading, Range, double_below
from party.names import printable
from protocols.errors import InputError

REFUSED = "''"

_STEPS = "rtdfnsy"
_SHORT = "CAST(CAST('0.30000000000000004' AS DOUBLE PRECISION) AS VARCHAR(40)) = '0.3'"  # as SQLite writes it
_FORMS = [
    f"{sign}{size}{power}"
    for sign in ("", "-", "+")
    for size in ("0", "0.", ".0", "0.0")
    for power in ("", "e0", "e+0", "e-0")
]
_LEAST, _MOST, _LONGEST = 1e-20, 1e38, 24  # a double within writes at most this, and without exponent MAX_NUMBER
_DAY_SHAPES = ("0000-00-00", "0000-00-00 00:00:00", "0000-00-00T00:00:00")
_DAYS = ("0000-00-00%", "0000/00/00%", "0000.00.00%", "0%.0%.0000%")  # whatever may be one
_MOMENTS = (*_DAYS, "%0:00%", "%0 day%", "P%0%", "-P%0%")
_ZONES = ("", "Z", "+00", "-00", "+00:00", "-00:00")


def quoted(text: str, mark: str = "'") -> str:
    """Return a text, or by a double mark a name, as SQL, if it can be quoted safely."""
    if "\\" in text or not text.isprintable():
        raise InputError(f"{printable(text)!r} has a character that databases read in two ways: export it as python")
    return mark + text.replace(mark, 2 * mark) + mark


def value_name(index: int) -> str:
    """Return what the value of a reading is called."""
    return f"v_{index}"


def cells_table(readings: Mapping[int, CellReading]) -> str:
    """Return the derived table that has the value of each reading."""
    of_column: dict[str, list[CellReading]] = {}
    for reading in readings.values():
        of_column.setdefault(reading.column, []).append(reading)
    mark, names = "", {name.casefold() for name in of_column}
    while any(f"r{mark}_{place}" in names for place in range(len(names))):
        mark += "_"  # in one list, some databases take a name for what stands before it
    columns = {name: _Column(f"{mark}_{place}", name, each) for place, (name, each) in enumerate(of_column.items())}
    table = ""
    for step in _STEPS:
        made = [each.made[step] for each in columns.values() if step in each.made]
        if made:
            table = (
                f"(SELECT DISTINCT *, {', '.join(made)}\nFROM {table}) AS q"
                if table
                else f"(SELECT {', '.join(made)}) AS q"
            )
    values = [f"{columns[reading.column].value(reading)} AS {value_name(index)}" for index, reading in readings.items()]
    return f"(SELECT DISTINCT {', '.join(values)}\nFROM {table}) AS q"


def _exact(text: str) -> Decimal | None:
    """Return the number that a text is as `predict` writes it, or None."""
    number = NUMBERS.read_back(text)
    return number if number is not None and NUMBERS.write(number) == text else None


def _is_double(number: Decimal) -> bool:
    return Decimal(repr(float(number))) == number


def _literal(number: float) -> str:
    """Return a double as SQL: without an exponent it would be a decimal number."""
    text = repr(number)
    return text if "e" in text else f"{text}e0"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(map(quoted, dict.fromkeys(texts)))


class _Column:
    """What is made of a column's cells, and what each step is called."""

    def __init__(self, key: str, name: str, readings: Iterable[CellReading]) -> None:
        self.r, self.t, self.d, self.f, self.n, self.s, self.y = (f"{step}{key}" for step in _STEPS)
        known = [text for reading in readings for text in reading.known]
        exact = any(_exact(text) is not None for text in known)
        numbers = exact or any(reading.ranges and not reading.dated for reading in readings)
        dated = any(reading.dated for reading in readings)
        looks = numbers or dated or any(plain_moment(text) for text in known)
        steps = "rt" + "d" * looks + "fn" * numbers + "s" * exact + "y" * dated
        self.made = {step: f"{made} AS {step}{key}" for step, made in self._all_made(name) if step in steps}

    def _all_made(self, name: str) -> Iterator[tuple[str, str]]:
        """Return what makes each step, by those before it."""
        r, t, d, f, n = self.r, self.t, self.d, self.f, self.n
        yield "r", quoted(name, '"')
        yield "t", f"TRIM({_replaced(f'CAST({r} AS VARCHAR({MAX_CELL_LENGTH}))', 3 * [('  ', ' ')])})"
        yield "d", _replaced(t, [*((digit, "0") for digit in "123456789"), ("E", "e")])
        yield "f", _replaced(d, 6 * [("00", "0")])
        large = _is_like(d, [f"%e{sign}000%" for sign in ("", "+", "-")])
        is_one = f"{f} IN ({_listed(_FORMS)}) AND LENGTH({t}) <= {MAX_NUMBER} AND NOT ({large})"
        number = f"WHEN {_SHORT} THEN CAST({r} AS DOUBLE PRECISION) ELSE CAST({t} AS DOUBLE PRECISION)"
        yield "n", f"CASE WHEN {is_one} THEN CASE {number} END END"
        padded = " OR ".join(f"{t} LIKE '{sign}0%' AND {d} LIKE '{sign}00%'" for sign in ("", "-"))
        code = f"{t} LIKE '+%' OR {padded} OR {f} LIKE '%e0' AND {f} NOT LIKE '%.%'"
        yield "s", f"CASE WHEN NOT ({code}) THEN {n} END"
        yield "y", _day(t, d)

    def value(self, reading: CellReading) -> str:
        """Return the value of a cell."""
        cases = " ".join(f"WHEN {test} THEN {value}" for test, value in self._tests(reading))
        return f"CASE {cases} ELSE {_or_null(reading.other)} END"

    def _tests(self, reading: CellReading) -> Iterator[tuple[str, str]]:
        t, d, n = self.t, self.d, self.n
        ends = [end for each in reading.ranges for end in (each.low, each.high) if end is not None]
        edges = [] if reading.dated else ends
        exact = [number for number in map(_exact, reading.known) if number is not None]
        if edges or exact:
            near = ", ".join(dict.fromkeys(_literal(float(each)) for each in (*edges, *exact)))
            same = _listed(NUMBERS.write(each) for each in (*filter(_is_double, edges), *exact))
            digits = f"TRIM({_replaced(t, [(sign, '') for sign in '-+.'])}, '0')"
            tests = f"{n} IN ({near}) AND LENGTH({digits}) > {DIGITS_OF_A_DOUBLE}"
            yield f"{tests} AND {t} NOT IN ({same})" if same else tests, REFUSED
        yield f"{t} IS NULL OR {self._is_any(['', *reading.marks])}", _or_null(reading.missing)
        held: dict[str, list[str]] = {}
        for text, value in reading.texts.items():
            held.setdefault(value, []).append(text)
        for value, texts in held.items():
            yield self._is_any(texts), _or_null(value)
        if any(map(plain_moment, reading.known)):
            usual = f"{d} IN ({_listed(_DAY_SHAPES)}) OR {d} = '00:00:00' AND {t} < '24'"
            yield f"({_is_like(d, _MOMENTS)}) AND NOT ({usual})", REFUSED
        if reading.ranges:
            yield self._unread(reading.dated), REFUSED
        for each in reading.ranges:
            yield self._is_within(each, reading.dated), _or_null(each.value)

    def _is_any(self, texts: Iterable[str]) -> str:
        """Return whether a cell is one of these texts, as a database writes it."""
        ways, numbers, truths = list[str](), list[str](), list[str]()
        for text in texts:
            number = _exact(text)
            if number is not None and _is_double(number):
                numbers.append(_literal(float(number)))
            elif text in {"True", "False"}:
                truths.append(text.lower())
            else:
                day = [f"{text} 00:00:00", f"{text}T00:00:00"] if DAYS.read_back(text) is not None else []
                ways += [text, text.replace("T", " "), *day] if plain_moment(text) else [text]
        tests = [(self.t, _listed(ways)), (f"LOWER({self.t})", _listed(truths)), (self.s, ", ".join(numbers))]
        return " OR ".join(f"{what} IN ({listed})" for what, listed in tests if listed)

    def _unread(self, dated: bool) -> str:
        t, d, n = self.t, self.d, self.n
        if dated:
            return f"{self.y} IS NULL AND ({_is_like(d, _DAYS)})"
        size = f"{n} <> 0 AND NOT (ABS({n}) >= {_LEAST} AND ABS({n}) < {_MOST})"
        length = f"LENGTH({t}) = {MAX_NUMBER} OR LENGTH({t}) > {_LONGEST} AND {d} LIKE '%e%'"
        return f"{size} OR {n} IS NOT NULL AND ({length})"

    def _is_within(self, each: Range, dated: bool) -> str:
        what = self.y if dated else self.n
        low, high = (
            None if end is None else DAYS.write(end).replace("-", "") if dated else _literal(double_below(end))
            for end in (each.low, each.high)
        )
        ends = [f"{what} > {low}"] * (low is not None) + [f"{what} <= {high}"] * (high is not None)
        return " AND ".join(ends) or f"{what} IS NOT NULL"


def _replaced(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    for old, new in pairs:
        text = f"REPLACE({text}, '{old}', '{new}')"
    return text


def _is_like(text: str, patterns: Iterable[str]) -> str:
    return " OR ".join(f"{text} LIKE '{pattern}'" for pattern in patterns)


def _or_null(value: str | None) -> str:
    return "NULL" if value is None else quoted(value)


def _day(t: str, d: str) -> str:
    """Return the day of a text as the number 20240531; null if it is no day as databases write one."""
    rest = f"CASE WHEN SUBSTR({d}, 20) LIKE '.0%' THEN LTRIM(SUBSTR({d}, 21), '0') ELSE SUBSTR({d}, 20) END"
    clock = _is_like(d, [f"{each}%" for each in _DAY_SHAPES[1:]])
    in_range = " AND ".join(f"SUBSTR({t}, {place}, 1) < '6'" for place in (15, 18))
    timed = f"({clock}) AND {in_range} AND {rest} IN ({_listed(_ZONES)}) AND {d} NOT LIKE '%.{13 * '0'}%'"
    year, month = f"CAST(SUBSTR({t}, 1, 4) AS INTEGER)", f"SUBSTR({t}, 6, 2)"
    leap = f"{year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0)"
    long, short = ("01", "03", "05", "07", "08", "10", "12"), ("04", "06", "09", "11")
    last = (
        f"CASE WHEN {month} IN ({_listed(long)}) THEN '31' WHEN {month} IN ({_listed(short)}) THEN '30' "
        f"WHEN {month} = '02' THEN CASE WHEN {leap} THEN '29' ELSE '28' END END"
    )
    is_day = f"{year} > 0 AND SUBSTR({t}, 9, 2) BETWEEN '01' AND {last}"
    whole = f"CAST(REPLACE(SUBSTR({t}, 1, 10), '-', '') AS INTEGER)"
    return f"CASE WHEN {d} = '{_DAY_SHAPES[0]}' OR {timed} THEN CASE WHEN {is_day} THEN {whole} END END"
