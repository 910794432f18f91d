"""The common form of all experiments: a sweep is measured, a figure is a selection of its results.

A *sweep* has cells (points of its axes) and repetitions. The chance of a repetition depends on the sweep's seed, its
cell and its number alone. Every finished repetition goes into a raw file at once, so an interrupted sweep goes on where
it was, more repetitions may be added later, and figures of one sweep share its runs. A *figure* writes a CSV (a
line for each cell and measured thing) and draws from the same lines.
"""

import hashlib
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
QUICK_FOLDER = FOLDER.parents[1] / "build" / "experiments"
QUICK_REPETITIONS = 2

Labels = dict[str, str | int]
Line = dict[str, str | int | float | None]
Measured = list[tuple[Labels, float]]
Measure = Callable[[Labels, np.random.Generator], Measured]


def number(line: Line, name: str) -> float:
    """Return what must be a number in a line, or the text of one."""
    value = line[name]
    if value is None:
        raise ValueError(f"{name} is not there")
    return float(Fraction(value)) if isinstance(value, str) else float(value)


@dataclass(frozen=True)
class Sweep:
    """Cells, each measured this many times.

    Args:
        name: Of the raw file; the module's for a figure's own sweep.
        seed: Of all chance.
        repetitions: In the full form.
        cells: Labels of each; numbers that must be exact are texts.
        measure: One repetition: labels and value of each thing measured.
        quick: The cells of the small form.
        constants: Whatever else the results depend on.
    """

    name: str
    seed: int
    repetitions: int
    cells: Sequence[Labels]
    measure: Measure
    quick: Sequence[Labels]
    constants: Mapping[str, str | int | float] = field(default_factory=dict)

    def small(self) -> "Sweep":
        return replace(self, cells=self.quick, repetitions=min(self.repetitions, QUICK_REPETITIONS))

    @property
    def setting(self) -> str:
        """What a repetition depends on, hashed."""
        return digest([self.name, self.seed, list(self.cells), dict(self.constants)])

    @property
    def parameters(self) -> str:
        """What a result depends on, hashed."""
        return digest([self.setting, self.repetitions])


@dataclass(frozen=True)
class Panel:
    """One picture: `statistic` against `x` over the lines that `where` keeps, a curve for each value of `curves`."""

    title: str
    x: str
    statistic: str
    curves: tuple[str, ...]
    where: Callable[[Line], bool] = lambda _: True
    bars: bool = False
    printed: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    y: str = "accuracy"


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper, or a question: the lines of sweeps that belong to it, and how they are drawn.

    `others` are sweeps that came later: each line has its own hash, so those of the first keep theirs.
    """

    name: str
    sweep: Sweep
    panels: Sequence[Panel]
    where: Callable[[Line], bool] = lambda _: True
    others: Sequence[Sweep] = ()

    @property
    def sweeps(self) -> list[Sweep]:
        return [self.sweep, *self.others]

    def with_sweeps(self, change: Callable[[Sweep], Sweep]) -> "Figure":
        return replace(self, sweep=change(self.sweep), others=[change(sweep) for sweep in self.others])

    def small(self) -> "Figure":
        return self.with_sweeps(Sweep.small)


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def generator_of(seed: int, cell: Labels, repetition: int) -> np.random.Generator:
    """Return the chance of one repetition."""
    text = json.dumps([seed, cell, repetition], sort_keys=True)
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()))


def grid(**axes: Sequence[str | int]) -> list[Labels]:
    """Return all combinations, the last axis fastest."""
    cells: list[Labels] = [{}]
    for name, values in axes.items():
        cells = [{**cell, name: value} for cell in cells for value in values]
    return cells


class Raw:
    """The raw file of a sweep: a line a repetition, after one that says what they depend on."""

    def __init__(self, path: Path, sweep: Sweep) -> None:
        self.path = path
        self.values: dict[tuple[int, int], Measured] = {}
        head = json.dumps({"sweep": sweep.name, "setting": sweep.setting, "version": version("cotally")})
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(head + "\n")
        whole = path.read_text().rpartition("\n")[0]
        first, *rest = whole.split("\n")
        if first != head:
            raise SystemExit(f"{path} holds runs of other parameters or of another version: move it away")
        path.write_text(whole + "\n")  # without a line that was cut off
        for line in rest:
            self._keep(json.loads(line))

    def _keep(self, run: dict[str, Any]) -> None:
        self.values[run["cell"], run["repetition"]] = [(labels, value) for labels, value in run["values"]]

    def append(self, cell: int, repetition: int, values: Measured) -> None:
        run = {"cell": cell, "repetition": repetition, "values": values}
        with self.path.open("a") as file:
            file.write(json.dumps(run) + "\n")
        self._keep(run)


def _run(sweep: Sweep, job: tuple[int, int]) -> tuple[int, int, Measured]:
    cell, repetition = job
    labels = dict(sweep.cells[cell])
    return cell, repetition, sweep.measure(labels, generator_of(sweep.seed, labels, repetition))


def _results(sweep: Sweep, jobs: Sequence[tuple[int, int]], workers: int) -> Iterator[tuple[int, int, Measured]]:
    if workers == 1 or not jobs:
        yield from map(partial(_run, sweep), jobs)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(partial(_run, sweep), jobs)


def run_sweep(sweep: Sweep, folder: Path, workers: int) -> list[list[Measured]]:
    """Return the repetitions of each cell, measuring those that the raw file lacks."""
    raw = Raw(folder / "raw" / f"{sweep.name}.jsonl", sweep)
    every = [(cell, repetition) for repetition in range(sweep.repetitions) for cell in range(len(sweep.cells))]
    jobs = [job for job in every if job not in raw.values]
    say = _progress(sweep.name, len(every), len(every) - len(jobs))
    for cell, repetition, values in _results(sweep, jobs, workers):
        raw.append(cell, repetition, values)
        say(cell, repetition)
    return [[raw.values[cell, r] for r in range(sweep.repetitions)] for cell in range(len(sweep.cells))]


def _progress(name: str, total: int, before: int) -> Callable[[int, int], None]:
    started = said = time.monotonic()
    done = before
    print(f"{name}: {before} of {total} runs are there", file=sys.stderr, flush=True)

    def say(*_: int) -> None:
        nonlocal done, said
        done, now = done + 1, time.monotonic()
        if now - said > 5 or done == total:
            said = now
            left = (now - started) / (done - before) * (total - done)
            print(
                f"{name}: {done} of {total}, {now - started:.0f} s gone, about {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )

    return say


def summarize(sweep: Sweep, cells: Sequence[Sequence[Measured]]) -> list[Line]:
    """Return mean, variance and deviation over the repetitions of everything measured, cell by cell."""
    lines = []
    for cell, repetitions in zip(sweep.cells, cells, strict=True):
        for position, (labels, _) in enumerate(repetitions[0]):
            values = [measured[position][1] for measured in repetitions]
            spread = variance(values) if len(values) > 1 else None
            lines.append(
                {
                    **cell,
                    **labels,
                    "mean": fmean(values),
                    "variance": spread,
                    "deviation": None if spread is None else spread**0.5,
                    "repetitions": len(values),
                    "seed": sweep.seed,
                    "version": version("cotally"),
                    "parameters": sweep.parameters,
                }
            )
    return lines
