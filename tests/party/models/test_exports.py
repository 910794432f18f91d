"""A model in another program gives a thousand rows, missing and unseen cells among them, what `predict` gives."""

import csv
import io
import itertools
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import jpmml_evaluator
import jpype
import jsonschema
import numpy as np
import pandas as pd
import pytest

from party.data import Frame, frame_of
from party.data.texts import plain_text
from party.models.any_file import KeptResult, model_json
from party.models.exports.pmml import pmml_of
from party.models.exports.python import python_of
from party.models.exports.readings import Exported, RuleList, readings_of
from party.models.exports.schema import schema_of
from party.models.exports.sql import sql_of
from party.models.exports.sql_cells import cells_table
from party.models.prediction import coded_rows, predict_frame
from protocols.association.joint import JointItemsets, JointSet, ReachedRules
from protocols.association.own_sets import TermSet
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes, bayes_of_counts, logarithm
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.tables import Attribute, MissingCells, Schema, Term, two_way
from protocols.terms import Growth, Leaves, Metric
from tests.support.examples import at_most, few
from tests.support.processes import assert_one_line, cotally_here

COLUMNS = (
    Attribute("alice", "age", ("<= 18", "(18, 30.5]", "> 30.5", "missing"), MissingCells("missing"), 3),
    Attribute("alice", 'the "city"', ("Bergen", "O'Slo <&>", "other"), MissingCells("other", ("-99", "n/a"))),
    Attribute("alice", "group", ("{a | b}", "c", "Ærø"), MissingCells(None)),
    Attribute("bob", "age", ("0", "1", "2.5", "True"), MissingCells("1")),
    Attribute("bob", "since", ("<= 2019-12-31", "(2019-12-31, 2023-02-28]", "> 2023-02-28", "x"), MissingCells("x"), 3),
    Attribute("bob", "rate", ("<= -0.001", "> -0.001"), MissingCells(None, ("-99", "?")), 2),
)  # fmt: skip
TARGET = Attribute("", "outcome", ("it's", "good", "so-so"))
NAMES = ("alice.age", 'the "city"', "group", "bob.age", "since", "rate")
TYPES = {
    "numbers": ("DECIMAL(9,3)", "VARCHAR(40)", "VARCHAR(40)", "VARCHAR(40)", "DATE", "DOUBLE PRECISION"),
    "others": ("DOUBLE PRECISION", "VARCHAR(40)", "CHAR(9)", "DECIMAL(9,4)", "TIMESTAMP", "REAL"),
    "texts": ("VARCHAR(60)",) * len(NAMES),
}
CELLS: tuple[tuple[str | None, ...], ...] = (
    ("18", "18.001", "30.5", "31", "-4", "17", None),
    ("Bergen", "O'Slo <&>", "other", "-99", "n/a", "?", "nowhere", None),
    ("a", "b", "c", "Ærø", "{a | b}", "missing", "d", "NA", None),
    ("0", "1", "1.0", "2.5", "true", "True", "3", "-", None),
    ("2019-12-31", "2020-01-01", "2023-02-28", "2023-03-01", "1900-01-01", None),
    ("-0.001", "-0.0009", "7", "-1e-05", "1e+20", "-99", "-99.0", None),
)
SPELT: tuple[tuple[str, ...], ...] = (
    (" 18.0", "<= 18", "abc", "1e3", "inf", "18,5", "--5", "1E400", "18." + 30 * "0", "30.500000000000004"),
    ("  O'Slo   <&>", "-99.00"),
    ("other", "a | b"),
    ("1.00", "tRUE", "2.50", "1E0", "01", "+1", "10e-01", "2.5000000000000004"),
    ("2023-02-28 23:59:59", "2019-12-31T24:00:00.50+02", "unknown", "nan", "20240531"),
    ("?", "1E400", "<= -0.001", "+7", "-0.00100", "-0.0010000000000000002", "-0.0009999999999999998"),
)
UNREAD: tuple[tuple[str, ...], ...] = (
    ("18.000000000000000001", "1e-30", "-1E38", "." + 39 * "5", f"1.{30 * '2'}e-05"),
    (),
    (),
    ("0.99999999999999999999",),
    ("31.12.2019", "2024-02-30", "1900-02-29", "2023/02/28", "2023-02-28 23:60:59"),
    ("-0.001000000000000000001",),
)
UNSEEN: tuple[tuple[str, ...], ...] = (
    ("\u200b17",),
    ("Bergen\u00ad",),
    ("A\u030a", "Æ\u0072ø"),
    ("\t1",),
    (),
    ("\xa07",),
)


