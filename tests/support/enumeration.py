"""All outcomes of a small case with their exact chances: what the estimators are held against."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from protocols.randomized_response.design import Design, OneKind
from protocols.randomized_response.estimate import Estimate, estimate_count
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import Codes, Expression, Term
from tests.support.questions import QUESTIONS, Answers, question_answers

DESIGNS: dict[str, tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]] = {
    "Warner: one binary column": ((2,), ((0,),)),
    "Du-Zhan: one binary group": ((2, 2, 2), ((0, 1, 2),)),
    "multi-group: two binary groups": ((2, 2, 2), ((0, 2), (1,))),
    "multi-group: three binary groups": ((2, 2, 2, 2), ((0, 3), (1,), (2,))),
    "one column of five values": ((5,), ((0,),)),
    "equal domains of three": ((3, 3), ((0, 1),)),
    "dividing domains": ((2, 4), ((0, 1),)),
    "coprime domains": ((2, 3), ((1, 0),)),
    "two groups of mixed domains": ((2, 3, 4), ((0, 2), (1,))),
    "a column of one value": ((1, 2, 2), ((0, 1), (2,))),
    "three groups of mixed domains": ((2, 3, 2), ((0,), (1,), (2,))),
    "partial disguise": ((2, 3, 2), ((0,),)),
    "no disguise": ((2, 3), ()),
}
THETAS = tuple(map(Fraction, ("0", "1/7", "9/20", "9/10", "1")))
"""None is 1/L of a design above."""
BY_ODDS = tuple(map(Fraction, ("9/20", "4/5")))
"""Chances of the truth for two offsets, whose odds every group of a design above can have."""


def designs() -> list[RelatedDesign]:
    """Return every design with every theta: each group's own, and by odds where that is another thing.

    Of those by odds, also what is left without the last column, whose coins are tossed among more offsets than show.
    """
    each = [RelatedDesign(sizes, groups, theta) for (sizes, groups), theta in product(DESIGNS.values(), THETAS)]
    whole = [RelatedDesign.of_odds(*shape, theta) for shape, theta in product(DESIGNS.values(), BY_ODDS)]
    part = [RelatedDesign.of_odds((2, 2, 3), ((0, 2), (1,)), theta).of_first(2) for theta in BY_ODDS]
    return each + [design for design in whole if max(design.orders, default=1) > 2] + part


def own_truth(design: RelatedDesign, group: int) -> Fraction:
    """Return a group's chance of the truth, by the definition: theta, or all offsets of its coin that show none."""
    order = design.orders[group]
    if design.tossed is None or order == 1:
        return design.theta
    tossed, lie = design.tossed[group], 1 - design.theta
    return (design.theta + (tossed // order - 1) * lie) / (design.theta + (tossed - 1) * lie)


def name(design: Design) -> str:
    """Return a test's identifier."""
    if design in QUESTIONS.values():
        return next(key for key, value in QUESTIONS.items() if value == design)
    if isinstance(design, UnrelatedDesign):
        unrelated = {value: key for key, value in UNRELATED.items()}
        return f"unrelated, {unrelated[replace(design, theta=HALF)]}, theta {design.theta}"
    known = {value: key for key, value in DESIGNS.items()} | {((2, 2), ((0,), (1,))): "two columns, one tossed finer"}
    assert isinstance(design, RelatedDesign)
    odds = "" if design.tossed is None else ", by odds"
    return f"{known[design.sizes, design.groups]}, theta {design.theta}{odds}"


def chance(coins: Sequence[int], design: RelatedDesign) -> Fraction:
    """Return the chance of one record's coins, by the definition: the truth's for 0, an equal share for each lie."""
    shares = (
        own_truth(design, group) if coin == 0 else (1 - own_truth(design, group)) / (order - 1)
        for group, (coin, order) in enumerate(zip(coins, design.orders, strict=True))
        if order > 1
    )
    return prod(shares, start=Fraction(1))


def coin_outcomes(design: RelatedDesign) -> list[tuple[tuple[int, ...], Fraction]]:
    """Return all possible coins of one record with their chances, impossible ones left out."""
    every = product(*(range(order) for order in design.orders))
    return [(coins, share) for coins in every if (share := chance(coins, design))]


def disguised_copies(codes: Codes, design: RelatedDesign) -> Iterator[tuple[Codes, Fraction]]:
    """Yield every disguised copy that the records can have, once per outcome of all coins, with its chance."""
    for outcome in product(coin_outcomes(design), repeat=len(codes)):
        coins: NDArray[np.uint8] = np.array([c for c, _ in outcome], dtype=np.uint8).reshape(len(codes), -1)
        yield disguise(codes, coins, design), prod((p for _, p in outcome), start=Fraction(1))


def shares(text: str) -> tuple[Fraction, ...]:
    """Return the chances of a personal question, from a text such as `1/3 2/3`."""
    return tuple(map(Fraction, text.split()))


HALF = Fraction(1, 2)
UNRELATED = {
    "Greenberg: one binary column": UnrelatedDesign((2,), ((0,),), HALF, (shares("2/3 1/3"),)),
    "Surveys: one group": UnrelatedDesign((2, 2), ((0, 1),), HALF, (shares("1/2 1/2"), shares("1/5 4/5"))),
    "two groups of mixed domains": UnrelatedDesign(
        (2, 3, 2), ((0, 1), (2,)), HALF, tuple(map(shares, ("1/4 3/4", "1/6 1/2 1/3", "3/5 2/5")))
    ),
    "three groups": UnrelatedDesign(
        (2, 2, 2), ((2,), (0,), (1,)), HALF, tuple(map(shares, ("1/2 1/2", "1/3 2/3", "1 0")))
    ),
    "partial disguise": UnrelatedDesign((2, 3, 2), ((1,),), HALF, (shares(""), shares("1/2 0 1/2"), shares(""))),
    "a plain class": UnrelatedDesign((2, 2, 3), ((0, 1),), HALF, (shares("1/2 1/2"), shares("9/10 1/10"), shares(""))),
    "a column of one value": UnrelatedDesign((1, 2), ((0,), (1,)), HALF, (shares("1"), shares("1/4 3/4"))),
    "the same personal question twice": UnrelatedDesign(
        (2, 2), ((0, 1),), HALF, (shares("1/3 2/3"),) * 2, (shares("1/3 0 0 2/3"),)
    ),
    "dependent personal answers of one group": UnrelatedDesign(
        (2, 2, 3),
        ((1,), (2, 0)),
        HALF,
        (shares("1/2 1/2"), shares("1/5 4/5"), shares("1/2 1/4 1/4")),
        ((), shares("3/8 1/8 0 1/4 1/8 1/8")),
    ),
}
UNRELATED_THETAS = tuple(map(Fraction, ("1/7", "1/2", "9/10", "1")))


def unrelated_designs() -> list[UnrelatedDesign]:
    """Return every design of unrelated questions with every theta."""
    return [replace(design, theta=theta) for design, theta in product(UNRELATED.values(), UNRELATED_THETAS)]


def every_design() -> list[Design]:
    """Return every design of every kind with every theta."""
    return [*designs(), *unrelated_designs(), *QUESTIONS.values()]


Response = tuple[int, ...]


def responses(truth: Sequence[int], design: Design) -> dict[Response, Fraction]:
    """Return every response to one true record with its chance, by the definition of the design."""
    answers = [(tuple(truth), Fraction(1))]
    for k, group in enumerate(design.groups):
        said = _said(truth, group, design.part(k))
        answers = [
            (_replaced(answer, group, values), share * chance) for answer, share in answers for values, chance in said
        ]
    return _gathered(answers)


def _said(truth: Sequence[int], group: tuple[int, ...], part: Design) -> Answers:
    """Return what a respondent says to a group with its chances."""
    assert isinstance(part, OneKind)
    known = question_answers(truth, group, part)
    if known is not None:
        return known
    if isinstance(part, UnrelatedDesign):
        return _group_answers(truth, group, part)
    assert isinstance(part, RelatedDesign)
    own = part.of_groups([part.groups.index(group)])
    moved = [(_shifted(truth, coins, own), share) for coins, share in coin_outcomes(own)]
    return [(tuple(response[column] for column in group), share) for response, share in moved]


def _shifted(truth: Sequence[int], coins: Sequence[int], design: RelatedDesign) -> Response:
    shift = {column: coin for coin, group in zip(coins, design.groups, strict=True) for column in group}
    return tuple((v + shift.get(c, 0)) % design.sizes[c] for c, v in enumerate(truth))


def _group_answers(
    truth: Sequence[int], group: Sequence[int], design: UnrelatedDesign
) -> list[tuple[Response, Fraction]]:
    told = [(tuple(truth[column] for column in group), design.theta)]
    joint = design.joint[design.groups.index(tuple(group))] if design.joint else ()
    for place, values in enumerate(product(*(range(design.sizes[column]) for column in group))):
        chances = (design.personal[column][value] for column, value in zip(group, values, strict=True))
        told.append((values, (1 - design.theta) * (joint[place] if joint else prod(chances, start=Fraction(1)))))
    return told


def _replaced(answer: Response, group: Sequence[int], values: Sequence[int]) -> Response:
    new = dict(zip(group, values, strict=True))
    return tuple(new.get(column, value) for column, value in enumerate(answer))


def _gathered(outcomes: Sequence[tuple[Response, Fraction]]) -> dict[Response, Fraction]:
    total: dict[Response, Fraction] = {}
    for response, chance in outcomes:
        total[response] = total.get(response, Fraction(0)) + chance
    return {response: chance for response, chance in total.items() if chance}


def response_tables(codes: Codes, design: Design) -> Iterator[tuple[Codes, Fraction]]:
    """Yield every table of responses to these records with its chance."""
    each = [responses(record, design).items() for record in codes.tolist()]
    for outcome in product(*each):
        table = np.array([response for response, _ in outcome], dtype=np.uint8)
        yield table, prod((chance for _, chance in outcome), start=Fraction(1))


def expressions(sizes: Sequence[int]) -> Iterator[Expression]:
    """Yield every conjunction over these columns, the empty one first."""
    for values in product(*(range(-1, size) for size in sizes)):
        yield Expression(tuple(Term(column, value) for column, value in enumerate(values) if value >= 0))


def every_record(sizes: Sequence[int]) -> Codes:
    """Return all possible records."""
    return np.array(list(product(*(range(size) for size in sizes))), dtype=np.uint8)


def true_count(codes: Codes, expression: Expression) -> int:
    """Count by the definition, record by record."""
    return sum(all(row[term.column] == term.value for term in expression.terms) for row in codes.tolist())


def assert_unbiased(codes: Codes, copies: Sequence[tuple[Codes, Fraction]], design: Design) -> None:
    """Check that estimates from all copies, each with its chance, have the truth for mean, and their variance too."""
    assert sum(chance for _, chance in copies) == 1
    for expression in expressions(design.sizes):
        truth = true_count(codes, expression)
        estimates: dict[Estimate, Fraction] = defaultdict(Fraction)  # many copies give the same
        for copy, chance in copies:
            estimates[estimate_count(copy, expression, design)] += chance
        assert sum(chance * e.count for e, chance in estimates.items()) == truth
        variance = sum(chance * (e.count - truth) ** 2 for e, chance in estimates.items())
        assert sum(chance * e.variance for e, chance in estimates.items()) == variance


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Solve a linear system by Gauss-Jordan elimination, exactly."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(k for k in range(i, len(rows)) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(len(rows)):
            if k != i and rows[k][i]:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]
