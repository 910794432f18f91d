"""Coins are made once (DESIGN 4.6), exactly (FAULTS B5), and unrelated to each other."""

import ast
import hmac
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import sqrt
from pathlib import Path
from statistics import NormalDist, fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import protocols
from protocols.errors import InputError
from protocols.randomized_response import sample_size as module
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count, quantile, record_factors
from protocols.randomized_response.related_question import (
    RelatedDesign,
    default_groups,
    keyed_draw,
    offsets_from_uniform,
)
from protocols.randomized_response.sample_size import (
    SampleSize,
    naive_bayes_sample_size,
    record_variance,
    sample_size,
    tree_sample_size,
)
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.randomness import canonical, keyed_digest
from protocols.simulation.two_party import bulk_draw
from protocols.tables import ROOT, Expression, Term
from tests.support.binomial import ShareTest
from tests.support.enumeration import every_design, every_record, expressions, responses, shares
from tests.support.examples import few

SECRET = bytes(range(32))
ALARM = 1e-5
"""False-alarm rate of each statistical test here, over the choice of the secret; there are fewer than 100."""


def test_over_all_uniform_integers_every_offset_has_exactly_its_share() -> None:
    for order, theta in product([2, 3, 4, 5, 6, 7, 64], ["0", "1/100", "9/20", "2/3", "0.7", "9/10", "99/100", "1"]):
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


TRIALS = 35_000
"""From the power: a theta that is off by 0.02 is caught with a chance above 0.999."""


def truths(theta: Fraction) -> int:
    design = RelatedDesign((2,), ((0,),), theta)
    return TRIALS - int(design.coins(keyed_draw(SECRET, "theta", [str(i) for i in range(TRIALS)])).sum())


def test_theta_is_nine_twentieths_and_each_lie_has_its_share() -> None:
    check = ShareTest(TRIALS, Fraction(9, 20), ALARM)
    assert min(check.power(Fraction(47, 100)), check.power(Fraction(43, 100))) > 0.999
    assert check.accepts(truths(Fraction(9, 20)))
    assert not check.accepts(truths(Fraction(47, 100)))
    lies = Counter(coins(records=20_000)[2])
    check = ShareTest(20_000, Fraction(11, 80), ALARM)
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


def test_default_groups_put_equal_then_dividing_domains_together() -> None:
    for sizes, groups, expected in [
        ([2, 3, 2, 3], 2, ((0, 2), (1, 3))), ([2, 3, 2, 3], 1, ((0, 1, 2, 3),)),
        ([2, 2, 2, 2, 2], 2, ((0, 1, 2), (3, 4))), ([2, 2, 2, 2, 2], 3, ((0, 1), (2,), (3, 4))),
        ([2, 2], 5, ((0,), (1,))), ([2, 4, 3, 5], 3, ((0, 1), (2,), (3,))), ([2, 4, 3, 9], 2, ((0, 1), (2, 3))),
        ([50, 60, 2, 3], 3, ((0,), (1, 3), (2,))), ([], 3, ()),
    ]:  # fmt: skip
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


WIDTH = Fraction(1, 50)
SMALL = [design for design in every_design() if len(every_record(design.sizes)) <= 12]


def second_moments(design: Design, expression: Expression) -> tuple[Fraction, Fraction]:
    """Return the largest `E f^2` over the truths that satisfy the expression, and over those that do not."""
    largest = {True: Fraction(0), False: Fraction(0)}
    records = every_record(design.sizes)
    for record, hit in zip(records.tolist(), expression.satisfied_by(records).tolist(), strict=True):
        outcomes = responses(record, design)
        factors = record_factors(np.array(list(outcomes), dtype=np.uint8), expression, design)
        pairs = zip(factors.kinds.tolist(), outcomes.values(), strict=True)
        square = sum((chance * factors.values[kind] ** 2 for kind, chance in pairs), Fraction(0))
        largest[hit] = max(largest[hit], square)
    return largest[True], largest[False]


WARNER = RelatedDesign((2,), ((0,),), Fraction(7, 10))
YES = Expression((Term(0, 1),))