def random_tree(seed: int, kind: str, depth: int = 5) -> Tree:
    rng = np.random.default_rng(seed)
    schema = Schema(COLUMNS, TARGET, ())
    if kind.startswith("two-way"):
        schema = two_way(schema)

    def leaf() -> Leaf:
        counts, tenths = rng.integers(0, 9, 3).tolist(), (rng.integers(0, 9, 3) + 1).tolist()
        if kind.endswith("counts"):
            return Leaf(tuple(map(float, counts)), majority(counts))
        return Leaf((), majority(tenths), tuple(tenths) if kind.endswith("tenths") else ())

    def node(left: Sequence[int], depth: int) -> Node:
        if not depth or not len(left) or rng.random() < 0.1:
            return leaf()
        attribute = int(rng.choice(left))
        below = [each for each in left if each != attribute]
        children = tuple(node(below, depth - 1) for _ in schema.attributes[attribute].values)
        counts = tuple(map(float, np.sum([child.counts for child in children], axis=0))) if children[0].counts else ()
        return Split(counts, attribute, children)

    growth = Growth(leaves=Leaves.TENTHS if kind.endswith("tenths") else Leaves.LABEL)
    root: Node = Leaf((), 0)
    while not isinstance(root, Split):
        root = node(range(len(schema.attributes)), depth)
    return Tree(schema, root, growth)


def random_bayes(seed: int, smoothing: float) -> NaiveBayes:
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0 if smoothing else 1, 40, (each.size, 3)) for each in COLUMNS]
    return bayes_of_counts(Schema(COLUMNS, TARGET, ()), rng.integers(1, 90, 3), tables, smoothing)


def impossible() -> NaiveBayes:
    """Each class lacks a value of each column, so that rows may have none that is possible."""
    rng = np.random.default_rng(3)
    tables = []
    for each in COLUMNS:
        counts = rng.integers(1, 9, (each.size, 3)).astype(float)
        counts[rng.integers(0, each.size, 3), range(3)] = 0
        tables.append(logarithm(counts / counts.sum(axis=0)))
    return NaiveBayes(Schema(COLUMNS, TARGET, ()), logarithm(np.array([0.25, 0.5, 0.25])), tuple(tables))


def sets(counted: bool) -> RuleList:
    rng = np.random.default_rng(8)
    rules, kept = [], dict[TermSet, JointSet]()
    for size in (1, 2, 2, 1, 3, 2, 1):
        columns = sorted(rng.choice(len(COLUMNS), size + 1, replace=False).tolist())
        whole = tuple(Term(column, int(rng.integers(0, COLUMNS[column].size))) for column in columns)
        for length in range(1, size + 2):
            for part in itertools.combinations(whole, length):
                count = Fraction(90 - 3 * length - len(kept) % 5)
                kept[part] = JointSet(
                    part, min([count, *(kept[each].count for each in itertools.combinations(part, length - 1) if each)])
                )
        rules.append((whole[1:], whole[:1]))
    ordered = tuple(kept[each] for each in sorted(kept, key=lambda part: (len(part), part)))
    both = tuple(each for each in ordered if len({COLUMNS[term.column].party for term in each.terms}) > 1)
    usual = COLUMNS, 100, Fraction(1, 100), 1
    if counted:
        return RuleList(JointItemsets(*usual, ordered))
    reached = ReachedRules(Metric.CONFIDENCE, Fraction(1, 2), tuple(rules))
    return RuleList(JointItemsets(*usual, both, 0, False, reached))


