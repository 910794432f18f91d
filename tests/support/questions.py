"""Designs of statements, forced responses and groups of several kinds, and what respondents say by their definition."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

from protocols.randomized_response.crosswise import CrosswiseDesign, ForcedDesign, TriangularDesign
from protocols.randomized_response.design import OneKind
from protocols.randomized_response.mixed import MixedDesign
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign

Answers = list[tuple[tuple[int, ...], Fraction]]

DIE = (Fraction(1, 2), Fraction(1, 2))
THIRDS = (Fraction(1, 6), Fraction(1, 2), Fraction(1, 3))


def crosswise(sizes: tuple[int, ...], columns: Sequence[int], prevalence: str) -> CrosswiseDesign:
    return CrosswiseDesign(sizes, tuple((column,) for column in columns), Fraction(prevalence))


def triangular(sizes: tuple[int, ...], columns: Sequence[int], prevalence: str) -> TriangularDesign:
    return TriangularDesign.of_prevalence(sizes, tuple((column,) for column in columns), Fraction(prevalence))


def mixed() -> MixedDesign:
    """Return a design of all kinds, whose columns do not stand in the order of their groups, and a plain column."""
    sizes = (2, 3, 2, 2, 2, 2)
    chances: tuple[tuple[Fraction, ...], ...] = ((), THIRDS, (), (), (), ())
    parts: list[OneKind] = [
        CrosswiseDesign(sizes, ((4,),), Fraction(1, 6)),
        RelatedDesign(sizes, ((0, 2),), Fraction(9, 10)),
        UnrelatedDesign(sizes, ((1,),), Fraction(1, 2), chances),
        TriangularDesign.of_prevalence(sizes, ((5,),), Fraction(1, 4)),
    ]
    return MixedDesign.of(sizes, parts)


def two_kinds() -> MixedDesign:
    """Return a small design of two kinds."""
    sizes = (2, 2)
    return MixedDesign.of(
        sizes, [crosswise(sizes, [1], "1/4"), ForcedDesign(sizes, ((0,),), Fraction(2, 3), (DIE, ()))]
    )


QUESTIONS: dict[str, OneKind | MixedDesign] = {
    "crosswise, one statement": crosswise((2,), [0], "1/6"),
    "crosswise, two and a plain column": crosswise((2, 3, 2), [2, 0], "4/5"),
    "triangular, one statement": triangular((2,), [0], "1/4"),
    "triangular, two and a plain column": triangular((2, 2, 3), [0, 1], "2/5"),
    "forced by a die": ForcedDesign((2,), ((0,),), Fraction(2, 3), (DIE,)),
    "forced, a group of two": ForcedDesign((2, 3), ((0, 1),), Fraction(3, 4), (DIE, THIRDS)),
    "two kinds": two_kinds(),
    "all kinds": mixed(),
}


def question_answers(truth: Sequence[int], group: Sequence[int], part: OneKind) -> Answers | None:
    """Return what a respondent says to a group with its chances, by the definition; None for other kinds."""
    own = tuple(truth[column] for column in group)
    if isinstance(part, CrosswiseDesign):
        harmless = ((1, part.prevalence), (0, 1 - part.prevalence))
        return [((int(own[0] == other),), chance) for other, chance in harmless]
    if isinstance(part, TriangularDesign):
        harmless = ((1, part.prevalence), (0, 1 - part.prevalence))
        return [((int(own[0] == 1 or other == 1),), chance) for other, chance in harmless]
    if isinstance(part, ForcedDesign):
        said = [(own, part.theta)]
        for values in product(*(range(part.sizes[column]) for column in group)):
            each = (part.personal[column][value] for column, value in zip(group, values, strict=True))
            said.append((values, prod(each, start=1 - part.theta)))
        return said
    return None
