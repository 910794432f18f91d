"""What a response does to belief in a value: breach levels, and how far a belief rises (DESIGN 10).

A *breach of level b* is a value that some response makes true with chance b or more (Review section 4, there of an item
in a transaction). It includes beliefs that were strong before; an *upward breach from rho1 to rho2* (Evfimievski,
Gehrke, Srikant 2003), a value of prior at most rho1 and posterior at least rho2, does not. Values are taken one by one,
not in sets. No command reports upward breaches: they are here to compare with the literature.
"""

from dataclasses import dataclass
from fractions import Fraction

from protocols.errors import InputError
from protocols.privacy.entry import Entry


@dataclass(frozen=True)
class Breach:
    """The largest posterior, and every (response, value) that reaches it."""

    level: Fraction
    where: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Rise:
    """The largest rise of a belief: a value, the response that raises it, and the chances before and after."""

    response: int
    value: int
    before: Fraction
    after: Fraction


def breach(entry: Entry) -> Breach:
    """Return the breach level of an attribute: the largest chance that any response gives any value."""
    chances = _chances(entry)
    level = max(chances.values())
    return Breach(level, tuple(place for place, chance in chances.items() if chance == level))


def largest_rise(entry: Entry) -> Rise:
    """Return the value that some response raises most, `P(x | r) - P(x)`; ties go to the first."""
    chances = _chances(entry)
    response, value = max(chances, key=lambda place: chances[place] - entry.prior[place[1]])
    return Rise(response, value, entry.prior[value], chances[response, value])


def repeated(entry: Entry, times: int) -> Entry:
    """Return what the receiver has if the *same* response came `times` times, each with fresh coins.

    The first rows are "response r every time"; the last is everything else. This is why coins are made once (DESIGN
    4.6).

    Raises:
        InputError: `times` is below 1.
    """
    if times < 1:
        raise InputError("a response is given once or more")
    rows = tuple(tuple(chance**times for chance in row) for row in entry.matrix)
    rest = tuple(1 - sum(column) for column in zip(*rows, strict=True))
    return Entry(entry.prior, (*rows, rest))


def repeated_level(entry: Entry, times: int) -> Fraction:
    """Return the largest chance that the same response, `times` times with fresh coins, gives a value."""
    every = repeated(entry, times).posteriors[: len(entry.matrix)]
    return max(max(posterior) for posterior in every if posterior is not None)


def _chances(entry: Entry) -> dict[tuple[int, int], Fraction]:
    """Return the posterior of every (response, value), responses that are never given left out."""
    return {
        (response, value): chance
        for response, posterior in enumerate(entry.posteriors)
        if posterior is not None
        for value, chance in enumerate(posterior)
    }
