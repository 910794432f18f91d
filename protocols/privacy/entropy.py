"""Secret bits left: the entropy of a record's coins, and of an attribute once its response is known (DESIGN 10).

Under the related question a response and its coin give the truth away, so the coins' entropy is *the most* that a
record keeps secret, however many attributes it has. Under the unrelated question it is not such a bound: a group that
did not tell the truth keeps all of it secret.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import fsum, log2

from protocols.privacy.entry import Entry, check_group
from protocols.randomized_response.design import Design


def entropy_bits(chances: Iterable[Fraction]) -> float:
    """Return `sum p log2(1/p)` in bits, with `0 log 0 = 0`.

    >>> entropy_bits([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(0)])
    1.5
    """
    return fsum(float(p) * (log2(p.denominator) - log2(p.numerator)) for p in chances if p)


def group_coin_entropy(design: Design, group: int) -> float:
    """Return the bits of one group's coin.

    Raises:
        InputError: There is no such group.
    """
    check_group(design, group)
    return entropy_bits(design.coin_chances(group))


def record_coin_entropy(design: Design) -> float:
    """Return the bits of all coins of a record: the sum over groups, each of which tosses its own."""
    return fsum(group_coin_entropy(design, group) for group in range(len(design.groups)))


def entropy_before(entry: Entry) -> float:
    """Return `H(X)`: what the receiver does not know of an attribute before the response."""
    return entropy_bits(entry.prior)


def entropy_left(entry: Entry) -> float:
    """Return `H(X | response)`: what the receiver does not know of an attribute, on average, given the response."""
    return fsum(
        float(chance) * entropy_bits(posterior)
        for chance, posterior in zip(entry.responses, entry.posteriors, strict=True)
        if posterior is not None
    )