MODELS: dict[str, Callable[[], Exported]] = {
    "values with counts": lambda: random_tree(1, "values counts"),
    "values with tenths": lambda: random_tree(2, "values tenths"),
    "two-way with labels": lambda: random_tree(2, "two-way labels"),
    "two-way with tenths": lambda: random_tree(1, "two-way tenths"),
    "bayes": lambda: random_bayes(5, 0.01),
    "impossible bayes": impossible,
    "rules": lambda: sets(counted=True),
    "rules without counts": lambda: sets(counted=False),
}
DATABASES = [f"{name} of {types}" for name in ("sqlite", "duckdb", "postgres") for types in TYPES]
ROWS = 1000
Cell = str | None
Row = tuple[Cell, ...]


def rows(*pools: Sequence[Sequence[Cell]]) -> list[Row]:
    rng = np.random.default_rng(7)
    cells = [list(itertools.chain(*each)) for each in zip(*pools, strict=True)]
    return list(zip(*([each[k] for k in rng.integers(0, len(each), ROWS)] for each in cells), strict=True))


USUAL, ODD = rows(CELLS), rows(CELLS, SPELT, UNREAD, UNSEEN)


def frame_with(table: Sequence[Row]) -> Frame:
    return frame_of(Path("rows"), NAMES, list(zip(*table, strict=True)))


def expected(model: Exported, table: Sequence[Row]) -> list[Cell]:
    if not isinstance(model, RuleList):
        return [*predict_frame(model, frame_with(table)).labels]
    label = Tree(Schema(COLUMNS, TARGET, ()), Split((), 0, ()))  # what reads the columns of rules, too
    codes = coded_rows(label, frame_with(table), range(len(COLUMNS))).codes
    return [
        next((said for first, said in model.rules if all(row[term.column] == term.value for term in first)), None)
        for row in codes
    ]


def shares(model: Exported, table: Sequence[Row]) -> list[list[float]] | None:
    found = None if isinstance(model, RuleList) else predict_frame(model, frame_with(table)).shares
    return None if found is None else found.tolist()


@pytest.mark.parametrize("kind", MODELS)
def test_python_agrees_on_whatever_a_file_may_hold(kind: str, tmp_path: Path) -> None:
    model = MODELS[kind]()
    (tmp_path / "score.py").write_text(python_of(model))
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[name.replace("group", "alice.group") for name in NAMES], *ODD])
    words = [sys.executable, "-I", "-S", "-X", "utf8", "score.py", "rows.csv"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=True)
    read = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["prediction"] or None for row in read] == expected(model, ODD)
    known = shares(model, ODD)
    if known is None:
        assert not any(name.startswith("P(") for name in read[0])
    else:
        given = [[float(row[f"P({value})"]) for value in TARGET.values] for row in read]
        assert np.array(given) == pytest.approx(np.array(known), abs=1e-6)


SCORED = [
    (("--help",), 0, "usage: python score.py rows.csv > classified.csv\n", ""),
    ((), 1, "", "usage: python score.py rows.csv > classified.csv\n"),
    (("none.csv",), 1, "", "none.csv cannot be read: name a file of CSV in UTF-8, with names in its first line\n"),
    (("latin.csv",), 1, "", "latin.csv cannot be read: name a file of CSV in UTF-8, with names in its first line\n"),
    (("other.csv",), 1, "", "other.csv has no column 'city': give it one\n"),
]


def test_an_exported_file_of_python_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text(python_of(with_value("x")))
    (tmp_path / "latin.csv").write_bytes(b"city\n\xe5\n")
    (tmp_path / "other.csv").write_text("town\nx\n")
    for words, code, out, error in SCORED:
        asked = [sys.executable, "-S", "score.py", *words]
        done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (code, error)
        assert done.stdout.startswith(out)
        assert ("\nThe model reads the columns 'city'.\n" in done.stdout) == bool(out)


