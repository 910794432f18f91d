"""Small surveys of both kinds, and all their outcomes with exact chances."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from protocols.randomized_response.design import Design, cells
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import Codes, Schema
from tests.support.declaration import joint_transition

HALF = Fraction(1, 2)
"""With theta and all personal chances powers of 1/2 every weight is a short binary fraction: floats hold it exactly."""


def schema_for(sizes: tuple[int, ...]) -> Schema:
    names = [*(f"x{i}" for i in range(len(sizes) - 1)), "class"]
    return survey_schema(names, [tuple(f"v{v}" for v in range(size)) for size in sizes])


def uniform(sizes: tuple[int, ...], groups: tuple[tuple[int, ...], ...]) -> tuple[tuple[Fraction, ...], ...]:
    """Return uniform personal chances for the columns of the groups."""
    hidden = {column for group in groups for column in group}
    return tuple((Fraction(1, size),) * size if c in hidden else () for c, size in enumerate(sizes))


def unrelated(sizes: tuple[int, ...], groups: tuple[tuple[int, ...], ...], theta: Fraction = HALF) -> UnrelatedDesign:
    return UnrelatedDesign(sizes, groups, theta, uniform(sizes, groups))


SIZES = (2, 4, 2, 2)
GROUPS: dict[str, tuple[tuple[int, ...], ...]] = {
    "one group": ((0, 1, 2, 3),),
    "two groups": ((0, 3), (1, 2)),
    "three groups": ((0,), (1,), (2, 3)),
    "a plain class": ((0, 1), (2,)),
    "a plain attribute": ((1, 3),),
    "nothing disguised": (),
}
RELATED_THETA = Fraction(3, 4)
"""A group of two values weighs 3/2 and -1/2; the groups of four values are not exact."""


def designs() -> dict[str, Design]:
    """Return both kinds over the same columns."""
    found: dict[str, Design] = {}
    for name, groups in GROUPS.items():
        found[f"unrelated, {name}"] = unrelated(SIZES, groups)
        found[f"related, {name}"] = RelatedDesign(SIZES, groups, RELATED_THETA)
    joint = tuple(tuple(map(Fraction, text.split())) for text in ("1/2 0 0 1/2", "1/4 0 0 1/4 1/8 1/8 1/8 1/8"))
    found["unrelated, dependent answers"] = replace(unrelated(SIZES, GROUPS["two groups"]), joint=joint)
    return found


def sampled(design: Design, codes: Codes, seed: int = 0) -> Responses:
    """Disguise records with coins in bulk."""
    sent = design.randomize(codes, bulk_draw(np.random.default_rng(seed), len(codes)))
    return Responses(schema_for(design.sizes), sent, design)


def every_survey(design: Design, codes: Codes) -> Iterator[tuple[Responses, Fraction]]:
    """Yield every survey that these records can give, with its chance, from the declared transition matrix."""
    every = cells(design.sizes)
    matrix = joint_transition(design, range(len(design.sizes)))
    outcomes = []
    for row in codes.tolist():
        truth = every.index(tuple(row))
        outcomes.append([(cell, matrix[r][truth]) for r, cell in enumerate(every) if matrix[r][truth]])
    for combination in product(*outcomes):
        sent = np.array([cell for cell, _ in combination], dtype=np.uint8)
        yield Responses(schema_for(design.sizes), sent, design), prod((p for _, p in combination), start=Fraction(1))
