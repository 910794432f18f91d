"""Coins are made once (DESIGN 4.6), exactly (FAULTS B5), and unrelated to each other."""

import ast
import hmac
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import protocols
from protocols.errors import InputError
from protocols.randomized_response.related_question import (
    RelatedDesign,
    default_groups,
    keyed_draw,
    offsets_from_uniform,
)
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.randomness import canonical, keyed_digest
from protocols.tables import Expression, Term
from tests.support.binomial import ShareTest

SECRET = bytes(range(32))
ALARM = 1e-8
"""False-alarm rate of each statistical test here, over the choice of the secret; there are fewer than 100."""


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6, 7, 64])
@pytest.mark.parametrize("theta", ["0", "1/100", "9/20", "2/3", "0.7", "9/10", "99/100", "1"])
def test_over_all_uniform_integers_every_offset_has_exactly_its_share(order: int, theta: str) -> None:
    design = RelatedDesign((order,), ((0,),), Fraction(theta))
    bound = design.coin_bound(0)
    with np.errstate(all="raise"):
        offsets = Counter(offsets_from_uniform(np.arange(bound), design.theta, order).tolist())
    lie = (1 - design.theta) / (order - 1)
    for offset in range(order):
        assert Fraction(offsets[offset], bound) == (design.theta if offset == 0 else lie)
    assert set(offsets) <= set(range(order))


