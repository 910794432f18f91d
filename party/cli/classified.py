"""Rows with their classes, written as a table with more columns."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from party.cli.outputs import settle_outputs
from party.data import Frame, csv_text, name_flaw
from party.errors import DataError
from party.files import is_there, write_atomically
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

    def text(self, column: str) -> str:
        """Write the rows, their class under this name."""
        cells = [*self.frame.cells, self.labels]
        if self.shares is not None:
            cells += [["" if isnan(each) else f"{each:.6f}" for each in column] for column in self.shares.T.tolist()]
        names = new_columns(self.frame, column, self.target, probabilities=self.shares is not None)
        return csv_text(names, zip(*cells, strict=True))


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


def write_classified(output: Path | None, column: str, classified: Classified, notes: Sequence[str]) -> None:
    """Write the rows to a file, or to the standard output, and say what their reader should know.

    Raises:
        InputError: They cannot be written.
    """
    text = classified.text(column)
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()  # what cannot be written has nothing to be said about
        note_all(notes)
        return
    replaced = is_there(output)
    write_atomically(output, text)
    note_all(notes)
    say(classes_written(output, len(classified.frame), replaced=replaced), sys.stderr)
