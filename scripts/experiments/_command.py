"""The command line of every experiment: measure what is missing, write the CSV, draw."""

import argparse
import csv
import multiprocessing
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from _figure import FOLDER, QUICK_FOLDER, Figure, Line, run_sweep, summarize


def write_csv(lines: Sequence[Line], path: Path) -> None:
    statistics = ["mean", "variance", "deviation", "repetitions", "seed", "version", "parameters"]
    heads = list(dict.fromkeys(key for line in lines for key in line if key not in statistics))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*heads, *statistics])
        for line in lines:
            writer.writerow([_text(line.get(head)) for head in (*heads, *statistics)])


def _text(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def make(figure: Figure, folder: Path, workers: int) -> list[Line]:
    """Measure, write the CSV, draw (if matplotlib is there), and return the lines."""
    lines = [
        line
        for sweep in figure.sweeps
        for line in summarize(sweep, run_sweep(sweep, folder, workers))
        if figure.where(line)
    ]
    table = folder / "results" / f"{figure.name}.csv"
    write_csv(lines, table)
    print(f"Wrote {table}", file=sys.stderr)
    try:
        from _plot import draw  # noqa: PLC0415  # an extra; without it there are numbers alone
    except ModuleNotFoundError:
        print("no plot: install the extra `figures`", file=sys.stderr)
    else:
        plot = folder / "plots" / f"{figure.name}.svg"
        draw(figure, lines, plot)
        print(f"Wrote {plot}", file=sys.stderr)
    return lines


def main(figure: Figure) -> None:
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help="few cells, 2 repetitions: the form that the tests run")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of results, plots and raw (default: beside this file; with --quick, build/experiments)",
    )
    parser.add_argument("--repetitions", type=int, help="another number than the committed results have")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count(), help="processes")
    arguments = parser.parse_args()
    if arguments.quick:
        figure = figure.small()
    if arguments.repetitions:
        figure = figure.with_sweeps(partial(replace, repetitions=arguments.repetitions))
    make(figure, arguments.out or (QUICK_FOLDER if arguments.quick else FOLDER), arguments.workers)
