"""Questions of a new survey: from the columns of a table, or as they are typed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from party.data import Frame
from party.data.bins import SMALLEST_VALUE, bin_labels, edges_of, number
from party.data.cells import Cells
from party.data.columns import OTHER
from party.data.numbers import SortedNumbers
from party.errors import DataError
from party.files import is_there, write_atomically
from party.settings.collector import read_collector_settings
from party.settings.collector_template import DraftQuestion, draft_design, draft_survey
from protocols.errors import InputError

SETTINGS_FILE, DESIGN_FILE_NAME = "survey.toml", "design.toml"
_MOST_VALUES = 12


def questions_of_table(frame: Frame, names: Sequence[str] = ()) -> list[DraftQuestion]:
    """Return a question per column: its values, or rounded quartiles of many numbers; what few hold is "other"."""
    return [_question_of_column(frame, name) for name in names or frame.columns]


def _question_of_column(frame: Frame, name: str) -> DraftQuestion:
    frame.need(name)
    cells = [cell for cell in frame.column(name).cells if cell is not None]
    values = sorted(set(cells))
    numbers = [number(value) for value in values]
    known = [each for each in numbers if each is not None]
    if 2 <= len(values) <= _MOST_VALUES:
        by_number = len(known) == len(values)
        order = [value for _, value in sorted(zip(known, values, strict=True))] if by_number else values
        named = [value for value in order if cells.count(value) >= SMALLEST_VALUE and value != OTHER]
        if not named:
            cure = "name the answers yourself, or bring a larger pilot"
            raise DataError(f"fewer than {SMALLEST_VALUE} rows hold each value: {cure}", path=frame.path, column=name)
        return DraftQuestion(name, f"{name}?", (*named, *([OTHER] if len(named) < len(order) else [])))
    if len(known) < len(values) or not values:
        raise DataError(
            f"it has {len(values)} values, and a question 2 to {_MOST_VALUES}: leave it out, or merge values",
            path=frame.path,
            column=name,
        )
    held = SortedNumbers.of(Counter(each for each in map(number, cells) if each is not None))
    edges = edges_of("quantiles:4", held, SMALLEST_VALUE)
    return DraftQuestion(name, f"{name}?", bin_labels(edges), tuple(f"{edge:f}" for edge in edges))


def pilot_of(frame: Frame, questions: Sequence[DraftQuestion]) -> Frame:
    """Return the table with "other" in place of the texts that its questions do not name."""
    cells = dict(zip(frame.columns, frame.cells, strict=True))
    for each in questions:
        if each.values[-1] == OTHER:
            named = {None, *each.values}
            texts = frame.column(each.name, each.values).cells
            cells[each.name] = Cells.of(text if text in named else OTHER for text in texts)
    return replace(frame, cells=tuple(cells.values()))


def typed_question(text: str, position: int) -> DraftQuestion:
    """Read a question as it is typed: `Do you smoke? = yes, no`."""
    question, _, listed = text.rpartition("=")
    answers = tuple(answer.strip() for answer in listed.split(","))
    if not question.strip() or len(answers) < 2 or not all(answers) or len(set(answers)) < len(answers):
        raise InputError(f"question {position} must be a text, = and two answers or more: 'Do you smoke? = yes, no'")
    return DraftQuestion(f"q{position}", question.strip(), answers)


def write_survey(folder: Path, title: str, questions: Sequence[DraftQuestion], kind: str, theta: str) -> None:
    """Write settings and design into a folder, which is made if it is not there, and read them back."""
    contents = {DESIGN_FILE_NAME: draft_design(questions, kind, theta), SETTINGS_FILE: draft_survey(title, questions)}
    for name in contents:
        if is_there(folder / name):
            raise InputError(f"{folder / name} exists and is kept: choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or 'output error'}") from None
    try:
        for name, content in contents.items():
            write_atomically(folder / name, content)
        read_collector_settings(folder / SETTINGS_FILE)
    except InputError:
        for name in contents:
            (folder / name).unlink(missing_ok=True)
        raise
