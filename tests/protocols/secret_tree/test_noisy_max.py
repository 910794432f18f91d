"""A tree of noisy winners and labels is that of who sees all counts and adds the same noise; its epsilon holds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.learning.whole import Gini
from protocols.noise.accounting import TreeSpending
from protocols.noise.both import TreeNoise
from protocols.noise.geometric import OneSided
from protocols.role import Transcript
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.openings import simulate_openings
from protocols.simulation.noise import grow_alone_with_noise
from protocols.tables import Codes, Expression
from protocols.terms import Growth, Impurity
from protocols.two_party.noise import tree_spending
from tests.protocols.oblivious.parts import meet
from tests.protocols.secret_tree.test_growth import Game, opened
from tests.support.examples import few
from tests.support.plain import schema_of
from tests.support.privacy_claims import Claim

SCHEMA = schema_of((2, 3, 2, 4), 2, 2)
GROWTH = Growth(2, noise=Fraction(4), impurity=Impurity.GINI)


def table(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, 300) for size in (2, 3, 2, 4)], axis=1)
    label = np.where(rng.random(300) < 0.8, codes[:, 0] ^ codes[:, 2], codes[:, 1] == 2)
    return np.column_stack([codes, label]).astype(np.uint8)


GAME = Game(SCHEMA, table(1), GROWTH)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(40)], ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_the_tree_of_who_sees_all_and_adds_the_same_noise(epsilon: Fraction, seed: int) -> None:
    game = Game(SCHEMA, table(seed), replace(GROWTH, noise=epsilon))
    transcript = Transcript()
    tree = game.grown(transcript)
    assert tree == game.plain()
    assert opened(transcript) == [wires.tobytes() for wires in game.expected(tree)]


@pytest.mark.parametrize("epsilon", [None, Fraction(4)], ids=str)
def test_noise_and_the_growth_that_names_it_come_together(epsilon: Fraction | None) -> None:
    class Wrong(Game):
        def noise(self, *, first: bool) -> TreeNoise | None:
            return GAME.noise(first=first) if epsilon is None else None

    with pytest.raises(InputError, match="noise of its growth"):
        Wrong(SCHEMA, table(1), replace(GROWTH, noise=epsilon)).grown()


def test_another_run_opens_the_same_tree_and_epsilon_is_split_over_levels_and_labels() -> None:
    game = replace(GAME, growth=replace(GROWTH, noise=Fraction(1, 10)))
    tree = game.grown()
    assert game.grown(seed=4) == tree
    assert any(replace(game, secrets=(bytes([k]), b"b")).plain() != tree for k in range(8))
    spending = TreeSpending(Fraction(1), 5, 4097, 14)
    assert 5 * spending.of_level + spending.of_label == 1
    assert spending.worth.scale == 2 * 4097 / Fraction(3, 25)
    assert spending.label.scale == 5
    assert spending.delta == Fraction(14, 2**40)


CHANGE = 3
DELTA = 2**-40  # of each winner


def winners(law: OneSided, worth: tuple[int, ...]) -> list[float]:
    """Return each candidate's chance to win by the least of `worth - G`, ties to the first, of all noise there is."""
    decay = exp(-1 / float(law.scale))
    weights = decay ** np.arange(law.cut + 1)
    chances = weights / weights.sum()
    at = np.arange(law.cut + 1)
    below = np.concatenate([[0], np.cumsum(chances)])
    result = []
    for own, value in enumerate(worth):
        chance = chances.copy()
        for other, theirs in enumerate(worth):
            if other != own:  # their noise is smaller than what takes them below, or at, our number
                chance *= below[np.clip(theirs - value + at + (other > own), 0, law.cut + 1)]
        result.append(float(chance.sum()))
    assert sum(result) == pytest.approx(1)
    return result


def test_no_winner_is_likelier_by_more_than_epsilon_and_one_nearly_is() -> None:
    """Of all ways in which a record may move what three candidates are worth, by less than its range or by all of it.

    A third of the noise is not enough.
    """

    def worst(law: OneSided) -> float:
        greatest = 0.0
        for worth in ((0, 0, 0), (20, 0, 5), (60, 0, 40)):
            before = winners(law, worth)
            for moved in product((-CHANGE, 0, CHANGE), repeat=3):
                after = winners(law, tuple(each + by for each, by in zip(worth, moved, strict=True)))
                greatest = max(
                    greatest, *(log((a - DELTA) / b) for a, b in zip(after, before, strict=True) if a > DELTA)
                )
        return greatest

    law = OneSided(Fraction(2 * CHANGE), 2 * CHANGE)
    assert 0.9 < worst(law) <= 1 + 1e-12
    assert worst(OneSided(law.scale / 3, law.reach)) > 1


SMALL = schema_of((2, 2), 2, 2)
AUDITED = {
    "alice": ([[1, 0, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 0]], (0, 1), (1, 1, 0)),
    "bob": ([[0, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 0]], (2,), (0, 1, 0)),
}
"""Of who holds two columns, and who the class: a table, what of its first record changes, and what tells them apart.

The latter is a winner and the labels of its leaves.
"""