@dataclass(frozen=True)
class Database:
    """A table of people, as the database writes their cells, and what asks for an expression of each."""

    people: list[Row]
    ask: Callable[[str], list[Any]]


def fitting(cell: Cell, kind: str) -> Cell:
    """Return a cell, or nothing where it is not of this type."""
    try:
        if cell is not None and kind in {"DATE", "TIMESTAMP"}:
            fits = len(cell) == 10 or (len(cell) == 19 and kind == "TIMESTAMP")
            return datetime.fromisoformat(cell).isoformat(" ")[: len(cell)] if fits else None
        return cell if cell is None or "CHAR" in kind or abs(float(cell)) < 1e5 else None
    except ValueError:
        return None


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    name, _, kind = request.param.partition(" of ")
    types, table = TYPES[kind], rows(CELLS, SPELT, *[UNREAD] * (kind == "texts"))
    if name == "postgres":
        connection: Any = pytest.importorskip("psycopg").connect(request.getfixturevalue("postgres") + "postgres")
    else:
        connection = sqlite3.connect(":memory:") if name == "sqlite" else duckdb.connect()
    quoted = ['"' + column.replace('"', '""') + '"' for column in NAMES]
    columns = ", ".join(map(" ".join, zip(quoted, types, strict=True)))
    connection.execute(f"CREATE TABLE people (place INTEGER, {columns})")
    marks = ", ".join(["%s" if name == "postgres" else "?"] * len(NAMES))
    people_at_once = ", ".join(f"({place}, {marks})" for place in range(len(table)))
    cells = [fitting(cell, kind) for row in table for cell, kind in zip(row, types, strict=True)]
    connection.execute(f"INSERT INTO people VALUES {people_at_once}", cells)

    def ask(text: str) -> list[Any]:
        return connection.execute(f"SELECT {text} FROM people ORDER BY place").fetchall()  # type: ignore[no-any-return]

    written = quoted if name == "sqlite" else [f"CAST({each} AS VARCHAR)" for each in quoted]
    people = [tuple(None if cell is None else str(cell) for cell in row) for row in ask(", ".join(written))]
    yield Database(people, ask)
    connection.close()


@pytest.mark.parametrize(("database", "kind"), few([*itertools.product(DATABASES, MODELS)], 9), indirect=["database"])
def test_sql_agrees_in_each_database_or_gives_nothing_where_it_says_so(database: Database, kind: str) -> None:
    model, people = MODELS[kind](), database.people
    read = (model.readings if isinstance(model, RuleList) else readings_of(model)).values()
    refused = {(NAMES.index(each.column), cell) for each in read for cell in UNREAD[NAMES.index(each.column)]}
    known = [not refused & {*enumerate(row)} for row in people]
    right, got = expected(model, people), [row[0] for row in database.ask(sql_of(model))]
    for each, label, sure in zip(got, right, known, strict=True):
        assert each == label or (each is None and not sure)
    assert all(known) or None in got
    of_classes = shares(model, people)
    if isinstance(model, Tree) and of_classes is not None:
        second = [row[1] if is_known else None for row, is_known in zip(of_classes, known, strict=True)]
        assert [each and float(str(each)) for (each,) in database.ask(sql_of(model, 1))] == pytest.approx(second)


