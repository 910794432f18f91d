"""One attribute as seen by a receiver who reads every response of its group.

Attributes that share a coin give each other away: a response that is unlikely to be true for one of them suggests a lie
about all of them. So the posterior of an attribute given all responses of its group may be far from the one given its
own alone. It is exact here for attributes that are independent of each other; where they are not, it may be further
still.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from protocols.errors import InputError
from protocols.privacy.entry import Entry, MatrixRow, check_column, check_distribution
from protocols.randomized_response.design import Design, cells

MAX_ENTRY_CELLS = 256


def is_small(design: Design, column: int) -> bool:
    """Tell whether the group of a column has few enough joint cells for `entry_in_group`."""
    group = design.group_of(column)
    return group is not None and prod(design.sizes[own] for own in design.groups[group]) <= MAX_ENTRY_CELLS


def entry_in_group(design: Design, column: int, priors: Sequence[MatrixRow]) -> Entry:
    """Return one column as seen by a receiver who reads every response of its group.

    Responses are the joint cells of the group in row-major order.

    Args:
        design: How the records are disguised.
        column: A column of a group.
        priors: Chance of each value, for every column of the design; columns are taken as independent.

    Raises:
        InputError: There is no such column, it is plain, its group has too many cells, or a prior is not a
            distribution.
    """
    check_column(design, column)
    group = design.group_of(column)
    if group is None or not is_small(design, column):
        raise InputError(f"column {column} is plain, or its group has more than {MAX_ENTRY_CELLS} joint cells")
    columns = design.groups[group]
    if len(priors) != len(design.sizes) or any(len(priors[own]) != design.sizes[own] for own in columns):
        raise InputError("every column needs a prior, with a chance for each of its values")
    for own in columns:
        check_distribution(priors[own], f"the prior of column {own}")
    truths = cells([design.sizes[own] for own in columns])
    position = columns.index(column)
    others = [
        prod((priors[own][code] for own, code in zip(columns, cell, strict=True) if own != column), start=Fraction(1))
        for cell in truths
    ]
    rows = []
    for chances in design.transition(group, columns):
        row = [Fraction(0)] * design.sizes[column]
        for cell, other, chance in zip(truths, others, chances, strict=True):
            if chance:
                row[cell[position]] += other * chance
        rows.append(tuple(row))
    return Entry(tuple(priors[column]), tuple(rows))
