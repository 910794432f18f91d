"""What a receiver learns who knows a respondent's personal answer (DESIGN 10): of how many the truth is then certain.

Epsilon says how bad it may get, and is infinite (`loss.known_answers_loss`); this says how often.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from protocols.privacy.entry import MatrixRow, check_group
from protocols.randomized_response.design import Design
from protocols.randomized_response.triangular import TriangularDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign


def given_away(design: Design, group: int, priors: Sequence[MatrixRow]) -> Fraction | None:
    """Return the share of respondents whose truths in a group are certain to who knows their personal answers.

    With `y` known, the crosswise response has one possible truth always, the triangular one where the harmless
    statement is not true, the unrelated one where it differs from `y` in some column.

    Args:
        design: How the records are disguised.
        group: Index of the group.
        priors: Chance of each value, for every column of the design; columns are taken as independent.

    Returns:
        None where the group's responses rest on no personal answer.

    Raises:
        InputError: There is no such group.
    """
    check_group(design, group)
    own = design.part(group)
    if not own.asks_personally:
        return None
    if isinstance(own, TriangularDesign):
        return design.truth(group)
    if isinstance(own, UnrelatedDesign):
        return design.truth(group) * (1 - _agreement(own, design.groups[group], priors))
    return Fraction(1)


def _agreement(own: UnrelatedDesign, columns: Sequence[int], priors: Sequence[MatrixRow]) -> Fraction:
    """Return the chance that the true and the personal answers of a group are the same."""
    if joint := own.joint_cells(columns[0]):
        return sum((prod((priors[c][v] for c, v in cell.items()), start=chance) for cell, chance in joint), Fraction(0))
    each = (
        sum((before * chance for before, chance in zip(priors[c], own.personal[c], strict=True)), Fraction(0))
        for c in columns
    )
    return prod(each, start=Fraction(1))
