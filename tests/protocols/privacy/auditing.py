"""Audits of two designs at a fixed seed, and the exact power of a test by `alarm_bound`."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from protocols.privacy.audit import AuditResult, Sampler, audit
from protocols.privacy.chernoff import alarm_bound
from protocols.randomized_response.design import Design, Draw
from protocols.simulation.two_party import bulk_draw
from tests.protocols.privacy.designs import related, unrelated
from tests.support.binomial import lower_tail, upper_tail

RELATED = related([2, 2, 3], [[0, 1], [2]], "9/20")
UNRELATED = unrelated([[0, 1], [2]], "1/2", ["1/2 1/2", "1/2 1/2", "1/4 1/4 1/2"])


def chance(seed: int) -> Callable[[int], Draw]:
    return lambda records: bulk_draw(np.random.default_rng(seed), records)


def run(design: Design, sampler: Sampler | None = None, seed: int = 1) -> AuditResult:
    return audit(design, chance(seed), sampler)


def missed(claim: Fraction, truth: Fraction, trials: int, alarm: float) -> float:
    """Return the exact chance that `alarm_bound` does not fire."""
    middle = int(trials * claim)
    low = first(0, middle, lambda hits: alarm_bound(hits, trials, claim) > alarm)
    high = first(middle, trials + 1, lambda hits: hits > trials or alarm_bound(hits, trials, claim) <= alarm)
    return max(0.0, 1 - lower_tail(trials, truth, low - 1) - upper_tail(trials, truth, high))


def first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from `low` for which `holds`; `high` if none does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
