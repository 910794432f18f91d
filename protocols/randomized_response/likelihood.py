"""The most likely joint distribution of some columns, from disguised records: never negative, adds up to 1.

The unbiased estimate (DESIGN 5.2) may leave the simplex. Where it does not, it is the most likely distribution too;
where it does, this is a better answer than cutting it off. With observed shares `c` and transition matrix `M`, the
log-likelihood per record `L(p) = sum_r c_r log (M p)_r` is concave, and

    p <- p g,   g = M^T (c / (M p)),

is the step of expectation-maximization: it keeps `p` in the simplex and never lowers `L`. A round is two steps, their
extrapolation where that raises `L` further (SQUAREM, Varadhan and Roland 2008), and a third step. By concavity
`max L - L(p) <= max g - 1`: that says when to stop, without knowing the maximum.

`M` is a Kronecker product of one matrix per group, applied axis by axis and never built. The papers solve their linear
systems only; the maximum is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np

from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.tables import NO_ANSWER, Codes, Floats

MAX_LIKELIHOOD_CELLS = 2**16
MAX_GROUP_CELLS = 2**10


@dataclass(frozen=True, eq=False, repr=False)
class MostLikely:
    """Shares of all cells of some columns: `shares[v_1, ..., v_k]`, one axis per column, in the order asked for.

    `log_likelihood` is of one record on average, in nats; no distribution has one that is larger by more than `gap`. A
    round has three steps; it has `converged` if the gap is within the tolerance.
    """

    shares: Floats
    log_likelihood: float
    gap: float
    rounds: int
    converged: bool

    def __repr__(self) -> str:
        return f"<MostLikely {'x'.join(map(str, self.shares.shape))} cells, {self.rounds} rounds>"


def most_likely(
    codes: Codes, columns: Sequence[int], design: Design, tolerance: float = 1e-9, limit: int = 10_000
) -> MostLikely:
    """Return the most likely joint distribution of these columns among records with an answer in all of them.

    `tolerance` is the largest acceptable gap, in log-likelihood per record: shares are then accurate to about its root.
    `limit` are rounds.
    """
    design.check_fits(np.where(codes == NO_ANSWER, 0, codes))
    _check(codes, columns, design)
    codes = codes[design.answered(codes, columns)]
    if not len(codes):
        raise InputError("no record has an answer in all of these columns")
    if not (tolerance > 0 and limit > 0):
        raise InputError("the tolerance and the limit of rounds must be above 0")
    grouped = (tuple(column for column in columns if column in group) for group in (*design.groups, design.plain))
    blocks = [block for block in grouped if block]
    order = [columns.index(column) for block in blocks for column in block]
    sizes = [design.sizes[column] for column in columns]
    position = np.ravel_multi_index(tuple(codes[:, list(columns)].T.astype(np.intp)), sizes)
    observed = np.bincount(position, minlength=prod(sizes)).reshape(sizes).transpose(order) / len(codes)
    axes = [prod(design.sizes[column] for column in block) for block in blocks]
    groups = ((design.group_of(block[0]), block) for block in blocks)
    matrices = [np.array(design.transition(k, block), dtype=np.float64) for k, block in groups if k is not None]
    model = _Model(observed.reshape(axes), matrices)
    shares, rounds = _climb(model, tolerance, limit)
    ordered = shares.reshape(observed.shape).transpose(np.argsort(order))
    gap = model.gap(shares)
    return MostLikely(ordered, model.log_likelihood(shares), gap, rounds, gap <= tolerance)


class _Model:
    """Observed shares and the matrices of the groups, one axis each; further axes are plain."""

    def __init__(self, observed: Floats, matrices: Sequence[Floats]) -> None:
        self.observed = observed
        self._matrices = matrices

    def predicted(self, shares: Floats) -> Floats:
        """Return `M p`."""
        return _along_axes(self._matrices, shares)

    def gradient(self, shares: Floats) -> Floats:
        """Return `g = M^T (c / (M p))`."""
        predicted = self.predicted(shares)
        ratio = np.divide(self.observed, predicted, out=np.zeros_like(predicted), where=self.observed > 0)
        return _along_axes([matrix.T for matrix in self._matrices], ratio)

    def step(self, shares: Floats) -> Floats:
        """Return the next shares; rescaled, so that rounding does not add up."""
        moved = shares * self.gradient(shares)
        return moved * (1 / float(moved.sum()))

    def log_likelihood(self, shares: Floats) -> float:
        """Return `L(p)`."""
        seen = self.observed > 0
        return float(np.sum(self.observed[seen] * np.log(self.predicted(shares)[seen])))

    def gap(self, shares: Floats) -> float:
        """Return `max g - 1`, at least `max L - L(p)`."""
        return float(self.gradient(shares).max()) - 1


def _climb(model: _Model, tolerance: float, limit: int) -> tuple[Floats, int]:
    """Return the last shares and the number of rounds made; starts where all cells are alike."""
    shares = np.full(model.observed.shape, 1 / model.observed.size)
    rounds = 0
    while rounds < limit and model.gap(shares) > tolerance:
        first = model.step(shares)
        second = model.step(first)
        further = _extrapolated(shares, first, second)
        better = model.log_likelihood(further) >= model.log_likelihood(second)
        shares = model.step(further if better else second)
        rounds += 1
    return shares, rounds


def _extrapolated(start: Floats, first: Floats, second: Floats) -> Floats:
    """Follow two steps further: `p + 2 a r + a^2 v`, `r` the first step, `v` the change of step, `a = |r|/|v|`.

    `a` is halved towards 1, the second step, until every share keeps a hundredth of what it has there.
    """
    change, bend = first - start, second - 2 * first + start
    length = sqrt(float((bend**2).sum()))
    factor = sqrt(float((change**2).sum())) / length if length else 1.0
    while factor > 1.01:
        further = start + 2 * factor * change + factor**2 * bend
        if (further >= second / 100).all():
            return further
        factor = (factor + 1) / 2
    return second


def _along_axes(matrices: Sequence[Floats], tensor: Floats) -> Floats:
    """Apply each matrix along its own axis: the product with their Kronecker product."""
    for axis, matrix in enumerate(matrices):
        tensor = np.moveaxis(np.tensordot(matrix, tensor, axes=(1, axis)), 0, axis)
    return tensor


def _check(codes: Codes, columns: Sequence[int], design: Design) -> None:
    if not len(codes):
        raise InputError("there are no records to estimate from")
    if not columns or len(set(columns)) != len(columns) or not set(columns) <= set(range(len(design.sizes))):
        raise InputError(f"name one column or more, each once: columns are 0 to {len(design.sizes) - 1}")
    if prod(design.sizes[column] for column in columns) > MAX_LIKELIHOOD_CELLS:
        raise InputError(f"the columns have more than {MAX_LIKELIHOOD_CELLS} joint cells: name fewer of them")
    for group in design.groups:
        if prod(design.sizes[column] for column in columns if column in group) > MAX_GROUP_CELLS:
            raise InputError(f"columns of one group have more than {MAX_GROUP_CELLS} joint cells: name fewer of them")