def test_the_size_is_the_smallest_whose_half_width_is_small_enough() -> None:
    for design in few(SMALL[::3], 3):
        asked = [expression for expression in expressions(design.sizes) if expression.terms]
        for expression in asked[:: max(1, len(asked) // 4)]:
            for width, confidence, share in product((WIDTH, Fraction(1, 3)), (0.8, 0.99), (None, Fraction(1, 10))):
                needed = sample_size(design, expression, width, confidence, share)
                assert needed.expression == expression
                assert needed.groups == tuple(k for k, _ in design.touched(expression))
                assert planned(needed, needed.records) <= width
                assert needed.records == 2 or planned(needed, needed.records - 1) > width


def planned(needed: SampleSize, records: int) -> float:
    """Return the half-width at this many records."""
    alarm = (1 - needed.confidence) / needed.cells
    z = -NormalDist().inv_cdf(alarm / 2)
    return z * sqrt(needed.variance / records) * (1 - 1e-12)


def tree_cells(design: Design, class_column: int, depth: int) -> list[Expression]:
    """Return every conjunction of a class and up to `depth` other columns."""
    others = [column for column in range(len(design.sizes)) if column != class_column]
    chosen = [(class_column, *columns) for k in range(depth + 1) for columns in combinations(others, k)]
    return [
        Expression(tuple(Term(column, value) for column, value in zip(columns, values, strict=True)))
        for columns in chosen
        for values in product(*(range(design.sizes[column]) for column in columns))
    ]


def test_naive_bayes_needs_what_its_worst_cell_needs() -> None:
    for design in few(every_design(), 4):
        for class_column in range(len(design.sizes)):
            asked = tree_cells(design, class_column, 1)
            needed = naive_bayes_sample_size(design, class_column, WIDTH, 0.95)
            assert needed.cells == len(asked)
            assert needed.variance == max(record_variance(design, expression) for expression in asked)
            assert needed.expression in asked
            assert needed.variance == record_variance(design, needed.expression)
            assert needed.groups == tuple(k for k, _ in design.touched(needed.expression))
            assert needed.records == 2 or planned(needed, needed.records) <= WIDTH < planned(needed, needed.records - 1)


LOPSIDED = UnrelatedDesign(
    (2, 3, 2, 2), ((0, 1), (2,)), Fraction(1, 4), (*map(shares, ("1/9 8/9", "1/7 2/7 4/7", "1/2 1/2")), ())
)
MANY = RelatedDesign((2, 3, 2, 2, 5), ((0,), (1, 2), (3,)), Fraction(13, 20))


def test_no_cell_of_a_tree_needs_more_than_the_tree() -> None:
    for design in [*few(every_design()[::3], 3), LOPSIDED, MANY]:
        for class_column, depth in product((0, len(design.sizes) - 1), (0, 1, 2, 9)):
            asked = tree_cells(design, class_column, min(depth, len(design.sizes)))
            needed = tree_sample_size(design, class_column, depth, WIDTH, 0.95)
            assert needed.cells == len(asked)
            assert needed.expression is None
            assert needed.variance >= max(record_variance(design, expression) for expression in asked)
            assert needed.records == 2 or planned(needed, needed.records) <= WIDTH < planned(needed, needed.records - 1)
            assert len(needed.groups) <= depth + 1
            assert needed.groups == tuple(sorted(set(needed.groups)))


ALIKE = [
    RelatedDesign((2, 2, 2, 2, 2), ((0, 4), (1,), (2, 3)), Fraction(7, 10)),
    RelatedDesign((3, 3, 3, 2), ((0,), (1,), (2,)), Fraction(9, 20)),
    RelatedDesign((2, 3, 3, 2), ((0,), (1, 2), (3,)), Fraction(4, 5)),
    UnrelatedDesign((2, 2, 2), ((0,), (1,), (2,)), Fraction(1, 2), (shares("1/2 1/2"),) * 3),
    UnrelatedDesign((2, 2, 2), ((0,), (1,)), Fraction(1, 8), (shares("1/2 1/2"), shares("1/2 1/2"), ())),
]


def test_where_the_parts_of_a_group_are_alike_a_tree_needs_what_its_worst_cell_needs() -> None:
    for design in few(ALIKE, 2):
        for class_column, depth in product(range(len(design.sizes)), range(len(design.sizes))):
            asked = tree_cells(design, class_column, depth)
            needed = tree_sample_size(design, class_column, depth, WIDTH, 0.95)
            assert needed.variance == max(record_variance(design, expression) for expression in asked)
            own = design.group_of(class_column)
            assert len(needed.groups) == min(len(design.groups), depth + (own is not None))
            assert own is None or own in needed.groups


def test_a_tree_takes_its_classes_group_and_the_dearest_others() -> None:
    """At 7/10 a group of 2 offsets costs most; those of 3 and 5 hide less from the sum."""
    design = RelatedDesign((3, 2, 5, 2, 5), ((0,), (1,), (2,), (3,)), Fraction(7, 10))
    assert tree_sample_size(design, 4, 2, WIDTH, 0.95).groups == (1, 3)
    assert tree_sample_size(design, 4, 1, WIDTH, 0.95).groups == (1,)
    assert tree_sample_size(design, 2, 1, WIDTH, 0.95).groups == (1, 2)
    assert tree_sample_size(design, 2, 0, WIDTH, 0.95).groups == (2,)
    design = RelatedDesign((2,) * 60, (tuple(range(30)), tuple(range(30, 60))), Fraction(7, 10))
    needed = tree_sample_size(design, 59, 2, WIDTH, 0.95)
    assert needed.cells == 2 * (1 + 59 * 2 + 59 * 58 // 2 * 4)
    assert needed.variance == record_variance(design, Expression((Term(0, 0), Term(59, 0))))


def test_a_group_of_too_many_kinds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One column of three kinds makes four combinations with none, two make ten within depth 2."""
    chances = (shares("1/9 2/9 6/9"), shares("1/8 2/8 5/8"), shares("1/2 1/2"))
    design = UnrelatedDesign((3, 3, 2), ((0, 1), (2,)), Fraction(1, 2), chances)
    monkeypatch.setattr(module, "MAX_KINDS", 16)
    tree_sample_size(design, 2, 2, WIDTH, 0.95)
    monkeypatch.setattr(module, "MAX_KINDS", 15)
    with pytest.raises(InputError, match="a group has more than 15 kinds of expressions: lower the depth"):
        tree_sample_size(design, 2, 2, WIDTH, 0.95)
    tree_sample_size(design, 2, 1, WIDTH, 0.95)


SURVEYS = 200


def test_surveys_of_the_size_found_have_the_half_width_and_cover() -> None:
    """Two groups, `P(E)` known. Of 95 % intervals 93 % must cover at an alarm of 1e-5; a width too small is noticed."""
    design = RelatedDesign((2, 2), ((0,), (1,)), Fraction(4, 5))
    asked = Expression((Term(0, 0), Term(1, 0)))
    needed = sample_size(design, asked, Fraction(1, 20), 0.95, Fraction(1, 2))
    worst = np.array([[0, 0], [0, 1]], dtype=np.uint8)  # who fails, fails in one group
    generator = np.random.default_rng(5)
    found, hits = [], 0
    for _ in range(SURVEYS):
        codes = worst[generator.integers(2, size=needed.records)]
        sent = design.randomize(codes, bulk_draw(generator, needed.records))
        low, high = estimate_count(sent, asked, design).interval(0.95)
        found.append((high - low) / 2)
        hits += low <= 0.5 <= high
    assert fmean(found) == pytest.approx(0.05, rel=0.01)
    check = ShareTest(SURVEYS, Fraction(93, 100), ALARM)
    assert check.power(Fraction(3, 4)) > 0.99
    assert hits >= check.low


def test_variances_are_those_of_the_worst_population_and_sizes_those_worked_by_hand() -> None:
    for design in few(SMALL, 16):
        for expression in list(expressions(design.sizes))[::2]:
            satisfied, failed = second_moments(design, expression)
            for share in map(Fraction, ("0", "1/10", "1/2", "1")):
                expected = share * satisfied + (1 - share) * failed - share**2
                assert record_variance(design, expression, share) == expected
    for design in few(SMALL, 20):
        for expression in list(expressions(design.sizes))[::3]:
            worst = record_variance(design, expression)
            grid = [record_variance(design, expression, Fraction(k, 32)) for k in range(33)]
            assert max(grid) <= worst <= max(grid) + Fraction(1, 32**2)
    # Warner 1965: `P(1 - P) + theta(1 - theta)/(2 theta - 1)^2`; Greenberg 1969 for the unrelated question.
    for share in (Fraction(1, 10), Fraction(1, 2)):
        assert record_variance(WARNER, YES, share) == share * (1 - share) + Fraction(21, 16)
        unrelated = UnrelatedDesign((2,), ((0,),), Fraction(2, 5), (shares("2/3 1/3"),))
        yes = Fraction(2, 5) * share + Fraction(1, 5)
        assert record_variance(unrelated, YES, share) == yes * (1 - yes) / Fraction(2, 5) ** 2
    # `V = 1/4 + 21/16 = 25/16`, `z = 1.959964`, `w = 1/50`: `(1.959964 * 5/4 * 50)^2 = 15005.71`.
    assert sample_size(WARNER, YES, WIDTH, 0.95) == SampleSize(15006, Fraction(25, 16), YES, (0,), 1, 0.95, WIDTH)
    truthful = RelatedDesign((2,), ((0,),), Fraction(1))
    assert sample_size(truthful, YES, WIDTH, 0.95, Fraction(0)).records == 2
    assert sample_size(truthful, ROOT, WIDTH, 0.95, Fraction(1)).records == 2
    assert sample_size(truthful, YES, WIDTH, 0.95, Fraction(1, 10**6)).records == 2
    # Two groups at 3/4: `a = (7/4)^2`, `b = 7/4 * 3/4`, the top lies at 7/8; at 3/5 `a = 49`, `b = 42`: at 7/2.
    pair = Expression((Term(0, 0), Term(1, 0)))
    near = RelatedDesign((2, 2), ((0,), (1,)), Fraction(3, 4))
    assert record_variance(near, pair) == Fraction(21, 16) + Fraction(7, 8) ** 2
    far = RelatedDesign((2, 2), ((0,), (1,)), Fraction(3, 5))
    assert record_variance(far, pair) == record_variance(far, pair, Fraction(1)) == 48
    needed = sample_size(WARNER, YES, Fraction(1, 7), 0.9)
    assert needed.records == -(-(Fraction(quantile(0.9)) ** 2 * Fraction(25, 16) * 49) // 1)


def test_sizes_of_what_cannot_be_are_refused() -> None:
    for width in (Fraction(0), Fraction(1), Fraction(-1, 5), Fraction(6, 5)):
        text = f"a half-width must lie between 0 and 1, both excluded, not {width}"
        with pytest.raises(InputError, match=text):
            sample_size(WARNER, YES, width, 0.95)
        with pytest.raises(InputError, match=text):
            naive_bayes_sample_size(WARNER, 0, width, 0.95)
        with pytest.raises(InputError, match=text):
            tree_sample_size(WARNER, 0, 1, width, 0.95)
    for confidence in (0.0, 1.0, -1.0, 2.0):
        with pytest.raises(InputError, match="a confidence must lie between 0 and 1"):
            sample_size(WARNER, YES, WIDTH, confidence)
        with pytest.raises(InputError, match="a confidence must lie between 0 and 1"):
            naive_bayes_sample_size(WARNER, 0, WIDTH, confidence)
    for share in (Fraction(-1, 100), Fraction(101, 100)):
        with pytest.raises(InputError, match=f"a share must be between 0 and 1, not {share}"):
            sample_size(WARNER, YES, WIDTH, 0.95, share)
    for column in (-1, 1):
        text = f"column {column} is unknown: columns are 0 to 0"
        with pytest.raises(InputError, match=text):
            record_variance(WARNER, Expression((Term(column, 0),)))
        with pytest.raises(InputError, match=text):
            naive_bayes_sample_size(WARNER, column, WIDTH, 0.95)
        with pytest.raises(InputError, match=text):
            tree_sample_size(WARNER, column, 1, WIDTH, 0.95)
    for value in (-1, 2):
        with pytest.raises(InputError, match="column 0 has the values 0 to 1"):
            record_variance(WARNER, Expression((Term(0, value),)))
    with pytest.raises(InputError, match="the depth of a tree must be 0 or more, not -1"):
        tree_sample_size(WARNER, 0, -1, WIDTH, 0.95)
    design = RelatedDesign((*[256] * 200, 2), ((200,),), Fraction(4, 5))
    with pytest.raises(InputError, match="too many cells to plan for at once"):
        tree_sample_size(design, 200, 150, Fraction(1, 10), 0.95)
