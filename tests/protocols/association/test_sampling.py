"""Randomized transactions are drawn exactly as declared, from whole numbers, once per record."""

import ast
from collections import Counter
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import protocols.association
from protocols.association.chances import WORD_BITS, Binomial, Chances, Hypergeometric, Listed, bounds, outcomes
from protocols.association.operators import CutAndPaste
from protocols.association.sampling import below, draw, keyed_words, randomize, subsets
from protocols.association.transactions import TransactionDesign, Transactions
from protocols.errors import InputError
from protocols.privacy.chernoff import alarm_bound, trials_needed
from tests.support.transactions import OPERATORS, every_form, fractions

SECRET = bytes(range(32))
WHOLE = 2**WORD_BITS
DISTRIBUTIONS: list[Chances] = [
    Listed(fractions("0 1/3 0 2/3 0")),
    Listed(fractions("1/2 1/4 1/8 1/8")),
    Listed(fractions("1")),
    Binomial(5, Fraction(81, 1000)),
    Binomial(3, Fraction(0)),
    Binomial(2, Fraction(1)),
    Binomial(0, Fraction(1, 3)),
    Hypergeometric(9, 4, 3),
    Hypergeometric(4, 4, 2),
    Hypergeometric(0, 0, 0),
]


class Told:
    """Words from a list, the same for every transaction and purpose."""

    def __init__(self, *words: int) -> None:
        self.words = words

    def __call__(self, purpose: bytes, rows: NDArray[np.intp], count: int) -> NDArray[np.uint64]:
        del purpose
        return np.array([self.words[:count]] * len(rows), dtype=np.uint64)


