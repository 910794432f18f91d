"""A table by a query is the table that a file of the same cells is; what is wrong with one shows no cell."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from party.data import TableQuery, read_frame, read_share
from party.data.query import arrow_of
from party.errors import ConfigError, DataError
from party.node.inputs import load_inputs
from party.programs.party import Party
from party.settings.party import read_party_config
from tests.support.processes import cotally_here

CANARY = "canary-7731"
ROWS = [
    (f"p{k:03}", ("Bern", "Basel", "", "Uri")[k % 4], k % 50 - 3, f"2024-0{k % 6 + 1}-15", k % 3 == 0)
    for k in range(200)
]
HEAD = ("id", "city", "balance", "since", "outcome")
JOINED = """
SELECT p.id, city, income - debt AS balance, since, outcome
FROM 'people.parquet' p JOIN read_json('money.json') m ON p.id = m.id LEFT JOIN 'cities.csv' c ON c.id = p.id
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One table as a file, and in three; a table with a cell that nobody may see: to copy."""
    made = tmp_path_factory.mktemp("made")
    write(made / "joined.csv", HEAD, ROWS)
    write(made / "cities.csv", ("id", "city"), [row[:2] for row in ROWS if row[1]])
    write(made / "money.csv", ("id", "income", "debt"), [(row[0], row[2] + 7, 7) for row in ROWS])
    write(made / "people.csv", ("id", "since", "outcome"), [(row[0], *row[3:]) for row in reversed(ROWS)])
    for text in ("COPY (FROM 'people.csv') TO 'people.parquet'", "COPY (FROM 'money.csv') TO 'money.json'"):
        copy = text.replace("TO '", f"TO '{made}/")
        read_frame(TableQuery(made / "party.toml", f"{copy}; SELECT 1 AS done"))
    write(made / "bad.csv", ("id", "age", "note"), [("1", "31", "x"), ("2", CANARY, "x"), ("3", "4", "x")])
    (made / "nohead.csv").write_text(f"1,{CANARY}\n2,n\n3,n\n")
    for name in ("ragged", CANARY):
        (made / f"{name}.csv").write_text(f"id,age\n1,2\n2,3,{CANARY}\n")
    feigned = 'Column x is being converted as type y\n  file = z\nError when converting column "x". Could not'
    (made / "feigned.csv").write_text(f"id,age\n1,5\n2,'{feigned}'\n")
    return made


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, where DuckDB has no extension."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def write(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in (head, *rows)))


def settings(folder: Path, data: str) -> Path:
    text = f'name = "alice"\n[data]\n{data}\nid = "id"\nclass = "outcome"\n[node]\npeer = "bob"\n'
    (folder / "party.toml").write_text(text)
    return folder / "party.toml"


def test_a_query_that_joins_gives_the_share_of_the_joined_file(folder: Path) -> None:
    by_query, by_file = (
        read_share(source, "alice", "id", "outcome")
        for source in (TableQuery(folder / "party.toml", JOINED), folder / "joined.csv")
    )
    assert by_query.ids == by_file.ids
    assert (by_query.attributes, by_query.class_attribute) == (by_file.attributes, by_file.class_attribute)
    assert (by_query.table.codes == by_file.table.codes).all()


def test_a_party_checks_and_lists_as_with_the_file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    party = Party.create(tmp_path_factory.mktemp("party") / "alice", "alice", key_bits=2048)
    found = []
    for data in (f'query = """{JOINED}"""', 'file = "joined.csv"'):
        for path in folder.glob("*.*"):
            (party.config.folder / path.name).write_bytes(path.read_bytes())
        settings(party.config.folder, f'{data}\ndataset = "people"')
        ended = cotally_here("check", party.config.folder, "--json")
        assert ended.code == 0, ended.err
        local = load_inputs(read_party_config(party.config.path), 2048)
        found.append((ended.out, local.records, local.table.codes.tobytes()))
    assert found[0] == found[1]


KINDS = """SELECT TIME '10:00' AS a, true AS b, NULL AS c, 1.50::DECIMAL(5,2) AS d, sum(7) AS e, encode('é') AS f,
TIMESTAMP '2024-01-02 00:00:00' AS g, 'x'::ENUM('x','y') AS h, 1e20::DOUBLE AS i, 0.1::FLOAT AS j,
DATE '2024-01-02' AS k"""
READ = ["10:00:00", "True", None, "1.5", "7", "é", "2024-01-02", "x", "100000000000000000000", "0.1", "2024-01-02"]


def test_each_kind_of_cell_has_the_text_that_it_has_elsewhere(folder: Path) -> None:
    frame = read_frame(TableQuery(folder / "party.toml", KINDS))
    assert [frame.column(name).cells[0] for name in frame.columns] == READ


@pytest.mark.parametrize(("cell", "flaw"), [("[1, 2]", "lists or structures"), ("INTERVAL 1 MONTH", "intervals")])
def test_a_column_of_no_use_matters_only_where_it_is_used(folder: Path, cell: str, flaw: str) -> None:
    frame = read_frame(TableQuery(folder / "party.toml", f"SELECT 1 AS id, {cell} AS odd"))
    assert frame.column("id").cells == ["1"]
    with pytest.raises(DataError, match=f"column 'odd': it holds {flaw}.*: list it under ignore"):
        frame.column("odd")


RAGGED = "auto_detect = false, header = true, columns = {'id': 'INT', 'age': 'INT'}"
NO_HEAD = "read_csv('nohead.csv', header=true, types=['VARCHAR', 'INT'])"
CELL = "SET VARIABLE v = (SELECT age FROM 'bad.csv' LIMIT 1 OFFSET 1)"
FEIGNED = "SELECT * FROM read_csv('feigned.csv', quote = '''', delim = ',', header = true, types = {'age': 'INT'})"
REFUSED = [
    ("SELEC 1", r"the query in .*party\.toml: DuckDB cannot use it: syntax error at or near .*; mend it"),
    ("SELECT foo FROM 'bad.csv'", 'Referenced column "foo" not found'),
    ("SELECT * FROM nowhere", "Table with name nowhere does not exist"),
    ("SELECT * FROM folder", "Table with name folder does not exist"),  # a variable of Python is no table
    ("SELECT * FROM 'none.csv'", r"none\.csv is not there: relative paths begin in "),
    ("-- nothing", "it gives no table: let it end with a SELECT"),
    ("SELECT CAST(age AS INT) FROM 'bad.csv'", r"bad\.csv, line 3, column 'age': the line, or a cell"),
    ("SELECT CAST(upper(age) AS INT) AS a FROM 'bad.csv'", "a cell cannot be converted to the type that it asks for: "),
    ("SELECT * FROM read_csv('bad.csv', types={'age': 'INT'})", r"bad\.csv, line 3, column 'age': the line, or a cell"),
    (FEIGNED, r"feigned\.csv, line 3, column 'age': the line, or a cell"),
    (f"SELECT * FROM read_csv('ragged.csv', {RAGGED})", r"ragged\.csv, line 3: the line, or a cell in it"),
    (
        "SELECT * FROM read_csv('ragged.csv', delim = ';', columns = {'a': 'INT', 'b': 'INT'})",
        "cannot be seen: read it",
    ),
    (f"FROM {NO_HEAD}", r"nohead\.csv, line 2: the line, or a cell in it"),
    ("SELECT error(age) FROM 'bad.csv'", "DuckDB ended with InvalidInputException: run it in DuckDB"),
    ("SELECT * FROM 'x.xlsx'", "lacks its extension excel: begin with INSTALL excel; LOAD excel; to download it"),
    ("SELECT * FROM 'https://127.0.0.1/x.parquet'", "lacks its extension httpfs: begin with INSTALL httpfs"),
    ("ATTACH 'x.db' (TYPE sqlite); SELECT 1", "lacks its extension sqlite_scanner: begin with INSTALL sqlite"),
    ("SELECT p.foo FROM 'bad.csv' p", 'Table "p" does not have a column named "foo"; mend it'),
    ("SELECT nofun(id) FROM 'bad.csv'", "Scalar Function with name nofun does not exist; mend it"),
    ("SELECT foo FROM (PIVOT 'bad.csv' ON age USING count(*))", 'Referenced column "foo" not found'),
    (f"{CELL}; FROM query_table(getvariable('v'))", "DuckDB ended with CatalogException: run it in DuckDB"),
    (f"{CELL}; FROM query(getvariable('v'))", "DuckDB ended with ParserException: run it in DuckDB"),
    (f"{CELL}; FROM read_csv(getvariable('v'))", "a file is not there: relative paths"),
    (f"{CELL}; FROM read_csv(getvariable('v') || '.csv', {RAGGED})", "a file, line 3: the line, or a cell"),
    (f"{CELL}; SELECT error('\"INSTALL ' || getvariable('v')[:6] || '\"')", "DuckDB ended with InvalidInputException"),
    (f"ATTACH 'password={CANARY}' (TYPE postgres); SELECT 1", "lacks its extension postgres_scanner"),
    ("SELECT * FROM sqlite_scan('x.db', 't')", "lacks its extension sqlite_scanner: begin with INSTALL sqlite_scanner"),
    (f"SELECT * FROM postgres_scan('password={CANARY}', 'a', 'b')", "lacks its extension postgres: begin with INSTALL"),
    ("SELECT * FROM st_read('x.shp')", "lacks its extension spatial: begin with INSTALL spatial; LOAD spatial; to"),
    ("SET memory_limit = '5MB'; SELECT list(range) FROM range(1000000)", "DuckDB needs more memory than it has: read"),
    ("ATTACH '/nowhere/x.db' AS d; SELECT 1", "x.db is not there: .* that of a database must be whole"),
    (
        f"ATTACH '/nowhere/{CANARY}.db' AS d (READ_ONLY); SELECT 1",
        "cannot read a file, or reach a database: look at",
    ),
]


def test_what_a_query_cannot_do_is_said_in_one_line_without_a_cell(folder: Path) -> None:
    for text, why in REFUSED:
        with pytest.raises(DataError, match=why) as caught:
            read_frame(TableQuery(folder / "party.toml", text))
        assert CANARY[:6] not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_without_the_extra_one_line_names_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(DataError, match=r"a query needs DuckDB: pip install '\.\[sql\]' in .*to an image, add duckdb"):
        read_frame(TableQuery(folder / "party.toml", "SELECT 1"))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", r"\[data\] file: is missing: name a table"),
        ('file = "a.csv"\nquery = "SELECT 1"\ndataset = "d"', "goes with no query: keep one"),
        ('query = "SELECT 1"', r"\[data\] dataset: is missing: name the data set"),
        ('query = "SELECT 1"\ndataset = "d"\nseparator = ";"', r"\[data\] separator: is of a file, not of a query"),
        ('query = "SELECT 1"\ndataset = "d"\nencoding = "cp1252"', r"\[data\] encoding: is of a file"),
    ],
)
def test_a_party_has_a_file_or_a_query(tmp_path: Path, data: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        read_party_config(settings(tmp_path, data))


def test_a_file_of_the_same_name_where_the_command_runs_is_not_read_in_its_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    for name in ("'cities.csv'", '"cities.csv"', "'cit*.csv'"):
        query = TableQuery(folder / "party.toml", f"SELECT id FROM {name} WHERE id = 'p000'")
        monkeypatch.chdir(elsewhere)
        assert arrow_of(query).num_rows == 1
        write(elsewhere / "cities.csv", ("id", "city"), [("p000", "Rome")] * 2)
        with pytest.raises(DataError, match=r"c.*\.csv is also a file here: write its whole path"):
            arrow_of(query)
        assert duckdb.execute(query.text).fetchall() == [("p000",)] * 2  # the control: it is what DuckDB would take
        monkeypatch.chdir(folder)
        assert arrow_of(query).num_rows == 1
        (elsewhere / "cities.csv").unlink()


def test_duckdb_writes_nothing_that_a_kill_would_leave_nor_on_the_screen(folder: Path) -> None:
    text = "SELECT current_setting('temp_directory') AS a, current_setting('enable_progress_bar') AS b"
    assert arrow_of(TableQuery(folder / "party.toml", text)).to_pylist() == [{"a": "", "b": False}]
    assert duckdb.execute(text).fetchall()[0][
        0
    ]  # the control: by itself it would use a folder of the working directory


def test_what_an_extension_raises_beside_duckdbs_own_errors_is_one_line_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of SQLite does of a file that is none: its words hold names, and it is no error of DuckDB's Python."""

    def connect(**_: object) -> object:
        raise RuntimeError(f'Unable to open database "{CANARY}"')

    monkeypatch.setattr(duckdb, "connect", connect)
    with pytest.raises(DataError, match="DuckDB cannot open a database: write its whole path") as caught:
        arrow_of(TableQuery(folder / "party.toml", "SELECT 1"))
    assert CANARY not in str(caught.value)
