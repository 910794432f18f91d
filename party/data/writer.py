"""Write a table as CSV that the reader reads back as it was."""

import csv
from collections.abc import Iterable, Sequence

from party.data.form import SEPARATORS

BOM = "\ufeff"


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str | None]]) -> str:
    r"""Return a table as CSV whose lines end in LF; a cell with a carriage return stands in quotes, as RFC 4180 has it.

    >>> csv_text(["a", "b"], [["x", None], ["\r", "y"]])
    'a,b\nx,\n"\r",y\n'
    """
    lines = _Lines()
    # NB: csv.writer quotes what its end of line holds, and no other control character
    writer = csv.writer(lines, lineterminator="\r\n")
    header = csv.writer(lines, lineterminator="\r\n", quoting=csv.QUOTE_ALL) if _is_mistakable(columns) else writer
    header.writerow(columns)
    writer.writerows(rows)
    text = "".join(lines.ended)
    return BOM + text if text.startswith(BOM) else text  # a reader takes the first one for the mark of the file


def _is_mistakable(columns: Sequence[str]) -> bool:
    """Tell whether a header could be taken for one with another separator, or for none."""
    return any(mark in name for name in columns for mark in SEPARATORS) or columns[0].startswith("sep=")


class _Lines:
    """Takes rows, one per call, and ends them in LF."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def write(self, row: str) -> None:
        """Take a row that ends in CRLF."""
        self.ended.append(row[:-2] + "\n")