READ = (
    ("<= -0.001", "(-0.001, 18]", "> 18", "missing"),
    ("<= 0.3", "(0.3, 12345678901234567]", "> 12345678901234567", "-1", "other"),
    ("0", "2.5", "True", "New York", "007", "1E5", "12345678901234567890", f"1{50 * '0'}", "other"),
    ("<= 2019-12-31", "(2019-12-31, 2020-02-29]", "> 2020-02-29", "2024-05-31"),
    ("2024-05-31", "2024-05-31T12:30:00", "09:30:00", "1 day", "{a | 3}"),
)  # fmt: skip
PARTS = (
    (*("", " ", "+", "-", "--", "1" * 9, "x", "New"), *map(str, range(10)), "2019-12-31", "2020-02-29", "1900-02-29"),
    (*("", "", "0", "18", "0.3", "2.5", "123456789012345678", "299", ".", "P1", "5.2024", "2024-05-31"), "/05/31"),
    (*("", "", ".", "e", "E+", "e-1", ".00", "-02-29", " 12:30:00", "T00:00:00", " 9:", " day", "  York"), 20 * "0"),
    (*("", "", "1", "12", "000", "30", ".5", "Z", "+02", "+02:00", " ", "s"), 13 * "0"),
)  # fmt: skip


@pytest.mark.parametrize("connect", [sqlite3.connect, duckdb.connect])
def test_sql_gives_any_cell_the_value_that_it_has_or_refuses_it(connect: Callable[[str], Any]) -> None:
    rng, connection = np.random.default_rng(4), connect(":memory:")
    cells = [
        "".join(each[k] for each, k in zip(PARTS, places, strict=True))
        for places in zip(*(rng.integers(0, len(each), at_most(3000)) for each in PARTS), strict=True)
    ]
    connection.execute("CREATE TABLE cells (place INTEGER, cell VARCHAR)")
    connection.executemany("INSERT INTO cells VALUES (?, ?)", [*enumerate(cells)])
    for values in READ:
        attribute = Attribute("alice", "cell", values, MissingCells(None, ("?", "-99")))
        model = NaiveBayes(
            Schema((attribute,), TARGET, ()), logarithm(np.ones(3) / 3), (logarithm(np.ones((len(values), 3)) / 3),)
        )
        asked = f"SELECT (SELECT v_0 FROM {cells_table(readings_of(model))}) FROM cells ORDER BY place"
        found = [row[0] for row in connection.execute(asked).fetchall()]
        codes = coded_rows(model, frame_of(Path("cells"), ["cell"], [cells]), [0]).codes[:, 0]
        right = [values[code] if code >= 0 else None for code in codes]
        assert [value for value in zip(cells, found, right, strict=True) if value[1] not in ("", value[2])] == []
        assert found.count("") < len(cells) / 2


@pytest.mark.skipif(shutil.which("java") is None, reason="the evaluator, which others have written, needs Java")
def test_pmml_fits_its_schema_and_agrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # it has little to do
    table = USUAL[: at_most(2 * ROWS)]
    rows_of_objects, path = pd.DataFrame(table, columns=NAMES, dtype=object), tmp_path / "model.pmml"
    with pytest.raises(InputError, match="PMML cannot say what then"):
        pmml_of(impossible())
    for model in (MODELS[kind]() for kind in few([kind for kind in MODELS if kind != "impossible bayes"], 2)):
        path.write_text(pmml_of(model), "utf-8")
        evaluator = jpmml_evaluator.make_evaluator(str(path), backend="jpype").verify()
        check_schema(path)
        found = evaluator.evaluateAll(rows_of_objects)
        target = "consequent" if isinstance(model, RuleList) else TARGET.name
        assert [None if pd.isna(each) else each for each in found[target]] == expected(model, table)
        known = shares(model, table)
        if known is not None:
            given = found[[f"P({value})" for value in TARGET.values]].to_numpy()
            assert given == pytest.approx(np.array(known), abs=1e-4 if isinstance(model, NaiveBayes) else 1e-9)