def by_definition(chances: Chances) -> list[Fraction]:
    if isinstance(chances, Binomial):
        n, p = chances.trials, chances.chance
        return [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    if isinstance(chances, Hypergeometric):
        every = list(combinations(range(chances.population), chances.drawn))
        hits = Counter(sum(thing < chances.marked for thing in choice) for choice in every)
        return [Fraction(hits[i], len(every)) for i in range(max(hits) + 1)]
    assert isinstance(chances, Listed)
    return list(chances.chances)


@pytest.mark.parametrize("chances", DISTRIBUTIONS, ids=str)
def test_a_distribution_is_what_its_name_says(chances: Chances) -> None:
    expected = by_definition(chances)
    found = list(chances.fractions)
    assert found[: len(expected)] == expected
    assert not any(found[len(expected) :])
    assert [chances[i] for i in range(-1, len(found) + 1)] == [0, *found, 0]
    assert sum(found) == 1


def test_a_word_gives_an_outcome_only_where_all_that_may_follow_does() -> None:
    """Held against the definition at every boundary and beside it: an outcome's words are its chance, exactly."""
    for chances in DISTRIBUTIONS:
        ends = list(accumulate(by_definition(chances)))
        words = {word for end in ends for near in range(-2, 3) if 0 <= (word := int(end * WHOLE) + near) < WHOLE}
        words |= {0, 1, WHOLE // 3, WHOLE - 1}
        found, open_ones = outcomes(chances, np.array(sorted(words), dtype=np.uint64))
        for position, word in enumerate(sorted(words)):
            first = next(i for i, end in enumerate(ends) if end * WHOLE > word)
            last = next(i for i, end in enumerate(ends) if end * WHOLE >= word + 1)
            assert (position in open_ones) == (first != last)
            assert chances.outcome(word, WORD_BITS) == (first if first == last else None)
            if first == last:
                assert found[position] == first
    third = Listed(fractions("1/3 2/3"))
    edge = WHOLE // 3  # 1/3 is 0.010101... in binary, so its words repeat
    rows = np.array([0])
    for more, expected in (((edge - 1,), 0), ((edge + 1,), 1), ((edge, edge, edge + 1), 1), ((edge, edge - 1), 0)):
        assert draw(third, Told(edge, *more, 0), b"", rows).tolist() == [expected]
    high, low = bounds(Listed(fractions("1/3 1/3 1/3")))
    assert high.tolist() == [WHOLE // 3 + 1, 2 * WHOLE // 3 + 1]
    assert low.tolist() == [WHOLE // 3, 2 * WHOLE // 3]
    high, low = bounds(Binomial(3, Fraction(1, 10**9)))  # all three fall on it with chance 10^-27: less than a word
    assert len(high) == 2
    assert low.tolist()[2] == WHOLE - 1


@pytest.mark.parametrize(("population", "count"), [(4, 0), (4, 1), (4, 2), (4, 3), (4, 4), (5, 3)])
def test_over_all_numbers_every_subset_comes_equally_often(population: int, count: int) -> None:
    every = list(product(*(range(population - count + step + 1) for step in range(count))))
    uniform = np.array(every, dtype=np.int64).reshape(len(every), count)
    taken = subsets(uniform, np.full(len(every), count), population)
    tally = Counter(tuple(np.flatnonzero(row).tolist()) for row in taken)
    assert set(tally) == set(combinations(range(population), count))
    assert len(set(tally.values())) == 1


def test_choices_of_different_numbers_do_not_touch_each_other() -> None:
    uniform = np.array([[1, 0], [3, 0], [0, 0]])
    assert subsets(uniform, np.array([2, 1, 0]), 4).astype(int).tolist() == [[1, 1, 0, 0], [0, 0, 0, 1], [0] * 4]


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**31 - 1])
def test_a_word_is_drawn_again_only_where_the_last_round_of_numbers_is_not_whole(bound: int) -> None:
    short = WHOLE % bound
    words = [short, WHOLE - 1] + ([short - 1] if short else [])

    def told(purpose: bytes, rows: NDArray[np.intp], count: int) -> NDArray[np.uint64]:
        assert count == 1
        return np.array([[WHOLE - 1 if b"again" in purpose else words[row]] for row in rows], dtype=np.uint64)

    found = below(np.full((len(words), 1), bound), told, b"p", np.arange(len(words)))[:, 0].tolist()
    assert found == [short, (WHOLE - 1) % bound] + ([(WHOLE - 1) % bound] if short else [])


TRIALS = 10_000
ALARM = 1e-9
"""False-alarm rate of each of the fewer than 500 counts below, over the choice of the secret; by Chernoff's bound."""


def test_every_form_is_sent_as_often_as_declared() -> None:
    """A chance of 1/4 that is off by 5/100 is caught with a chance above 0.99: `test_the_test_of_forms_sees_it`."""
    for operator, universe in OPERATORS:
        transaction = list(range(universe - operator.size, universe))
        design = TransactionDesign(universe, (operator,))
        words = keyed_words(SECRET, "all forms", list(map(str, range(TRIALS))))
        sent = Counter(randomize(Transactions.of([transaction] * TRIALS, universe), design, words).transactions.sets())
        expected = every_form(operator, transaction, universe)
        assert set(sent) <= set(expected)
        for form, chance in expected.items():
            assert alarm_bound(sent[form], TRIALS, chance) > ALARM
    for other in (Fraction(20, 100), Fraction(30, 100)):
        needed = trials_needed(Fraction(1, 4), other, ALARM, 0.01)
        assert needed is not None
        assert needed <= TRIALS


def small() -> tuple[Transactions, TransactionDesign]:
    baskets = [[0, 3], [1], [], [2, 3, 4], [4, 1], [5], []]
    return Transactions.of(baskets, 6), TransactionDesign(6, tuple(CutAndPaste(m, 2, Fraction(1, 5)) for m in range(4)))


def sent(records: str, order: list[int], secret: bytes = SECRET, dataset: str = "d") -> list[frozenset[int]]:
    transactions, design = small()
    chosen = Transactions.of([transactions.row(k).tolist() for k in order], 6)
    randomized = randomize(chosen, design, keyed_words(secret, dataset, [records[k] for k in order]))
    assert randomized.sizes.tolist() == chosen.sizes.tolist()
    return list(randomized.transactions.sets())


def test_asking_again_gives_the_same_copy_and_coins_go_with_records_not_with_places() -> None:
    whole = sent("abcdefg", list(range(7)))
    assert whole == sent("abcdefg", list(range(7)))
    turned = [6, 2, 0, 5, 1, 4, 3]
    assert [whole[k] for k in turned] == sent("abcdefg", turned)
    assert [whole[3]] == sent("abcdefg", [3])


@pytest.mark.parametrize("changed", [{"secret": bytes(32)}, {"dataset": "e"}, {"records": "tuvwxyz"}])
def test_another_secret_data_set_or_record_has_other_coins(changed: dict[str, object]) -> None:
    words = keyed_words(SECRET, "d", ["a"])(b"own", np.array([0]), 4)
    arguments = {"secret": SECRET, "dataset": "d", "records": "a", **changed}
    other = keyed_words(arguments["secret"], arguments["dataset"], [arguments["records"]])  # type: ignore[arg-type,list-item]
    assert not set(other(b"own", np.array([0]), 4)[0].tolist()) & set(words[0].tolist())
    assert not set(keyed_words(SECRET, "d", ["a"])(b"kept", np.array([0]), 4)[0].tolist()) & set(words[0].tolist())


def test_a_longer_answer_starts_with_the_shorter_one() -> None:
    words = keyed_words(SECRET, "d", ["a", "b"])
    rows = np.array([1, 0])
    assert (words(b"own", rows, 9)[:, :4] == words(b"own", rows, 4)).all()


def test_blocks_do_not_change_the_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sent("abcdefg", list(range(7)))
    monkeypatch.setattr("protocols.association.sampling._BLOCK_CELLS", 1)
    assert whole == sent("abcdefg", list(range(7)))


def test_a_wrong_universe_is_refused_and_no_transactions_give_none() -> None:
    transactions, design = small()
    words = keyed_words(SECRET, "d", list("abcdefg"))
    with pytest.raises(InputError, match="the design has 6 items, the transactions 7"):
        randomize(Transactions.of([], 7), design, words)
    with pytest.raises(InputError, match="size 3: it has them for 0 to 2"):
        randomize(transactions, TransactionDesign(6, design.operators[:3]), words)
    randomized = randomize(Transactions.of([], 6), small()[1], keyed_words(SECRET, "d", []))
    assert len(randomized) == 0
    assert randomized.transactions.items.dtype == np.int32


@pytest.mark.parametrize("name", ["chances", "operators", "sampling", "transactions"])
def test_no_float_and_no_other_source_of_chance_is_in_the_sampling_path(name: str) -> None:
    tree = ast.parse((Path(protocols.association.__file__).parent / f"{name}.py").read_text("utf-8"))
    forbidden = {"float", "float32", "float64", "double", "round", "random", "secrets", "urandom", "default_rng"}
    for node in ast.walk(tree):
        names = [getattr(node, field, None) for field in ("id", "attr", "module", "name")]
        assert not forbidden.intersection(n for n in names if isinstance(n, str))
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not isinstance(node, ast.Div)
