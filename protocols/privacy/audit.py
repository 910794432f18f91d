"""Self-audit: hold a sampler's responses against the chances that its design declares (DESIGN 4 and 10).

A few true records are disguised many times over, and the responses are counted, cell by cell, in the margins of
an `Event`. Each count is held against its declared chance by Chernoff's bound (`chernoff.py`), the false-alarm rate
divided by the number of counts that chance could move. The number of records follows from the departure that must be
caught with a chance of at least `power`: a theta, the chance of the truth, that is off by `shift` in any one group,
either way.

What it cannot see: a dependence among three or more columns of a large group whose pairs are all as declared, one
between records that do not follow each other, and one on true values that the chosen records do not have.

The margins of a design are small sets of events. Of one true record these are counted over many responses to it:

* every column, cell by cell: a plain one must stay as it is;
* every two columns of a group, cell by cell; in a wide group, each with the first, and some further pairs: they share
  one coin, and personal answers are as the design says;
* a whole group of three or more columns, cell by cell, where it has few cells;
* one column each of every two groups, by whether each tells the truth: groups toss their own coins;
* one column per group in two consecutive records, by whether each tells the truth: records toss their own coins too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.privacy.chernoff import DEFAULT_GOAL, Audit, Counted, Goal, limit_of, trials_needed
from protocols.privacy.entry import column_transition
from protocols.randomized_response.design import Design, Draw, Matrix, cells
from protocols.tables import Codes

MAX_MARGIN_CELLS = 256
MAX_PAIRS = 300  # per group; more take minutes

Record = tuple[int, ...]


@dataclass(frozen=True)
class Margin:
    """Events that exclude each other and exhaust the responses to one truth, on these columns.

    Args:
        sizes: Domain size of each; 2 where it matters only whether the truth was sent (1) or not (0): `only_truth`.
        chances: Of every cell of `sizes` in row-major order.
        serial: Look at the last column in the next record; two records are one trial.
    """

    columns: tuple[int, ...]
    truth: Record
    sizes: tuple[int, ...]
    chances: tuple[Fraction, ...]
    only_truth: bool = False
    serial: bool = False

    def observed(self, responses: Codes) -> NDArray[np.int64]:
        """Count the responses in every cell."""
        seen = responses[:, list(self.columns)].astype(np.int64)
        if self.only_truth:
            seen = (seen == np.array(self.truth)).astype(np.int64)
        if self.serial:
            whole = len(seen) - len(seen) % 2
            seen = np.column_stack([seen[0:whole:2, 0], seen[1:whole:2, 1]])
        index = np.zeros(len(seen), dtype=np.int64)
        for position, size in enumerate(self.sizes):
            index = index * size + seen[:, position]
        counts: NDArray[np.int64] = np.bincount(index, minlength=len(self.chances))
        return counts


def margins(design: Design, records: Sequence[Record]) -> Iterator[Margin]:
    """Yield every margin of these true records."""
    for column in range(len(design.sizes)):
        yield from _cells(design, (column,), column_transition(design, column), records)
    for k, group in enumerate(design.groups):
        for columns in joint_columns(design, group):
            yield from _cells(design, columns, design.transition(k, columns), records)
    shown = [max(group, key=lambda column: design.sizes[column]) for group in design.groups]
    for first, second in [*combinations(shown, 2), *((column, column) for column in shown)]:
        for truth in _truths((first, second), records):
            one, other = truth_chance(design, first, truth[0]), truth_chance(design, second, truth[1])
            chances = ((1 - one) * (1 - other), (1 - one) * other, one * (1 - other), one * other)
            yield Margin((first, second), truth, (2, 2), chances, only_truth=True, serial=first == second)


def joint_columns(design: Design, group: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sets of columns of a group whose joint responses are counted: pairs, and the whole if it is small."""
    pairs = list(combinations(group, 2))[: max(MAX_PAIRS, len(group) - 1)]  # with the first one: each shows the coin
    sets = [*pairs, *([tuple(group)] if len(group) > 2 else [])]
    return [columns for columns in sets if prod(design.sizes[column] for column in columns) <= MAX_MARGIN_CELLS]


def untested_pairs(design: Design) -> tuple[tuple[int, ...], ...]:
    """Return the pairs of columns of one group that are not counted: too many pairs, or too many joint cells."""
    every = [pair for group in design.groups for pair in combinations(group, 2)]
    counted = {pair for group in design.groups for pair in joint_columns(design, group)}
    return tuple(pair for pair in every if pair not in counted)


def _cells(design: Design, columns: tuple[int, ...], matrix: Matrix, records: Sequence[Record]) -> Iterator[Margin]:
    sizes = tuple(design.sizes[column] for column in columns)
    for truth in _truths(columns, records):
        position = cells(sizes).index(truth)
        yield Margin(columns, truth, sizes, tuple(row[position] for row in matrix))


def truth_chance(design: Design, column: int, code: int) -> Fraction:
    """Return the chance that the response on a column is the truth."""
    return column_transition(design, column)[code][code]


def _truths(columns: Sequence[int], records: Sequence[Record]) -> list[Record]:
    return sorted({tuple(record[column] for column in columns) for record in records})