def check_schema(path: Path) -> None:
    """Check a document by the XSD of PMML 4.4, which the evaluator brings."""
    of, source = (
        jpype.JClass("javax.xml.validation.SchemaFactory"),
        jpype.JClass("javax.xml.transform.stream.StreamSource"),
    )
    xsd = source(jpype.JClass("org.dmg.pmml.PMML").class_.getResourceAsStream("/pmml.xsd"))
    of.newInstance("http://www.w3.org/2001/XMLSchema").newSchema(xsd).newValidator().validate(source(str(path)))


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_fits_its_json_schema_and_nothing_else_does(kind: str) -> None:
    model = MODELS[kind]()
    kept = model.found if isinstance(model, RuleList) else model
    kept = random_tree(1, kind, depth=2) if isinstance(kept, Tree) else kept  # each change is looked at in a whole tree
    checks = jsonschema.Draft202012Validator(json.loads(schema_of(kept)))
    content = json.loads(model_json(kept))
    checks.validate(content)
    for what, other in dict(spoilt(content)).items():
        assert not checks.is_valid(other), what


def test_the_json_schema_of_a_tree_knows_all_that_it_was_grown_under() -> None:
    found = json.loads(schema_of(random_tree(1, "values", depth=1)))
    assert [*found["properties"]["growth"]["properties"]] == [field.name for field in fields(Growth)]


MAY_LACK = {"ordered", "leaves", "weights"}
OF_ANY_LENGTH = [("sets",), ("items",), ("reached",), ("marks",), ("weights",), ("[]", "[]")]


def spoilt(part: Any, *keys: str) -> Iterator[tuple[object, Any]]:
    """Yield a content with each of its parts missing, another thing or one more, and what kind of change it is."""
    kind = keys[-2:]
    if isinstance(part, dict):
        yield (*kind, "more"), {**part, "more": 1}
        for key, value in part.items():
            if key not in MAY_LACK:
                yield (*kind, key, "none"), {name: each for name, each in part.items() if name != key}
            yield (*kind, key), {**part, key: {"x": 1}}
            yield from ((what, {**part, key: other}) for what, other in spoilt(value, *keys, key))
    elif isinstance(part, list) and part:
        if not any(keys[-len(each) :] == each for each in OF_ANY_LENGTH):
            yield (*kind, "fewer"), part[:-1]
            yield (*kind, "more"), [*part, part[-1]]
        for place, value in enumerate(part):
            others = [((*kind, "[]"), {"x": 1}), *spoilt(value, *keys, "[]")]
            yield from ((what, [*part[:place], other, *part[place + 1 :]]) for what, other in others)


def with_value(text: str) -> Tree:
    column = Attribute("alice", "city", ("Oslo", text))
    schema = Schema((column,), Attribute("", "outcome", ("bad", "good")), ())
    return Tree(schema, Split((), 0, (Leaf((), 0), Leaf((), 1))))


NAMED = ["'; DROP TABLE people; --", "'" * 3 + '"' * 3, "]]><evil/>", "&lt;", "${x} {{x}} %s", "*/ 1 /*", "\u202eabc"]


@pytest.mark.parametrize("text", NAMED)
def test_what_a_partner_names_a_value_is_a_text_and_nothing_more(text: str) -> None:
    model, cells = with_value(text), ["Oslo", text]
    if text.isprintable():
        found = sqlite3.connect(":memory:").execute(f"SELECT {sql_of(model)} FROM (SELECT ? AS city)", [text])
        assert found.fetchall() == [("good",)]
    score: dict[str, Any] = {}
    exec(python_of(model), score)
    assert [score["classify"](score["MODEL"], {"city": each})[0] for each in cells] == ["bad", "good"]
    written = ET.fromstring(pmml_of(model))  # our own
    assert [each.text for each in written.iter("{http://www.dmg.org/PMML-4_4}cell")] == [
        *dict.fromkeys((*cells, plain_text(text)))
    ]


def named_alike(partners: str, label: str = "outcome") -> Tree:
    """Return a tree that reads the partner's column, beside ours, which is called age."""
    columns = (Attribute("alice", "age", ("u", "v")), Attribute("bob", partners, ("u", "v")))
    schema = Schema(columns, Attribute("bob", label, ("bad", "good")), ("bob",))
    return Tree(schema, Split((), 1, (Leaf((), 0), Leaf((), 1))))


