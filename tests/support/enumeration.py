"""All outcomes of a small case with their exact chances: what the estimators are held against."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from protocols.randomized_response.multi_group import MultiGroupDesign, disguise
from protocols.tables.expression import Expression, Term
from protocols.tables.table import Codes

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


def designs() -> list[MultiGroupDesign]:
    """Return every design with every theta."""
    return [MultiGroupDesign(sizes, groups, theta) for (sizes, groups), theta in product(DESIGNS.values(), THETAS)]


def name(design: MultiGroupDesign) -> str:
    """Return a test's identifier."""
    known = {value: key for key, value in DESIGNS.items()}
    return f"{known[design.sizes, design.groups]}, theta {design.theta}"


def chance(coins: Sequence[int], design: MultiGroupDesign) -> Fraction:
    """Return the chance of one record's coins, by the definition: theta for 0, an equal share for each lie."""
    shares = (
        design.theta if coin == 0 else (1 - design.theta) / (order - 1)
        for coin, order in zip(coins, design.orders, strict=True)
        if order > 1
    )
    return prod(shares, start=Fraction(1))


def coin_outcomes(design: MultiGroupDesign) -> list[tuple[tuple[int, ...], Fraction]]:
    """Return all possible coins of one record with their chances, impossible ones left out."""
    every = product(*(range(order) for order in design.orders))
    return [(coins, chance(coins, design)) for coins in every if chance(coins, design)]


def disguised_copies(codes: Codes, design: MultiGroupDesign) -> Iterator[tuple[Codes, Fraction]]:
    """Yield every disguised copy that the records can have, once per outcome of all coins, with its chance."""
    for outcome in product(coin_outcomes(design), repeat=len(codes)):
        coins: NDArray[np.uint8] = np.array([c for c, _ in outcome], dtype=np.uint8).reshape(len(codes), -1)
        yield disguise(codes, coins, design), prod((p for _, p in outcome), start=Fraction(1))


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