@pytest.mark.parametrize("order", [2, 3, 4, 6, 10])
@pytest.mark.parametrize("theta", ["9/20", "11/20", "0.7", "99/100"])
def test_by_odds_every_lie_has_exactly_its_share_and_the_truth_thetas_odds_against_it(order: int, theta: str) -> None:
    design = RelatedDesign.of_odds((order,), ((0,),), Fraction(theta))
    bound = design.coin_bound(0)

    def draw(purpose: bytes, below: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.arange(bound) if purpose else np.zeros(bound, dtype=np.int64) + below * 0

    offsets = Counter(design.coins(draw)[:, 0].tolist())
    lies = {Fraction(offsets[offset], bound) for offset in range(1, order)}
    assert len(lies) == 1
    assert Fraction(offsets[0], bound) / lies.pop() == design.theta / (1 - design.theta)


def coins(theta: str = "9/20", secret: bytes = SECRET, dataset: str = "d", records: int = 4000) -> list[list[int]]:
    """Return the coins of two binary groups and one of five values, by group."""
    design = RelatedDesign((2, 2, 5), ((0,), (1,), (2,)), Fraction(theta))
    drawn = design.coins(keyed_draw(secret, dataset, [f"r{i}" for i in range(records)]))
    assert drawn.shape == (records, 3)
    return [list(map(int, column)) for column in drawn.T]


def test_the_same_data_set_has_the_same_coins_by_the_published_function_record_by_record() -> None:
    design = RelatedDesign((2, 5), ((0,), (1,)), Fraction(9, 20))
    drawn = design.coins(keyed_draw(SECRET, "d\u00e4ta", ["r1"]))
    for group, order in enumerate((2, 5)):
        key = keyed_digest(SECRET, b"cotally coin", "d\u00e4ta".encode(), bytes([0, 0, 0, group]))
        block = hmac.digest(key, canonical(canonical(b"r1"), bytes(4)), "sha256")
        uniform = int.from_bytes(block, "big") % (20 * (order - 1))
        truth = 9 * (order - 1)
        assert drawn[0, group] == (0 if uniform < truth else 1 + (uniform - truth) // 11)
    assert coins() == coins()
    design = RelatedDesign((2, 3), ((0,), (1,)), Fraction(9, 20))
    ids = ["", "x", "xx", "\u00e9", "r 7"]
    together = design.coins(keyed_draw(SECRET, "d", ids))
    for row, record in zip(together, ids, strict=True):
        assert (design.coins(keyed_draw(SECRET, "d", [record]))[0] == row).all()
    assert coins("0.7") == coins("7/10")
    assert coins("0.45") == coins("9/20")
    design = RelatedDesign((1,), ((0,),), Fraction(9, 20))
    assert design.coin_bound(0) == 20
    assert not offsets_from_uniform(np.arange(20), design.theta, 1).any()


@pytest.mark.parametrize("changed", ["another secret", "another data set", "other records", "another group"])
def test_anything_else_has_unrelated_coins(changed: str) -> None:
    """Two independent coins both lie with chance (11/20)^2; equal ones with 11/20, opposite ones never."""
    first = coins()[0]
    other = {
        "another secret": lambda: coins(secret=bytes(32))[0],
        "another data set": lambda: coins(dataset="e")[0],
        "other records": lambda: coins(records=8000)[0][4000:],
        "another group": lambda: coins()[1],
    }[changed]()
    check = ShareTest(len(first), Fraction(11, 20) ** 2, ALARM)
    assert min(check.power(Fraction(11, 20)), check.power(Fraction(0)), check.power(Fraction(2, 5))) > 0.99
    assert check.accepts(sum(a and b for a, b in zip(first, other, strict=True)))


TRIALS = 200_000
"""From the power: a theta that is off by 0.01 is caught with a chance above 0.999."""


@pytest.fixture(scope="module")
def theta_test() -> ShareTest:
    return ShareTest(TRIALS, Fraction(9, 20), ALARM)


def truths(theta: Fraction) -> int:
    design = RelatedDesign((2,), ((0,),), theta)
    return TRIALS - int(design.coins(keyed_draw(SECRET, "theta", [str(i) for i in range(TRIALS)])).sum())


def test_theta_is_nine_twentieths_and_each_lie_has_its_share(theta_test: ShareTest) -> None:
    assert min(theta_test.power(Fraction(46, 100)), theta_test.power(Fraction(44, 100))) > 0.999
    assert theta_test.accepts(truths(Fraction(9, 20)))
    for theta in (Fraction(46, 100),):
        assert not theta_test.accepts(truths(theta))
    lies = Counter(coins(records=30_000)[2])
    check = ShareTest(30_000, Fraction(11, 80), ALARM)
    assert check.power(Fraction(11, 80) * Fraction(9, 8)) > 0.99
    assert all(check.accepts(lies[offset]) for offset in range(1, 5))
    column = coins(records=8001)[0]
    check = ShareTest(4000, Fraction(11, 20) ** 2, ALARM)
    pairs = list(zip(column[::2], column[1::2], strict=False))[:4000]
    assert check.accepts(sum(a and b for a, b in pairs))


def sampling_path() -> list[tuple[str, ast.AST]]:
    """Return the syntax of everything that a coin passes through."""
    root = Path(protocols.__file__).parent
    names = ("design", "related_question", "unrelated_question")
    trees = {
        path: ast.parse((root / path).read_text("utf-8"))
        for path in ("randomness.py", *(f"randomized_response/{name}.py" for name in names))
    }
    return list(trees.items())


def test_no_float_no_division_but_of_fractions_and_no_other_source_of_chance_is_in_the_sampling_path() -> None:
    floats = {"float", "float16", "float32", "float64", "double", "round"}
    forbidden = floats | {"random", "secrets", "urandom", "default_rng"}
    for path, tree in sampling_path():
        for node in ast.walk(tree):
            where = f"{path}:{getattr(node, 'lineno', 0)}"
            names = [getattr(node, field, None) for field in ("id", "attr", "module", "name")]
            assert not forbidden.intersection(n for n in names if isinstance(n, str)), where
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), where
    # `/` stands in a few functions of the designs, all on fractions; integers are divided by `//` alone.
    functions = [
        (path, node) for path, tree in sampling_path() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]
    divide = [(path, f.name) for path, f in functions if any(isinstance(node, ast.Div) for node in ast.walk(f))]
    assert divide == [
        ("randomized_response/related_question.py", "_truths"),
        ("randomized_response/related_question.py", "_lies"),
        ("randomized_response/related_question.py", "candidates"),
        ("randomized_response/related_question.py", "alone"),
        ("randomized_response/related_question.py", "factors"),
        ("randomized_response/related_question.py", "moments_of"),
        ("randomized_response/related_question.py", "likelihood_ratio"),
        ("randomized_response/related_question.py", "guess_weights"),
        ("randomized_response/unrelated_question.py", "guess_weights"),
        ("randomized_response/unrelated_question.py", "factors"),
        ("randomized_response/unrelated_question.py", "moments"),
        ("randomized_response/unrelated_question.py", "likelihood_ratio"),
    ]
    design = RelatedDesign((2, 5), ((0,), (1,)), Fraction(9, 20))
    part = Expression((Term(1, 3),))
    sent = np.zeros((1, 2), dtype=np.uint8)
    unrelated = UnrelatedDesign((2, 5), ((1,),), Fraction(9, 20), ((), (Fraction(1, 5),) * 5))
    numbers: list[object] = [design.lie(0), design.lie(1), *design.guess_weights(0), *design.guess_weights(1)]
    for each, group in ((design, 1), (unrelated, 0)):
        numbers += [*each.factors(sent, part, group).values, *each.moments(group, part)]
        found = each.candidates(sent, group, [1])
        numbers += [each.likelihood_ratio(group, [1]), each.alone(1).theta, found.plus, *found.other]
    assert all(isinstance(number, Fraction) for number in numbers)


Groups = tuple[tuple[int, ...], ...]


def test_default_groups_put_equal_then_dividing_domains_together() -> None:
    for sizes, groups, expected in [
        ([2, 3, 2, 3], 2, ((0, 2), (1, 3))),
        ([2, 3, 2, 3], 1, ((0, 1, 2, 3),)),
        ([2, 2, 2, 2, 2], 2, ((0, 1, 2), (3, 4))),
        ([2, 2, 2, 2, 2], 3, ((0, 1), (2,), (3, 4))),
        ([2, 2], 5, ((0,), (1,))),
        ([2, 4, 3, 5], 3, ((0, 1), (2,), (3,))),
        ([2, 4, 3, 9], 2, ((0, 1), (2, 3))),
        ([50, 60, 2, 3], 3, ((0,), (1, 3), (2,))),
        ([], 3, ()),
    ]:
        assert default_groups(sizes, groups) == expected


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 6), st.sets(st.integers(0, 11)))
def test_default_groups_spread_every_column_once(sizes: list[int], groups: int, plain: set[int]) -> None:
    parts = default_groups(sizes, groups, sorted(plain))
    columns = set(range(len(sizes))) - plain
    assert sorted(c for part in parts for c in part) == sorted(columns)
    assert all(parts)
    assert len(parts) == min(groups, len(columns))
    if len({sizes[c] for c in columns}) <= groups:
        assert all(len({sizes[c] for c in part}) == 1 for part in parts)


def test_a_plain_column_is_in_no_group() -> None:
    assert default_groups([2, 3, 2], 2, plain=[0]) == ((1,), (2,))
    assert default_groups([2, 3], 2, plain=[0, 1]) == ()
    for groups in (0, -1):
        with pytest.raises(InputError, match="must be 1 or more"):
            default_groups([2, 2], groups)