@pytest.mark.parametrize("theirs", ["years", "AGE", "\u00c1GE"])
def test_no_database_reads_our_column_for_one_that_the_partner_names_as_ours_in_other_letters(
    theirs: str, tmp_path: Path
) -> None:
    """The control is another name. DuckDB calls the second of two such columns otherwise, SQLite has no such table."""
    rows = tmp_path / "rows.csv"
    rows.write_text(f"age,{theirs}\nu,v\nv,u\n", "utf-8")
    from_file = duckdb.connect().execute(f"SELECT * FROM read_csv('{rows}')").description or []
    model = named_alike(theirs)
    if theirs == "AGE":
        assert [each[0] for each in from_file] != ["age", theirs]
        with pytest.raises(sqlite3.OperationalError, match="duplicate column name"):
            sqlite3.connect(":memory:").execute(f'CREATE TABLE rows (age, "{theirs}")')
        for alike in (model, named_alike("years", "YEARS"), named_alike("age", "BOB.age")):
            with pytest.raises(InputError, match=r"most databases take .* for one column: export it as python or pmml"):
                sql_of(alike)
    else:
        asked = f"SELECT {sql_of(model)} FROM"
        assert duckdb.connect().execute(f"{asked} read_csv('{rows}')").fetchall() == [("good",), ("bad",)]
        here = sqlite3.connect(":memory:")
        here.execute(f'CREATE TABLE rows (age, "{theirs}")')
        here.executemany("INSERT INTO rows VALUES (?, ?)", [("u", "v"), ("v", "u")])
        assert here.execute(f"{asked} rows").fetchall() == [("good",), ("bad",)]


REFUSED = [
    (
        with_value("a\\' OR 1=1 --"),
        ("--as", "sql"),
        "has a character that databases read in two ways: export it as python",
    ),
    (with_value("a\nb"), ("--as", "sql"), "has a character that databases read in two ways"),
    (with_value("a\x01b"), ("--as", "pmml"), "has a character that XML cannot hold: export it as python"),
    (with_value("x"), ("--as", "sql", "--ranked", "good"), "rows cannot be ranked: the model has classes alone"),
    (with_value("x"), ("--as", "pmml", "--ranked", "good"), "--ranked is for --as sql"),
    (random_tree(1, "values counts"), ("--as", "sql", "--ranked", "no"), "--ranked must be one of"),
    (random_bayes(1, 1.0), ("--as", "sql", "--ranked", "good"), "only a tree has shares in SQL"),
    (sets(counted=True).found, ("--as", "sql", "--ranked", "good"), "only a tree has shares in SQL"),
    (replace(sets(counted=False).found, reached=None), ("--as", "python"), "these sets have no counts"),
    (replace(sets(counted=True).found, kept=()), ("--as", "sql"), "no rule is sure enough to be exported"),
]


@pytest.mark.parametrize(("model", "asked", "why"), REFUSED)
def test_what_cannot_be_exported_is_refused_in_one_line(
    model: KeptResult, asked: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    (tmp_path / "m.json").write_text(model_json(model))
    out = tmp_path / "out"
    assert_one_line(cotally_here("export", tmp_path / "m.json", *asked, "-o", out), 2, why)
    assert not out.exists()


def test_the_command_writes_what_each_way_gives(tmp_path: Path) -> None:
    model = random_tree(1, "two-way tenths")
    (tmp_path / "m.json").write_text(model_json(model))
    for way, write in (("sql", sql_of), ("pmml", pmml_of), ("python", python_of), ("json-schema", schema_of)):
        words = ("export", tmp_path / "m.json", "--as", way)
        ended = cotally_here(*words)
        assert (ended.code, ended.out.rstrip()) == (0, write(model).rstrip())
        assert cotally_here(*words, "-o", tmp_path / way).code == 0
        assert (tmp_path / way).read_text("utf-8") == ended.out
        assert_one_line(cotally_here(*words, "-o", tmp_path / way), 2, "is there already")
