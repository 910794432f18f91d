"""Every declared key of `party.toml` and `survey.toml`: its range, and how texts, ids and domains are read."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from party.data import Column
from party.data.cells import Cells
from party.data.ids import LAST, REFUSE
from party.errors import ConfigError
from party.settings.collector import CLOSE, SERVER, STORE, SURVEY, read_collector_settings
from party.settings.domains import Domain
from party.settings.party import (
    COMPUTE,
    DATA,
    DISGUISE,
    NODE,
    PREDICT,
    TREATMENT,
    USUAL_AGREE,
    PartyConfig,
    read_party_config,
)
from party.settings.toml import BLANKS, REQUIRED, Declared, Key, Read, Section, keys_of, read_toml, toml_value
from protocols.identifiers import USUAL_FORM, Spelling
from protocols.tables import NO_ANSWER
from protocols.terms import KEY_BITS, KEY_FLOOR
from tests.support.collecting import RELATED
from tests.support.kinds import beyond, within

AGREE = keys_of(USUAL_AGREE) | {"smallest_key_bits": Key(replace(KEY_BITS, low=KEY_FLOOR))}
PARTY: dict[str, Declared] = {
    "data": DATA, "columns.age": TREATMENT, "disguise": DISGUISE, "agree": AGREE, "node": NODE, "predict": PREDICT,
    "compute": COMPUTE,
}  # fmt: skip
SURVEYS: dict[str, Declared] = {"": SURVEY, "server": SERVER, "store": STORE, "close": CLOSE}
BESIDE = {
    "group": "max_values = 4\n", "noise": "epsilon = 1\n", "certificate": 'key = "k"\n', "key": 'certificate = "c"\n',
    "query": 'dataset = "d"\n',
}  # fmt: skip


def read(folder: Path, section: str, key: str, text: str | None) -> Any:
    """Read a file that has this key, and what it needs beside it; without the key if the text is None."""
    tables = {"": {"name": '"alice"'}, "data": {"file": '"data.csv"', "id": '"id"'}}
    if section not in PARTY:
        tables = {"": {"title": '"T"'}}
    if key == "query":
        del tables["data"]["file"]
    tables.setdefault(section, {})[key] = text or ""
    content = ""
    for table, keys in tables.items():
        content += (f"[{table}]\n" if table else "") + "".join(f"{k} = {v}\n" for k, v in keys.items() if v)
        content += BESIDE.get(key, "") if table == section else ""
    (folder / "party.toml").write_text(content)
    (folder / "design.toml").write_text(RELATED)
    return (read_party_config if section in PARTY else read_collector_settings)(folder / "party.toml")


def wrong(key: Key) -> Iterator[str | None]:
    """Yield what is below, above and beside a key's range, as TOML has it; None where it may not be missing."""
    if isinstance(key.kind, Read):
        yield "true"
    else:
        for value, _ in beyond(key.kind):
            if value is not None:
                yield f'"{value}"' if isinstance(value, float | str) else toml_value(key.kind, value)
    if key.usual is REQUIRED:
        yield None


def test_each_key_is_refused_below_and_above_its_range_and_read_at_both_ends(tmp_path: Path) -> None:
    for section, keys in (PARTY | SURVEYS).items():
        place = rf"\[{section}\] " if section else ""
        for name, key in keys.items():
            for text in wrong(key):
                with pytest.raises(ConfigError, match=rf"\.toml: {place}{name}: "):
                    read(tmp_path, section, name, text)
            for value in () if isinstance(key.kind, Read) else within(key.kind):
                config = read(tmp_path, section, name, toml_value(key.kind, value))
                assert section != "agree" or keys_of(config.agree)[name].usual == value
            if key.sample:
                read(tmp_path, section, name, key.sample)


JOB, TOML_PARTY, TOML_SURVEY, DESIGN = (
    "the terms of a run (job.toml)",
    "the settings of a party (party.toml)",
    "a survey (survey.toml)",
    "a design (design.toml)",
)