MAX_RECORDS = 10_000_000
FEWEST = 1000

Sampler = Callable[[Codes, Draw], Codes]


@dataclass(frozen=True)
class AuditTest(Counted):
    """One cell of a margin."""

    margin: Margin
    cell: tuple[int, ...]


@dataclass(frozen=True)
class AuditResult(Audit[AuditTest]):
    """What an audit of records found.

    `untested` are pairs of columns of one group with too many joint cells, or beyond the most pairs.
    """

    untested: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]


def audit(
    design: Design,
    draw_factory: Callable[[int], Draw],
    sampler: Sampler | None = None,
    records: Sequence[Record] | None = None,
    goal: Goal = DEFAULT_GOAL,
) -> AuditResult:
    """Run a sampler, the design's own if not given, and hold its responses against the declared transition matrices.

    `draw_factory` makes the chance for a number of records, once; `records` are the true ones that are disguised again
    and again, `default_records` if not given.
    """
    truths = _checked(design, default_records(design) if records is None else records)
    every = tuple(margins(design, truths))
    limit = limit_of(goal, (chance for margin in every for chance in margin.chances))
    trials = records_needed(design, truths, goal, limit)
    if trials * len(truths) > MAX_RECORDS:
        raise InputError(
            f"the goal needs {trials * len(truths)} records, more than {MAX_RECORDS}: "
            "raise the shift or the false-alarm rate, lower the power, or audit fewer records"
        )
    codes = np.repeat(np.array(truths, dtype=np.uint8), trials, axis=0)
    responses = (sampler or design.randomize)(codes, draw_factory(len(codes)))
    if len(responses) != len(codes):
        raise InputError(f"the sampler returned {len(responses)} responses to {len(codes)} records")
    design.check_fits(responses)
    blocks = {truth: responses[k * trials : (k + 1) * trials] for k, truth in enumerate(truths)}
    tests = tuple(test for margin in every for test in _tests(margin, blocks, limit))
    return AuditResult(goal, len(codes), tests, untested_pairs(design), design.sizes, design.groups)


def default_records(design: Design) -> tuple[Record, ...]:
    """Return up to four records: all lowest codes, all highest, and the two that alternate."""
    lowest, highest = [0] * len(design.sizes), [size - 1 for size in design.sizes]
    turns = [[(lowest, highest)[(k + start) % 2][k] for k in range(len(lowest))] for start in (0, 1)]
    return tuple(dict.fromkeys(map(tuple, (lowest, highest, *turns))))


def records_needed(design: Design, records: Sequence[Record], goal: Goal, limit: float) -> int:
    """Return how often each record must be disguised so that a shift of theta in any one group is caught.

    A group's shift is seen in the column and the record whose chance of a true response shows it best. Such a chance is
    affine in the group's theta, and 1 at theta = 1.
    """
    needed = FEWEST
    for k, group in enumerate(design.groups):
        truth = design.truth(k)
        shifts = [shift for shift in (goal.shift, -goal.shift) if 0 <= truth + shift <= 1]
        if not shifts:
            raise InputError(f"theta = {truth} cannot be off by {goal.shift} and stay between 0 and 1")
        columns = [column for column in group if design.sizes[column] > 1]
        seen = {_truth_and_slope(design, k, column, record[column]) for column in columns for record in records}
        for shift in shifts if columns else []:
            sizes = [trials_needed(chance, chance + shift * slope, limit, 1 - goal.power) for chance, slope in seen]
            if not any(sizes):
                raise InputError(f"the chosen records do not show theta of group {k}: choose other codes")
            needed = max(needed, min(size for size in sizes if size))
    return needed


def _truth_and_slope(design: Design, group: int, column: int, code: int) -> tuple[Fraction, Fraction]:
    """Return the chance of a true response, and how fast it grows with theta: `(1 - chance)/(1 - theta)` at each."""
    own = design.part(group)
    below = own if design.truth(group) < 1 else replace(own, theta=Fraction(2, 3))
    slope = (1 - truth_chance(below, column, code)) / (1 - below.truth(below.groups.index(design.groups[group])))
    return truth_chance(design, column, code), slope


def _checked(design: Design, records: Sequence[Record]) -> tuple[Record, ...]:
    """Return the records without repetition, if they fit the design."""
    fits = all(
        len(record) == len(design.sizes)
        and all(0 <= code < size for code, size in zip(record, design.sizes, strict=True))
        for record in records
    )
    if not records or not fits:
        raise InputError(f"an audit needs at least one record, each of {len(design.sizes)} codes inside their domains")
    return tuple(dict.fromkeys(map(tuple, records)))


def _tests(margin: Margin, blocks: dict[Record, Codes], limit: float) -> list[AuditTest]:
    """Test every cell of a margin over all responses to its truth."""
    own = [block for truth, block in blocks.items() if tuple(truth[c] for c in margin.columns) == margin.truth]
    counts = np.sum([margin.observed(block) for block in own], axis=0).tolist()
    trials = sum(counts)
    each = zip(cells(margin.sizes), margin.chances, counts, strict=True)
    return [AuditTest(chance, hits, trials, limit, margin, cell) for cell, chance, hits in each]
