"""The kinds and ranges of declared values, which readers, codecs and tests of ranges follow.

A field declares its kind in its annotation, as in `omega: Annotated[int | None, Between(1, 9, "all")]`.
A value that may be left open is `None` then; `word` is what people write for it.
"""

from collections.abc import Hashable, Mapping
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Any, Final, cast, get_type_hints

from protocols.errors import InputError

MOST_DIGITS: Final = 18  # of a fraction, above and below the line
MAX_LABEL: Final = 1024  # characters of a name or a value label


@dataclass(frozen=True)
class Between:
    """An integer from `low` to `high`, or the word `other`, which stays as it is."""

    low: int
    high: int
    word: str | None = None
    other: str | None = None

    @property
    def legal(self) -> str:
        """The range in words."""
        words = [f'"{each}"' for each in (self.other, self.word) if each is not None]
        return f"must be an integer from {self.low} to {self.high}" + (f", or {' or '.join(words)}" if words else "")

    def problem(self, value: object) -> str | None:
        """Return what is wrong with a value, if anything."""
        if (value is None and self.word) or (self.other is not None and value == self.other):
            return None
        return None if type(value) is int and self.low <= value <= self.high else self.legal

    def text(self, value: int | None) -> str:
        """Return a value as people write it."""
        return str(self.word) if value is None else str(value)

    def parse(self, text: str, field: str | None = None) -> int | None:
        """Return the value that a word names.

        >>> Between(1, 9, "any").parse("any"), Between(1, 9, "any").parse("3")
        (None, 3)
        """
        if text == self.word:
            return None
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(self.high)) else None
        if number is None or not self.low <= number <= self.high:
            raise InputError(self.legal, field=field)
        return number


@dataclass(frozen=True)
class Exact:
    """A fraction from `low` to `high`, the ends among them unless they are `open`."""

    low: Fraction
    high: Fraction
    legal: str
    word: str | None = None
    opens: tuple[Fraction, ...] = ()

    def problem(self, value: Fraction | None) -> str | None:
        """Return what is wrong with a value, if anything."""
        if value is None:
            return None if self.word else self.legal
        if max(abs(value.numerator), value.denominator) >= 10**MOST_DIGITS:
            return f"must be a fraction of at most {MOST_DIGITS} digits above and below the line"
        return None if self.low <= value <= self.high and value not in self.opens else self.legal

    def text(self, value: Fraction | None) -> str:
        """Return a value as people write it: a decimal where that is exact.

        >>> share = Exact(Fraction(0), Fraction(1), "", "none")
        >>> [share.text(value) for value in (None, Fraction(1, 2), Fraction(1, 3))]
        ['none', '0.5', '1/3']
        """
        if value is None:
            return str(self.word)
        decimal = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
        return decimal if Fraction(decimal) == value else str(value)


@dataclass(frozen=True)
class Pick:
    """One of the members of a choice."""

    of: type[StrEnum]
    word: None = None

    @property
    def legal(self) -> str:
        """The range in words."""
        *others, last = [each.value for each in self.of]
        return f"must be {', '.join(others)} or {last}"

    def problem(self, value: object) -> str | None:
        """Return what is wrong with a value, if anything."""
        return None if value in [*self.of] else self.legal


@dataclass(frozen=True)
class PickList:
    """Some of the members of a choice."""

    of: type[StrEnum]
    word: None = None

    @property
    def legal(self) -> str:
        """The range in words."""
        return f"must list some of {', '.join(each.value for each in self.of)}"

    def problem(self, value: tuple[StrEnum, ...]) -> str | None:
        """Return what is wrong with a value, if anything."""
        return None if value and {*value} <= {*self.of} else self.legal


@dataclass(frozen=True)
class Label:
    """A text of 1 to 1024 characters."""

    word: None = None
    legal = f"must be text of 1 to {MAX_LABEL} characters"

    def problem(self, value: str) -> str | None:
        """Return what is wrong with a value, if anything."""
        return None if 1 <= len(value) <= MAX_LABEL else self.legal


@dataclass(frozen=True)
class LabelList:
    """Different texts."""

    word: None = None
    legal = f"must be different texts of 1 to {MAX_LABEL} characters"

    def problem(self, value: tuple[str, ...]) -> str | None:
        """Return what is wrong with a value, if anything."""
        fits = all(1 <= len(each) <= MAX_LABEL for each in value) and len(set(value)) == len(value)
        return None if fits else self.legal


@dataclass(frozen=True)
class Flag:
    """True or false."""

    word: None = None
    legal = "must be true or false"

    def problem(self, value: object) -> str | None:
        """Return what is wrong with a value, if anything."""
        return None if type(value) is bool else self.legal


ValueKind = Between | Exact | Pick | PickList | Label | LabelList | Flag


def exact_number(text: str) -> Fraction | None:
    """Return the fraction that a short text plainly stands for, or None.

    >>> exact_number("9/20"), exact_number("0.45") == exact_number("9/20"), exact_number("1e9")
    (Fraction(9, 20), True, None)
    """
    if len(text) > 40 or not text.isascii() or set(text) - set("+-0123456789./"):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def from_plain(kind: ValueKind, value: Any) -> Any:
    """Return the value that JSON has as this: fractions as text, choices by name.

    Raises:
        InputError: A choice has no member of this name.
        ValueError: It is no fraction.
    """
    match kind:
        case _ if value is None:
            return None
        case Pick(of):
            return of(value)
        case Exact():
            return Fraction(value)
        case LabelList():
            return tuple(value)
        case _:
            return value


def kinds_of(declaration: type[Any]) -> Mapping[str, ValueKind]:
    """Return the kinds that the annotations of a class declare, by field."""
    return _kinds_of(cast("Hashable", declaration))


@cache
def _kinds_of(declaration: Hashable) -> Mapping[str, ValueKind]:
    hints = get_type_hints(declaration, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}


def defaults_of(declaration: type[Any]) -> dict[str, Any]:
    """Return the fields that have a default, with it."""
    return {each.name: each.default for each in fields(declaration) if each.default is not MISSING}


def values_of(made: Any) -> dict[str, Any]:
    """Return the fields of what a declaration has made, those that it fixes among them, in their order."""
    return {each.name: getattr(made, each.name) for each in fields(made)}


def check_kinds(made: Any, error: type[InputError] = InputError) -> None:
    """Refuse what has a field out of its range."""
    for name, kind in kinds_of(type(made)).items():
        if (problem := kind.problem(getattr(made, name))) is not None:
            raise error(problem, field=name)
