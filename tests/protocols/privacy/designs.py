"""Small designs of both kinds, and skewed priors: what the measures are held against by enumeration."""

from collections.abc import Sequence
from fractions import Fraction

from protocols.privacy.entry import MatrixRow
from protocols.randomized_response.design import Design, Matrix
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign


def shares(text: str) -> MatrixRow:
    return tuple(map(Fraction, text.split()))


def related(sizes: Sequence[int], groups: Sequence[Sequence[int]], theta: str) -> RelatedDesign:
    return RelatedDesign(tuple(sizes), tuple(map(tuple, groups)), Fraction(theta))


def unrelated(groups: Sequence[Sequence[int]], theta: str, personal: Sequence[str], *sizes: int) -> UnrelatedDesign:
    """Return a design whose domain sizes are those of the personal chances, or as given where these are empty."""
    known = [shares(text) for text in personal]
    wide = sizes or tuple(len(chances) for chances in known)
    return UnrelatedDesign(wide, tuple(map(tuple, groups)), Fraction(theta), tuple(known))


DESIGNS: dict[str, Design] = {
    "Warner": related([2], [[0]], "9/20"),
    "Du-Zhan": related([2, 2, 2], [[0, 1, 2]], "9/10"),
    "two groups": related([2, 3, 4], [[0, 2], [1]], "9/20"),
    "coprime": related([2, 3], [[1, 0]], "9/20"),
    "more lies than truth": related([3, 3], [[0, 1]], "1/10"),
    "always one of two lies": related([3, 6], [[0, 1]], "0"),
    "always the lie": related([2, 2], [[0, 1]], "0"),
    "always the truth": related([2, 4], [[0, 1]], "1"),
    "partial disguise": related([2, 3, 1], [[0]], "9/20"),
    "one value": related([1, 2, 2], [[0, 1], [2]], "9/20"),
    "no disguise": related([2, 3], [], "9/20"),
    "Greenberg": unrelated([[0]], "1/2", ["2/3 1/3"]),
    "unrelated, one group": unrelated([[0, 1]], "2/5", ["1/2 1/2", "1/5 4/5"]),
    "unrelated, mixed": unrelated([[0, 1], [2]], "9/10", ["1/4 3/4", "1/6 1/2 1/3", "3/5 2/5"]),
    "unrelated, a value never sent": unrelated([[1], [0]], "1/7", ["1 0", "1/2 0 1/2"]),
    "unrelated, partial": unrelated([[0]], "1/2", ["1/3 2/3", ""], 2, 2),
    "unrelated, dependent answers": UnrelatedDesign(
        (2, 3),
        ((1, 0),),
        Fraction(1, 2),
        (shares("1/2 1/2"), shares("1/2 1/4 1/4")),
        (shares("3/8 1/8 0 1/4 1/8 1/8"),),
    ),
    "unrelated, always the truth": unrelated([[0, 1]], "1", ["1/2 1/2", "1/2 1/2"]),
}


def skewed(size: int) -> MatrixRow:
    """Return a prior that gives every value another chance."""
    total = size * (size + 1) // 2
    return tuple(Fraction(value + 1, total) for value in range(size))


def certain(size: int) -> MatrixRow:
    """Return a prior that knows the value."""
    return (Fraction(1), *[Fraction(0)] * (size - 1))


def binary_unrelated(theta: Fraction, yes: Fraction) -> Matrix:
    """Return the transition matrix of one binary attribute, values 0 and 1, `yes` the chance `W_y` of a personal 1."""
    lie = 1 - theta
    return (theta + lie * (1 - yes), lie * (1 - yes)), (lie * yes, theta + lie * yes)
