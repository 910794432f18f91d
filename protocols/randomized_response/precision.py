"""Whether an estimated share tells anything: an interval that leaves most shares open is no news."""

from math import ceil, isfinite, log, sqrt

WIDEST = 0.5
_NORMAL = 1.959964  # of an interval at 95 %, either way


def tells(standard_error: float) -> bool:
    """Tell whether the interval of a share at 95 % is at most half as wide as all shares, which are 0 to 1.

    >>> tells(0.127), tells(0.128)
    (True, False)
    """
    return 2 * _NORMAL * standard_error <= WIDEST


def records_to_tell(records: int, standard_error: float) -> int:
    """Return how many records would make the interval narrow enough: errors fall with the root of their number.

    >>> records_to_tell(100, 1.0)
    6147
    """
    return ceil(records * (2 * _NORMAL * standard_error / WIDEST) ** 2) if isfinite(standard_error) else 2


def gain_error(records: int, values: int, classes: int, contrasts: float) -> float:
    """Return about the standard error, in bits, of the estimated gain of a column that tells nothing (DESIGN 5.3).

    The gain is then a mean of squares of `(v - 1)(c - 1)` normal errors: its own mean is the bias, which is taken off.

    Args:
        records: How many there are.
        values: Of the column, equally common.
        classes: How many, equally common.
        contrasts: Of the column's coin times that of the class's, 1 for what is sent as it is.
    """
    free = (values - 1) * (classes - 1)
    return sqrt(2 * free) / (2 * records * log(2) * contrasts**2)
