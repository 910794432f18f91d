#!/usr/bin/env python
"""Every number that a page gives for a cost or a quality, what remakes it, and whether it still holds.

They stand in `claims.toml`: a run is a script with its arguments, a claim the words of a page, the fields of the run's
results that its numbers are (`-`: a number that says what was run), and the row that they stand in. What was measured
must be as near to what the page says as its kind allows (`FACTORS`). Time is of two quiet cores of a common server: run
this on an idle machine. Runs "by hand" need what is not here; those of `kept` results, an hour.
"""

import argparse
import csv
import json
import re
import shlex
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

WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}
NUMBER = re.compile(rf"(?<![\w.^/])(?:\d[\d,]*(?:\.\d+)?|\.\d+)|\b(?:{'|'.join(WORDS)})\b")
FACTORS = (("second|processor|minutes|percent", 2.0), ("memory", 1.5), ("", 1.25))
"""How many times as much as a page says a figure may be, or as little, by the first pattern that its name has."""
QUALITY = re.compile("accuracy|auc")
NEAR = 0.02


@dataclass(frozen=True)
class Claim:
    """What a page says, and where in a run's results its numbers stand.

    Args:
        page: The file, from the top folder.
        says: The words in it.
        figures: A field for each number of the words, such as `bytes / 1000`; `-` where it says what was run.
        row: Fields that tell the row of the results.
    """

    page: str
    says: str
    figures: Sequence[str] = ()
    row: Mapping[str, str] | None = None

    def said(self) -> list[tuple[str, float]]:
        """Return the fields, each with the number that the page has for it.

        Raises:
            SystemExit: There are more numbers than fields, or fewer.
        """
        numbers = [WORDS.get(text) or float(text.replace(",", "")) for text in NUMBER.findall(self.says)]
        if len(numbers) != len(self.figures):
            raise SystemExit(f"{self.page}: {self.says!r} has {len(numbers)} numbers and {len(self.figures)} fields")
        return [(name, number) for name, number in zip(self.figures, numbers, strict=True) if name != "-"]

    def measured(self, rows: Sequence[Row]) -> list[float]:
        """Return the figures of a run.

        Raises:
            SystemExit: There is no such row, or more than one.
        """
        wanted = self.row or {}
        found = [row for row in rows if all(str(row.get(name)) == value for name, value in wanted.items())]
        if len(found) != 1:
            raise SystemExit(f"{self.page}: {self.says!r}: {len(found)} rows have {dict(wanted)}, not one")
        values = []
        for field, _ in self.said():
            name, _, scale = field.partition("/")
            values.append(float(found[0][name.strip()]) / float(scale or 1))
        return values

    def holds(self, values: Sequence[float], *, exactly: bool) -> bool:
        """Tell whether figures are as near to what the page says as their kind allows, or as its digits do."""
        return all(
            self._is_near(name, said, value, exactly=exactly)
            for (name, said), value in zip(self.said(), values, strict=True)
        )

    def _is_near(self, name: str, said: float, value: float, *, exactly: bool) -> bool:
        if exactly:
            digits = max(len(text.partition(".")[2]) for text in NUMBER.findall(self.says))
            return abs(value - said) <= 0.5 * 10.0**-digits + 1e-9
        if QUALITY.search(name):
            return abs(value - said) <= NEAR
        factor = next(factor for pattern, factor in FACTORS if re.search(pattern, name))
        return (value >= said / factor or "under" in self.says) and value <= said * factor


@dataclass(frozen=True)
class Run:
    """What gives numbers.

    Args:
        command: A script under `scripts/`, with its arguments.
        claims: What it bears out.
        kept: The file that holds its results, where they are kept.
        by_hand: Since when the numbers stand, and why nobody but a person remakes them.
    """

    command: str
    claims: Sequence[Claim]
    kept: str = ""
    by_hand: str = ""

    def rows(self) -> list[Row]:
        """Return the results: those that are kept, or of a run made now."""
        if self.kept:
            with (ROOT / "scripts" / self.kept).open(newline="") as file:
                return list(csv.DictReader(file))
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.json"
            script, *words = shlex.split(self.command)
            command = [sys.executable, str(ROOT / "scripts" / script), *words, "--out", str(out)]
            done = subprocess.run(command, check=False, capture_output=True)
            if not out.exists():  # a benchmark may end with an error where its own target is missed
                raise SystemExit(f"{self.command} gave no results: {done.stderr.decode()[-500:]}")
            rows: list[Row] = json.loads(out.read_text())["rows"]
            return rows


@dataclass(frozen=True)
class Claims:
    """All that pages say: by runs, by tests of the suite, and what is no result, by its reason."""

    runs: Mapping[str, Run]
    tests: Mapping[str, Sequence[Claim]]
    known: Mapping[str, Sequence[Claim]]

    def all(self) -> list[Claim]:
        """Return every claim."""
        groups = [*(run.claims for run in self.runs.values()), *self.tests.values(), *self.known.values()]
        return [claim for group in groups for claim in group]


def read_claims(path: Path = HERE / "claims.toml") -> Claims:
    """Return what `claims.toml` says."""
    content = tomllib.loads(path.read_text("utf-8"))
    tests, known = (
        {name: [_claim(*row) for row in rows] for name, rows in content.pop(kind).items()}
        for kind in ("tests", "known")
    )
    runs = {
        name: Run(**{**table, "claims": [_claim(*row) for row in table["claims"]]}) for name, table in content.items()
    }
    return Claims(runs, tests, known)


def _claim(page: str, says: str, figures: str = "", row: str = "") -> Claim:
    fields = dict(each.split("=", 1) for each in row.split("; ") if each)
    return Claim(page, says, [each.strip() for each in figures.split(",") if each], fields)


def judged(run: Run, rows: Sequence[Row]) -> list[tuple[str, str, str, str]]:
    """Return page, words, figures and verdict for each claim of a run."""
    lines = []
    for claim in run.claims:
        values = claim.measured(rows)
        verdict = "yes" if claim.holds(values, exactly=bool(run.kept)) else "NO"
        lines.append((claim.page, claim.says, ", ".join(f"{value:.4g}" for value in values), verdict))
    return lines


def listed(claims: Claims) -> list[str]:
    """Return a line per run, test and reason, and under it one per claim."""
    heads: list[tuple[str, Sequence[Claim]]] = []
    for name, run in claims.runs.items():
        how = f", by hand ({run.by_hand})" if run.by_hand else f", kept in {run.kept}" if run.kept else ""
        heads.append((f"{name}: scripts/{run.command}{how}", run.claims))
    heads += [(f"test: {name}", group) for name, group in claims.tests.items()]
    heads += [(f"no result: {reason}", group) for reason, group in claims.known.items()]
    return [line for head, group in heads for line in (head, *(f"    {each.page}: {each.says}" for each in group))]


def main() -> int:
    claims = read_claims()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name each number and what remakes it, and run nothing")
    parser.add_argument(
        "--only", action="append", choices=claims.runs, metavar="RUN", help="only this; may be repeated"
    )
    arguments = parser.parse_args()
    if arguments.list:
        print(*listed(claims), sep="\n")
        return 0
    good = True
    print("page | says | measured | holds")
    for name in arguments.only or claims.runs:
        run = claims.runs[name]
        print(f"{name}: scripts/{run.command} ...", file=sys.stderr, flush=True)
        lines = [(each.page, each.says, "", f"by hand: {run.by_hand}") for each in run.claims]
        if not run.by_hand:
            lines = judged(run, run.rows())
        good &= all(verdict != "NO" for *_, verdict in lines)
        print(*map(" | ".join, lines), sep="\n", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