class Silent(TreeNoise):
    """No noise: a side that leaves out its own protects itself alone."""

    def worth(self, expression: Expression, candidate: int) -> int:
        del expression, candidate
        return 0

    def label(self, expression: Expression, classes: int) -> list[int]:
        del expression
        return [0] * classes


@dataclass(frozen=True)
class Audit:
    """Runs on two tables that one record of a side sets apart, whose noise alone is in them, of another secret each."""

    side: str
    epsilon: Fraction

    @property
    def tables(self) -> tuple[Codes, Codes]:
        rows, changed, _ = AUDITED[self.side]
        table = np.array(rows, np.uint8)
        other = table.copy()
        other[0, list(changed)] ^= 1
        return table, other

    @property
    def spending(self) -> TreeSpending:
        return tree_spending(2, 1, self.epsilon, 5)

    @property
    def claim(self) -> Claim:
        return Claim(float(self.epsilon), float(self.spending.delta), alarm=1e-6)

    def event(self) -> Tree:
        _, _, (winner, *labels) = AUDITED[self.side]
        root = Split((), winner, tuple(Leaf((), label) for label in labels))
        return Tree(SMALL, root, Growth(1, noise=self.epsilon, impurity=Impurity.GINI))

    def chances(self, spending: TreeSpending) -> tuple[Fraction, Fraction]:
        """Return the chance of the event on either table, of all noise there is."""
        _, _, (winner, *labels) = AUDITED[self.side]
        found = []
        for codes in self.tables:
            cells = np.zeros((2, 2, 2), int)
            for column in (0, 1):
                np.add.at(cells[column], (codes[:, column], codes[:, 2]), 1)
            chance = winners(spending.worth, tuple(Gini(5).mixture(cells).tolist()))[winner]
            for label, counts in zip(labels, cells[winner], strict=True):
                chance *= winners(spending.label, tuple((-counts).tolist()))[label]
            found.append(Fraction(chance))
        return found[0], found[1]

    def hits(self, runs: int, happens: Callable[[Codes, int], bool]) -> tuple[int, int]:
        one, other = self.tables
        return sum(happens(one, run) for run in range(runs)), sum(happens(other, runs + run) for run in range(runs))


@pytest.mark.parametrize("part", [1, 3], ids=["as declared", "a third of the noise"])
@pytest.mark.parametrize("side", AUDITED)
def test_trees_tell_neighbours_apart_no_further_than_epsilon_and_a_third_of_the_noise_is_caught(
    side: str, part: int
) -> None:
    """False alarm 1e-6; a third of the noise is refuted with a chance of 0.99: the number of runs follows from it."""
    audit = Audit(side, Fraction(2))
    runs = audit.claim.runs_needed(*audit.chances(replace(audit.spending, epsilon=Fraction(6))), miss=1e-2)
    drawn, growth = replace(audit.spending, epsilon=audit.epsilon * part), audit.event().growth

    def happens(codes: Codes, run: int) -> bool:
        noise = TreeNoise(b"%032d" % run, b"audit", drawn)
        return grow_alone_with_noise(SMALL, codes, [noise], growth) == audit.event()

    hits, others = audit.hits(runs, happens)
    assert audit.claim.refuted(hits, others, runs) == (part > 1)
    assert hits > 2 * others  # they are told apart, as far as epsilon lets them


@dataclass(frozen=True)
class Whole(Game):
    """A run of both by the protocol; the noise of one side is audited, if it has any."""

    audited: TreeNoise | None = None
    side_is_first: bool = True

    def noise(self, *, first: bool) -> TreeNoise | None:
        if self.audited is None or first == self.side_is_first:
            return self.audited
        return Silent(b"s" * 32, b"audit", self.audited.spending)


@pytest.mark.parametrize(("side", "law"), few([("alice", TreeNoise), ("bob", TreeNoise), ("bob", Silent)], 2))
def test_what_a_whole_run_opens_tells_neighbours_apart_no_further_than_epsilon_and_no_noise_is_caught(
    side: str, law: type[TreeNoise]
) -> None:
    """False alarm 1e-6; without noise the event is certain on one table and never on the other: no miss."""
    audit = Audit(side, Fraction(1, 2))
    runs = audit.claim.runs_needed(Fraction(1), Fraction(0), miss=1e-2)
    expected, transfers = simulate_openings(audit.event(), Allowance(SMALL, 1)), meet(4, 3)
    wires = [each.tobytes() for each in expected]

    def happens(codes: Codes, run: int) -> bool:
        noise, transcript = law(b"%032d" % run, b"audit", audit.spending), Transcript()
        game = Whole(SMALL, codes, audit.event().growth, audited=noise, side_is_first=side == "alice")
        game.grown_by(*transfers, transcript)
        return opened(transcript) == wires

    assert audit.claim.refuted(*audit.hits(runs, happens), runs) == (law is Silent)
