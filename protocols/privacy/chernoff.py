"""Chernoff's bound on how far a share lies from its chance, and the number of records that an audit needs by it.

An audit promises before it starts how often it may be wrong, and what it must catch. Of `n` independent trials of
chance `p`, `P(share >= c) <= exp(-n D(c || p))` for `c >= p`, and likewise below; `D` is the divergence of two coins in
nats (Chernoff 1952; Hoeffding 1963, theorem 1). The bound holds for every `n` and `p`, without a normal approximation,
and takes one line where exact tails sum thousands of terms. Its price is a sample about a quarter larger than exact
tails need.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, inf, log
from numbers import Rational
from typing import Generic, TypeVar

from protocols.errors import InputError


@dataclass(frozen=True)
class Goal:
    """How often an audit may fail a sampler as declared, over all its counts, and must fail one whose theta is off.

    Theta is off by `shift` in some group.
    """

    alarm: float = 1e-6
    power: float = 0.999
    shift: Fraction = Fraction(1, 100)

    def __post_init__(self) -> None:
        if not (0 < self.alarm < 1 and 0 < self.power < 1):
            raise InputError("an audit's false-alarm rate and power must lie strictly between 0 and 1")
        if not isinstance(self.shift, Rational) or not 0 < self.shift <= 1:
            raise InputError("the shift of theta to catch must be an exact fraction above 0 and at most 1")


DEFAULT_GOAL = Goal()
_HALVINGS = 60


def divergence(share: float, chance: Fraction) -> float:
    """Return `D(c || p) = c log(c/p) + (1-c) log((1-c)/(1-p))`; infinite where the share contradicts the chance."""
    total = 0.0
    for part, claim in ((share, float(chance)), (1 - share, float(1 - chance))):
        if part and not claim:
            return inf
        total += part * log(part / claim) if part else 0.0
    return max(total, 0.0)


def least_chance(share: float, budget: float, *, reverse: bool = False) -> float:
    """Return the smallest `c` below `share` with a divergence of at most `budget` nats per trial.

    With `reverse` the divergence is that of `c` from `share`: a chance of which `c` is the share.
    """
    return _furthest(share, 0.0, lambda c: _between(share, c, reverse) <= budget)


def most_chance(share: float, budget: float, *, reverse: bool = False) -> float:
    """Return the largest `c` above `share` with a divergence of at most `budget`; as `least_chance`."""
    return _furthest(share, 1.0, lambda c: _between(share, c, reverse) <= budget)


def _between(share: float, chance: float, reverse: bool) -> float:
    return divergence(chance, Fraction(share)) if reverse else divergence(share, Fraction(chance))


def _furthest(near: float, far: float, fits: Callable[[float], bool]) -> float:
    """Return, by halving, how far one can go from `near` towards `far`."""
    if fits(far):
        return far
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        near, far = (middle, far) if fits(middle) else (near, middle)
    return far


def alarm_bound(hits: int, trials: int, chance: Fraction) -> float:
    """Bound the chance that a share lies as far from `chance` as this one, on either side, if the claim holds."""
    if not 0 <= hits <= trials or not trials or not 0 <= chance <= 1:
        raise InputError("a share needs 0 <= hits <= trials, at least one trial, and a chance between 0 and 1")
    return min(1.0, 2 * exp(-trials * divergence(hits / trials, chance)))


def trials_needed(claim: Fraction, truth: Fraction, alarm: float, miss: float) -> int | None:
    """Return how many trials suffice to distinguish a chance `truth` from `claim`; None if no float does.

    A test that fires where `alarm_bound` is at most `alarm` then fires with a chance of at least `1 - miss`. The share
    `c` between the two at which both demands are equally hard is found by halving: with `n D(c || claim)` at least
    `log(2/alarm)` every share beyond `c` fires, with `n D(c || truth)` at least `log(1/miss)` few fall short of it.
    """
    if not (0 < alarm < 1 and 0 < miss < 1 and 0 <= claim <= 1 and 0 <= truth <= 1):
        raise InputError("a sample size needs chances between 0 and 1, and rates strictly between")
    if claim == truth:
        return None
    fire, reach = log(2 / alarm), log(1 / miss)
    near, far = float(claim), float(truth)
    for _ in range(80):
        middle = (near + far) / 2
        if fire * divergence(middle, truth) > reach * divergence(middle, claim):
            near = middle
        else:
            far = middle
    enough, reached = divergence(far, claim), divergence(near, truth)
    return max(1, ceil(fire / enough), ceil(reach / reached)) if enough and reached else None


@dataclass(frozen=True)
class Counted:
    """One count of an audit: its declared chance, how often it came in how many trials, and the limit of its bound."""

    chance: Fraction
    observed: int
    trials: int
    limit: float

    @cached_property
    def bound(self) -> float:
        """Bound on such a count being chance."""
        return alarm_bound(self.observed, self.trials, self.chance)

    @property
    def passed(self) -> bool:
        """Whether that is above the limit."""
        return self.bound > self.limit


def limit_of(goal: Goal, chances: Iterable[Fraction]) -> float:
    """Return the false-alarm rate of a single count: the goal's, over all counts that chance can move."""
    return goal.alarm / max(sum(0 < chance < 1 for chance in chances), 1)


Test = TypeVar("Test", bound=Counted)


@dataclass(frozen=True)
class Audit(Generic[Test]):
    """What an audit found in every count, over this many disguised records or transactions."""

    goal: Goal
    disguised: int
    tests: tuple[Test, ...]

    @property
    def failures(self) -> tuple[Test, ...]:
        """Tests that failed."""
        return tuple(test for test in self.tests if not test.passed)

    @property
    def passed(self) -> bool:
        """Whether no test failed."""
        return all(test.passed for test in self.tests)
