#!/usr/bin/env python
"""Every number that a page gives for a cost, the run that gave it, and the range in which a rerun must fall.

They stand in `claims.toml`. A run is a benchmark with its arguments; a claim picks one row of its results. Seconds
depend on the machine: their ranges are wide, and hold for two quiet cores of a common server. Bytes and ratios are
narrow.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """What a page says, and what a rerun must give.

    Args:
        page: The file, from the top folder.
        text: The words in it.
        run: A name among the runs.
        row: Fields that tell the row of the results.
        beside: Fields of the row that figures are divided by; none where they are taken as they are.
        figures: The least and the most that each figure may be.
    """

    page: str
    text: str
    run: str
    row: Mapping[str, object]
    figures: Mapping[str, Sequence[float]]
    beside: Mapping[str, object] | None = None

    def measured(self, rows: Sequence[Row]) -> dict[str, float]:
        """Return the figures of a rerun.

        Raises:
            SystemExit: There is no such row, or more than one.
        """
        row = _only(rows, self.row)
        other = None if self.beside is None else _only(rows, self.beside)
        return {name: row[name] / (1 if other is None else other[name]) for name in self.figures}


def _only(rows: Sequence[Row], fields: Mapping[str, object]) -> Row:
    found = [row for row in rows if all(row.get(name) == value for name, value in fields.items())]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} rows have {dict(fields)}, not one")
    return found[0]


def read_claims(path: Path = HERE / "claims.toml") -> tuple[dict[str, list[str]], list[Claim]]:
    """Return the runs by name, and the claims."""
    content = tomllib.loads(path.read_text())
    return content["runs"], [Claim(**claim) for claim in content["claim"]]


def judge(claim: Claim, rows: Sequence[Row]) -> tuple[list[str], bool]:
    """Return a line per figure of a claim, and whether all are in their ranges."""
    lines, holds = [], True
    for name, value in claim.measured(rows).items():
        least, most = claim.figures[name]
        inside = least <= value <= most
        holds &= inside
        said = "holds" if inside else "FAILS"
        lines.append(f"{said}  {claim.page}: {claim.text!r}: {name} {value:.4g}, to be {least:g} to {most:g}")
    return lines, holds


def rerun(command: Sequence[str]) -> list[Row]:
    """Run a benchmark, and return its rows."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        script = HERE / command[0]
        done = subprocess.run([sys.executable, script, *command[1:], "--out", out], check=False, capture_output=True)
        if not out.exists():  # a benchmark may end with an error where its own target is missed
            raise SystemExit(f"{' '.join(command)} gave no results: {done.stderr.decode()[-500:]}")
        rows: list[Row] = json.loads(out.read_text())["rows"]
        return rows


def listed(runs: Mapping[str, Sequence[str]], claims: Sequence[Claim]) -> list[str]:
    """Return a line per run, with its command, and one per claim that it bears out."""
    lines = []
    for name, command in runs.items():
        lines.append(f"{name}: {' '.join(command)}")
        for claim in claims:
            if claim.run == name:
                ranges = (f"{figure} {least:g} to {most:g}" for figure, (least, most) in claim.figures.items())
                lines.append(f"    {claim.page}: {claim.text!r}: {', '.join(ranges)}")
    return lines


def main() -> int:
    runs, claims = read_claims()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="tell runs and claims, and run nothing")
    parser.add_argument("--only", action="append", choices=runs, metavar="RUN", help="only this one; may be repeated")
    arguments = parser.parse_args()
    if arguments.list:
        print(*listed(runs, claims), sep="\n")
        return 0
    good = True
    for name in arguments.only or runs:
        print(f"{name}: {' '.join(runs[name])} ...", file=sys.stderr, flush=True)
        rows = rerun(runs[name])
        for claim in claims:
            if claim.run == name:
                lines, holds = judge(claim, rows)
                good &= holds
                print(*lines, sep="\n", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
