"""Declared records as JSON and back: a dataclass is an object of its fields, in their order, each by its type.

Fractions are text, bytes hexadecimal digits, tuples lists. A field that has a default may be missing where it is read,
as in what an earlier release wrote; one that is `LEFT_OUT` is not written either while it has its default.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache, partial
from math import isfinite
from pathlib import Path
from types import NoneType
from typing import Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

LEFT_OUT: Final = {"left out": True}


def json_key(name: str) -> dict[str, str]:
    """Return what declares that JSON has this name for a field."""
    return {"called": name}


def json_name(declared: Field[Any]) -> str:
    """Return the name that a field has in JSON."""
    return str(declared.metadata.get("called", declared.name))


def to_json(value: Any) -> Any:  # noqa: PLR0911  # one return per form
    """Return a value as JSON has it: what is not finite as null, paths of files as text, sets sorted."""
    match value:
        case str() | int():
            return value
        case bytes():
            return value.hex()
        case float():
            return value if isfinite(value) else None
        case Fraction() | Path():
            return str(value)
        case Mapping():
            return {str(name): to_json(each) for name, each in value.items()}
        case Iterable():
            return list(map(to_json, sorted(value) if isinstance(value, frozenset) else value))
    if not is_dataclass(value):
        return value
    held = [(each, getattr(value, each.name)) for each in fields(value)]
    return {json_name(each): to_json(it) for each, it in held if "left out" not in each.metadata or it != each.default}


def from_json(kind: type[T], content: Any) -> T:
    """Return what JSON holds as what it is declared to be; what is not declared is passed over.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: It is of another form.
    """
    return cast("T", _reader(cast("Hashable", kind))(content))


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:  # noqa: PLR0911  # one return per form
    """Return what reads this type."""
    origin, arguments = get_origin(hint), get_args(hint)
    inner = [_reader(each) for each in arguments if each not in (Ellipsis, NoneType)] if origin is not type else []
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda content: hint(**fields_from_json(hint, content))
    if hint is bytes:
        return bytes.fromhex
    if isinstance(hint, type) and issubclass(hint, Fraction | StrEnum):
        return hint
    if origin is tuple and Ellipsis in arguments:
        return lambda content: tuple(map(inner[0], content))
    if origin is tuple:
        return lambda content: tuple(read(each) for read, each in zip(inner, content, strict=True))
    if origin is dict:
        return lambda content: {name: inner[1](each) for name, each in content.items()}
    if NoneType in arguments and len(inner) == 1:
        return lambda content: None if content is None else inner[0](content)
    return partial(_checked, {float: (float, int)}.get(hint, (hint,)) if hint in (str, int, bool, float) else None)


def _checked(kinds: tuple[type[Any], ...] | None, content: Any) -> Any:
    """Return what JSON has as it is, which must be of one of these types, where they matter."""
    if kinds is not None and type(content) not in kinds:
        raise TypeError
    return content


def fields_from_json(kind: type[Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a dataclass that JSON holds; one without a default must be there."""
    declared = _declared(cast("Hashable", kind))
    return {each: read(content[name]) for each, name, read, needed in declared if needed or name in content}


@cache
def _declared(kind: Any) -> list[tuple[str, str, Callable[[Any], Any], bool]]:
    """Return each field, its name in JSON, what reads it, and whether it must be there."""
    hints = get_type_hints(kind)
    return [
        (each.name, json_name(each), _reader(hints[each.name]), each.default is each.default_factory is MISSING)
        for each in fields(kind)
        if each.init
    ]
