"""What is told of a file that is not the one of settings that is wanted here."""

from collections.abc import Callable
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.settings.toml import BLANKS, Section, read_toml

JOB, PARTY, SURVEY, DESIGN = (
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
