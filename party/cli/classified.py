"""Rows with their classes, written as a table with more columns."""

import argparse
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from party.cli.outputs import settle_outputs
from party.data import Frame, check_table_name, name_flaw, write_table
from party.data.writer import Cell, table_text
from party.errors import DataError
from party.files import is_there
from party.show.prediction import classes_written
from party.show.screen import note_all, say
from protocols.errors import InputError
from protocols.tables.arrays import Floats
from protocols.tables.schema import Attribute


@dataclass(frozen=True, eq=False, repr=False)
class Classified:
    """The rows of a file in its order, the class of each and, where asked for, the share of each class.

    A row that was not classified has an empty class, and shares that are no numbers.
    """

    frame: Frame
    target: Attribute
    labels: Sequence[str]
    shares: Floats | None = None

    def table(self, column: str) -> tuple[tuple[str, ...], list[Sequence[Cell]]]:
        """Return names and cells of the columns, the class under this name."""
        shares: list[list[float]] = [] if self.shares is None else self.shares.T.tolist()
        known = [[None if isnan(each) else each for each in column] for column in shares]
        names = new_columns(self.frame, column, self.target, probabilities=self.shares is not None)
        return names, [*self.frame.cells, self.labels, *known]


def new_columns(frame: Frame, column: str, target: Attribute, *, probabilities: bool) -> tuple[str, ...]:
    """Return the columns of a file and those that are added.

    Raises:
        InputError: The name cannot be one.
        DataError: The file has a column of such a name already.
    """
    flaw = name_flaw(column)
    if flaw is not None:
        raise InputError(f"--column: the name {flaw}")
    added = (column, *(f"P({value})" for value in target.values if probabilities))
    for name in added:
        if name in frame.columns or added.count(name) > 1:
            cure = "choose another with --column" if name == column else "rename it"
            problem = f"the file has a column of this name already: {cure}"
            raise DataError(problem, path=frame.path, column=name)
    return (*frame.columns, *added)


def check_written(arguments: argparse.Namespace, frame: Frame, target: Attribute, reads: Sequence[Path]) -> None:
    """Make sure, before the work, that the rows can be written where the command's arguments say.

    Raises:
        InputError: They cannot, or would destroy what is read, or a file that is there.
    """
    new_columns(frame, arguments.column, target, probabilities=arguments.probabilities)
    settle_outputs([arguments.output], reads, overwrite=arguments.overwrite)
    check_table_name(arguments.output)


def write_classified(output: Path | None, column: str, classified: Classified, notes: Sequence[str]) -> None:
    """Write the rows to a file, or to the standard output, and say what their reader should know.

    Raises:
        InputError: They cannot be written.
    """
    names, cells = classified.table(column)
    if output is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="surrogateescape")  # bytes that are no text are written as they were read
        sys.stdout.write(table_text(names, cells, _text))
        sys.stdout.flush()  # what cannot be written has nothing to be said about
        note_all(notes)
        return
    replaced = is_there(output)
    write_table(output, names, cells, _text)
    note_all(notes)
    say(classes_written(output, len(classified.frame), replaced=replaced), sys.stderr)


def _text(share: float) -> str:
    return f"{share:.6f}"
