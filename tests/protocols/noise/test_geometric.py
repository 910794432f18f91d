"""The noise is what it says: its sampler outcome by outcome, its law and what neighbours can tell, in fractions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

import pytest

from protocols.errors import InputError
from protocols.noise import geometric
from protocols.noise.geometric import Geometric, OneSided, decays, magnitude
from protocols.randomness import KeyedRandomness
from tests.support.binomial import ShareTest
from tests.support.exponentials import decay_bounds, growth_bounds, law_bounds

SCALES = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(7, 3)]
Outcome = TypeVar("Outcome")
SMALLEST = Fraction(1, 10**9)


@dataclass
class _Script:
    """Chance that follows a script and then takes 0; what it was asked for is the script of its siblings.

    `mass` is at most the chance of what has been drawn.
    """

    script: tuple[int, ...]
    mass: Fraction = Fraction(1)
    taken: list[tuple[int, int]] = field(default_factory=list)

    def randbelow(self, bound: int, /) -> int:
        return self._follow([Fraction(1, bound)] * bound)

    def decays(self, numerator: int, denominator: int) -> bool:
        low, high = decay_bounds(Fraction(numerator, denominator))
        return bool(self._follow([low, 1 - high]) == 0)

    def _follow(self, chances: Sequence[Fraction]) -> int:
        value = self.script[len(self.taken)] if len(self.taken) < len(self.script) else 0
        self.taken.append((value, len(chances)))
        self.mass *= chances[value]
        if self.mass < SMALLEST:
            raise _TooUnlikelyError
        return value


class _TooUnlikelyError(Exception):
    """A branch that is left out: its chance is part of what is missing."""


def _enumerated(draw: Callable[[_Script], Outcome]) -> tuple[dict[Outcome, Fraction], Fraction]:
    """Return what every outcome's chance is at least, over all that chance may do, and how much is missing."""
    chances: dict[Outcome, Fraction] = {}
    script: tuple[int, ...] | None = ()
    while script is not None:
        chance = _Script(script)
        try:
            outcome = draw(chance)
            chances[outcome] = chances.get(outcome, Fraction(0)) + chance.mass
        except _TooUnlikelyError:
            pass
        taken = chance.taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        script = (*(value for value, _ in taken[:-1]), taken[-1][0] + 1) if taken else None
    return chances, 1 - sum(chances.values(), start=Fraction(0))


def _accepted(law: Geometric) -> tuple[dict[int, Fraction], Fraction]:
    """Return the chance of every value given that an attempt gives one, at least, and how much may be missing."""
    chances, missing = _enumerated(law.attempt)
    again = chances.pop(None)
    values = {value: chance / (1 - again) for value, chance in chances.items() if value is not None}
    return values, missing / (1 - again - missing)