@pytest.mark.parametrize("control", ["\\u0000", "\\u001b[2J", "\\u007f", "\\u0085"])
def test_what_moves_the_cursor_of_a_reader_is_no_name_and_no_text(tmp_path: Path, control: str) -> None:
    path = tmp_path / "any.toml"
    asked: list[tuple[str, Callable[[Section], object]]] = [
        (f'[columns]\n"a{control}" = 1', lambda top: top.section("columns", None)),
        (f'class = "a{control}"', lambda top: top.text("class", controls=BLANKS)),
    ]
    for content, read in asked:
        path.write_text(content)
        with pytest.raises(ConfigError, match=r"any\.toml: .*holds a control character") as refused:
            read(read_toml(path, None))
        assert str(refused.value).isprintable()


def test_blanks_that_end_a_line_stand_in_texts_for_people_and_names_of_columns_alone(tmp_path: Path) -> None:
    path = tmp_path / "any.toml"
    path.write_text('"a\\nb" = 1\ntext = "a\\nb"')
    top = read_toml(path, None)
    assert (top.names[0], top.text("text", controls=BLANKS)) == ("a\nb", "a\nb")
    with pytest.raises(ConfigError, match="text: holds a control character"):
        top.text("text")


def test_a_file_of_no_other_kind_may_lack_its_key(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text("theta = 1")
    assert read_toml(path, ("kind", "theta")).names == ("theta",)
    path = tmp_path / "some.toml"
    path.write_text('kind = "related"\ntitle = "Habits"')
    with pytest.raises(ConfigError, match="title: unknown key"):
        read_toml(path, ("kind", "theta"))


def config(folder: Path, data: str = 'id = "id"', agree: str = "") -> PartyConfig:
    path = folder / "party.toml"
    path.write_text(f'name = "alice"\n[data]\nfile = "t.csv"\n{data}\n[agree]\n{agree}\n')
    return read_party_config(path)


def test_ids_columns_and_spellings_can_be_declared(tmp_path: Path) -> None:
    ids = config(tmp_path).data.ids
    assert (ids.names, ids.form, ids.repeated) == (("id",), USUAL_FORM, REFUSE)
    bounds = config(tmp_path).agree.alignments
    assert (bounds.least_overlap, bounds.most_ids, bounds.most_alignments) == (Fraction(1, 10), 1_000_000, 3)
    data = 'id = ["name", "birth"]\nid_alike = ["zeros", "case"]\nrepeated = "last"'
    found = config(tmp_path, data, 'least_overlap = "1/2"\nmost_ids = 5\nmost_alignments = 0')
    ids, bounds = found.data.ids, found.agree.alignments
    assert (ids.names, ids.form.columns, ids.repeated) == (("name", "birth"), 2, LAST)
    assert ids.form.alike == {Spelling.CASE, Spelling.ZEROS}
    assert (bounds.least_overlap, bounds.most_ids, bounds.most_alignments) == (Fraction(1, 2), 5, 0)


def test_what_is_out_of_range_is_named(tmp_path: Path) -> None:
    for data, agree, named in [
        ("id = []", "", "id"),
        ("id = 3", "", "id"),
        ('id = ["a", "a"]', "", "id"),
        ('id = "id"\nid_alike = ["sound"]', "", "id_alike"),
        ('id = "id"\nrepeated = "all"', "", "repeated"),
        ('id = ["a", "b"]\nignore = ["b"]', "", "ignore"),
        ('id = ["a", "b"]\nclass = "b"', "", "class"),
        ('id = "id"\nitems = "id"', "", "items"),
        ('id = "id"\nitems = "bought"\nrepeated = "last"', "", "repeated"),
    ]:
        with pytest.raises(ConfigError, match=rf"\[(data|agree)\] {named}: "):
            config(tmp_path, data, agree)


NAMES = ("no", "yes")
BINS = ("<= 40", "> 40")


def column(*cells: str | None) -> Column:
    return Column("asked", Cells.of(cells), Path("data.csv"), range(2, 2 + len(cells)))


def test_a_cell_has_the_code_of_its_value_or_of_no_answer() -> None:
    for domain, may_be in (
        (Domain(NAMES), True),
        (Domain(NAMES, missing="no"), False),
        (Domain(NAMES, complete=True), False),
    ):
        assert domain.may_be_missing is may_be
    assert list(Domain(NAMES).codes(column("yes", None, "no"))) == [1, NO_ANSWER, 0]
    assert list(Domain(NAMES, missing="yes").codes(column("no", None))) == [0, 1]
    assert list(Domain(BINS, (Decimal(40),)).codes(column("41", "40", "> 40"))) == [1, 0, 1]
