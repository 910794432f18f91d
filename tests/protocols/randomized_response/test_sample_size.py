"""Sample sizes against exact moments, against the interval they are for, and against simulated surveys."""

from fractions import Fraction
from itertools import combinations, product
from math import sqrt
from statistics import NormalDist, fmean

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response import sample_size as module
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count, quantile, record_factors
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.sample_size import (
    SampleSize,
    naive_bayes_sample_size,
    record_variance,
    sample_size,
    tree_sample_size,
)
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.tables import ROOT, Expression, Term
from tests.support.binomial import ShareTest
from tests.support.enumeration import every_design, every_record, expressions, name, responses, shares

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


@pytest.mark.parametrize("design", SMALL[::3], ids=name)
def test_the_size_is_the_smallest_whose_half_width_is_small_enough(design: Design) -> None:
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


def naive_bayes_cells(design: Design, class_column: int) -> list[Expression]:
    return tree_cells(design, class_column, 1)


def tree_cells(design: Design, class_column: int, depth: int) -> list[Expression]:
    """Return every conjunction of a class and up to `depth` other columns."""
    others = [column for column in range(len(design.sizes)) if column != class_column]
    chosen = [(class_column, *columns) for k in range(depth + 1) for columns in combinations(others, k)]
    return [
        Expression(tuple(Term(column, value) for column, value in zip(columns, values, strict=True)))
        for columns in chosen
        for values in product(*(range(design.sizes[column]) for column in columns))
    ]


@pytest.mark.parametrize("design", every_design(), ids=name)
def test_naive_bayes_needs_what_its_worst_cell_needs(design: Design) -> None:
    for class_column in range(len(design.sizes)):
        asked = naive_bayes_cells(design, class_column)
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


@pytest.mark.parametrize("design", [*every_design()[::3], LOPSIDED, MANY], ids=repr)
def test_no_cell_of_a_tree_needs_more_than_the_tree(design: Design) -> None:
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


@pytest.mark.parametrize("design", ALIKE, ids=repr)
def test_where_the_parts_of_a_group_are_alike_a_tree_needs_what_its_worst_cell_needs(design: Design) -> None:
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


ALARM = 1e-8
SURVEYS = 300


def test_surveys_of_the_size_found_have_the_half_width_and_cover() -> None:
    """Two groups, `P(E)` known. Of 95 % intervals 93 % must cover at an alarm of 1e-8; a width too small is noticed."""
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
    for design in SMALL[::2]:
        for expression in list(expressions(design.sizes))[::2]:
            satisfied, failed = second_moments(design, expression)
            for share in map(Fraction, ("0", "1/10", "1/2", "1")):
                expected = share * satisfied + (1 - share) * failed - share**2
                assert record_variance(design, expression, share) == expected
    for design in SMALL[::3]:
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


def test_sizes_of_what_is_none_are_refused() -> None:
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