@pytest.fixture
def coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a whole draw toss coins of bounded chances: a coin by itself has a test of its own."""
    monkeypatch.setattr(geometric, "decays", lambda numerator, denominator, s: s.decays(numerator, denominator))


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 3), (2, 3), (1, 1)])
def test_a_coin_that_decays_shows_true_with_the_chance_of_the_exponential(numerator: int, denominator: int) -> None:
    chances, missing = _enumerated(lambda chance: decays(numerator, denominator, chance))
    low, high = decay_bounds(Fraction(numerator, denominator))
    assert missing < Fraction(1, 100)
    assert chances[True] <= high
    assert chances[True] + missing >= low


@pytest.mark.usefixtures("coins")
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_every_outcome_of_the_sampler_has_the_chance_that_its_law_gives_it(scale: Fraction) -> None:
    law = Geometric(scale)
    chances, missing = _accepted(law)
    assert missing < Fraction(1, 10**5)
    for z, (low, high) in law_bounds(law).items():
        assert chances.get(z, 0) <= high
        assert chances.get(z, 0) + missing >= low
    assert max(map(abs, chances)) <= law.cut


@pytest.mark.usefixtures("coins")
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_every_magnitude_falls_by_the_exponential_of_the_scale(scale: Fraction) -> None:
    """`P(k) = p^k (1 - p)`: what one-sided noise is before its cut."""
    chances, missing = _enumerated(lambda chance: magnitude(scale, chance))
    again = chances.pop(None, Fraction(0))
    missing /= 1 - again - missing
    low, high = decay_bounds(1 / scale)
    for size in range(6):
        seen = chances[size] / (1 - again)
        assert seen <= high**size * (1 - low)
        assert seen + missing >= low**size * (1 - high)


def test_one_sided_noise_is_never_negative_and_never_beyond_its_cut() -> None:
    law = OneSided(Fraction(1, 9), 0)
    drawn = {law.draw(KeyedRandomness(b"k" * 32, b"%d" % k)) for k in range(300)}
    assert min(drawn) == 0
    assert max(drawn) <= law.cut == Geometric(law.scale).cut
    assert OneSided(law.scale, 7).cut == law.cut + 7


@pytest.mark.usefixtures("coins")
def test_the_enumeration_would_see_a_sampler_of_half_the_scale() -> None:
    chances, _ = _accepted(Geometric(Fraction(1)))
    assert chances[0] > law_bounds(Geometric(Fraction(2)))[0][1]


@pytest.mark.usefixtures("coins")
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_outcomes_that_differ_in_sign_have_equal_chances_so_the_mean_is_zero(scale: Fraction) -> None:
    law = law_bounds(Geometric(scale))
    assert all(law[z] == law[-z] for z in law)
    chances, _ = _accepted(Geometric(scale))
    assert all(chance == chances[-z] for z, chance in chances.items())


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_the_variance_is_that_of_the_formula(scale: Fraction) -> None:
    law = Geometric(scale)
    low, high = (sum(z**2 * pair[side] for z, pair in law_bounds(law).items()) for side in (0, 1))
    assert float(low) == pytest.approx(law.variance, rel=1e-8)
    assert float(high) == pytest.approx(law.variance, rel=1e-8)


def _delta(law: Geometric, epsilon: Fraction) -> Fraction:
    """Bound by how much any event's chance can pass `exp(epsilon)` times that of a count larger by 1."""
    chances, (growth, _) = law_bounds(law), growth_bounds(epsilon)
    nothing = (Fraction(0), Fraction(0))
    excess = (high - growth * chances.get(z - 1, nothing)[0] for z, (_, high) in chances.items())
    return sum((each for each in excess if each > 0), start=Fraction(0))


def test_a_cell_that_changes_by_one_is_as_private_as_its_scale_says() -> None:
    for scale in (*SCALES, Fraction(40)):
        assert _delta(Geometric(scale), 1 / scale) <= 1 / scale / 2**40
    assert _delta(Geometric(Fraction(1, 2)), Fraction(1)) > Fraction(1, 2)


@pytest.mark.parametrize("scale", [*SCALES, Fraction(40), Fraction(1, 9)], ids=str)
def test_noise_is_cut_where_its_chance_is_below_two_to_the_minus_forty(scale: Fraction) -> None:
    cut = Geometric(scale).cut
    assert decay_bounds(cut / scale)[1] <= Fraction(1, 2**40)
    assert decay_bounds((cut - 2) / scale)[0] > Fraction(1, 2**40)


def test_a_stream_of_draws_shows_zero_as_often_as_the_law_says() -> None:
    """False alarm 1e-9; half and twice the scale, which give 0 a chance of 0.46 and 0.12, are caught."""
    law, draws = Geometric(Fraction(2)), 3000
    zero = law_bounds(law)[0][0].limit_denominator(10**6)
    test = ShareTest(draws, zero, 1e-9)
    seen = [law.draw(KeyedRandomness(b"k" * 32, b"%d" % k)) for k in range(draws)]
    assert test.accepts(seen.count(0))
    others = [law_bounds(Geometric(Fraction(scale)))[0][0].limit_denominator(10**6) for scale in (1, 4)]
    assert min(map(test.power, others)) > 0.999999


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), 0.5])
def test_a_scale_that_is_no_fraction_above_zero_is_refused(scale: Fraction) -> None:
    with pytest.raises(InputError, match="scale of noise"):
        Geometric(scale)
