"""The ends of a declared range, and what is beyond them."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from protocols.kinds import Between, Exact, Flag, Label, LabelList, Pick, PickList, ValueKind

LONG = Fraction(1, 10**18)
FINE = Fraction(1, 10**17)
DIGITS = "must be a fraction of at most 18 digits above and below the line"


def beyond(kind: ValueKind) -> Iterator[tuple[Any, str]]:
    """Yield values that are not of a kind, each with what is said of it."""
    match kind:
        case Between(low, high):
            yield from ((value, kind.legal) for value in (low - 1, high + 1, True, "3", 1.0))
        case Exact(low, high):
            yield from ((value, kind.legal) for value in (low - 1, *kind.opens))
            yield high + LONG, DIGITS
            if high < 10**17:
                yield high + 1, kind.legal
        case Pick() | Label():
            yield from ((value, kind.legal) for value in ("", "x" * 1025))
        case PickList():
            yield from ((value, kind.legal) for value in ((), ("x",)))
        case Flag():
            yield from ((value, kind.legal) for value in (1, "true"))
        case LabelList():
            yield from ((value, kind.legal) for value in (("",), ("x" * 1025,), ("0", "0")))
    if not kind.word and isinstance(kind, Between):
        yield None, kind.legal


def within(kind: ValueKind) -> Iterator[Any]:
    """Yield the ends of a range."""
    match kind:
        case Between(low, high):
            yield from (low, high)
        case Exact(low, high):
            yield from (low + FINE if low in kind.opens else low, high - FINE if high in kind.opens else high)
        case Pick(of):
            yield from of
        case PickList(of):
            yield from ((*of,), (next(iter(of)),))
        case Flag():
            yield from (False, True)
        case Label():
            yield from ("x", "x" * 1024)
        case LabelList():
            yield from ((), ("0", "x" * 1024))
    if kind.word:
        yield None
    if isinstance(kind, Between) and kind.other:
        yield kind.other
