"""Strict reading of a model's JSON: what breaks a rule is refused, with its place."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from party.files import read_bytes
from protocols.errors import InputError
from protocols.tables import Attribute, MissingCells, Schema

MOST_BYTES = 1 << 28
MOST_ATTRIBUTES = 1 << 16

_MOST_NESTING = 6000

M = TypeVar("M")


class ModelError(InputError):
    """A model's file cannot be used."""


def model_bytes(path: Path) -> bytes:
    """Return the content of a model's file."""
    try:
        return read_bytes(path, MOST_BYTES)
    except InputError as error:
        raise ModelError(f"{error}: name another file; `cotally train`, `serve` and `mine` write models") from None


def read_format(path: Path, name: str, parse: Callable[[bytes], M]) -> M:
    """Read a model's file by the reader of its format."""
    data = model_bytes(path)
    try:
        return parse(data)
    except ModelError as error:
        raise ModelError(f"{path} is not a {name}: {error}; name another file") from None


def compact(value: object) -> str:
    """Write a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def parsed(data: bytes | str) -> object:
    """Return what the JSON says."""
    try:
        with _deep_nesting():
            odd = "holds {}, which is not a JSON number".format
            return json.loads(data, object_pairs_hook=_distinct, parse_constant=lambda c: refuse("the file", odd(c)))
    except RecursionError:
        refuse("the file", "is nested too deeply")
    except ValueError:  # bad JSON, bad UTF-8, or an integer of thousands of digits
        refuse("the file", "is not JSON")


@contextmanager
def _deep_nesting() -> Iterator[None]:
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, _MOST_NESTING))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        refuse("the file", "gives a key twice")
    return found


def refuse(place: str, problem: str) -> NoReturn:
    """Raise the error of this place."""
    raise ModelError(f"{place} {problem}")


def record_of(value: object, place: str, keys: set[str]) -> dict[str, Any]:
    """Return an object that has exactly these keys."""
    if not isinstance(value, dict) or set(value) != keys:
        refuse(place, "must have exactly the keys " + ", ".join(sorted(keys)))
    return value


def list_of(value: object, place: str) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        refuse(place, "must be a list")
    return value


@dataclass(frozen=True)
class Head:
    """What every model's file begins with, and the fields that this one has beside it, unread."""

    target: Attribute
    attributes: tuple[Attribute, ...]
    fields: dict[str, Any]
    entries: tuple[dict[str, Any], ...]

    @property
    def schema(self) -> Schema:
        """The attributes and the class together."""
        try:
            return Schema(self.attributes, self.target, ())
        except InputError as error:
            refuse("attributes", str(error))


def head_of(
    data: bytes | str,
    name: str,
    older: str,
    own: Sequence[str] = (),
    of_each: Sequence[str] = (),
    new: Sequence[str] = (),
    may: Sequence[str] = (),
) -> Head:
    """Read what a model's file begins with.

    It has the format `name`, or the `older` one, whose files say nothing of missing cells. A file has fields of its
    `own` besides, and each attribute those `of_each`; both have the `new` ones, but not in the format before. It `may`
    have others.
    """
    read = parsed(data)
    since = () if isinstance(read, dict) and read.get("format") == older else new
    some = {*may} & {*read} if isinstance(read, dict) else set[str]()
    top = record_of(read, "the file", {"format", "class", "attributes", *own, *since, *some})
    if top["format"] not in (name, older):
        refuse("format", f"must be {name!r}, or {older!r}")
    absent = ("missing", "marks") if top["format"] == name else ()
    target = record_of(top["class"], "class", {"name", "values"})
    label = attribute_of("class", "", target["name"], target["values"])
    listed = list_of(top["attributes"], "attributes")
    if len(listed) > MOST_ATTRIBUTES:
        refuse("attributes", f"are {len(listed)}, more than {MOST_ATTRIBUTES}")
    attributes, entries = [], []
    for position, entry in enumerate(listed):
        place = f"attributes[{position}]"
        rising = {"ordered"} & {*entry} if isinstance(entry, dict) else set[str]()
        entries.append(record_of(entry, place, {"party", "name", "values", *absent, *of_each, *since, *rising}))
        party = text_of(entry["party"], place)
        attribute = _with_missing(attribute_of(place, party, entry["name"], entry["values"]), entry, place)
        ordered = entry.get("ordered", 0)
        if type(ordered) is not int or not (ordered == 0 or 2 <= ordered <= attribute.size):
            refuse(f"{place}.ordered", f"must be an integer from 2 to {attribute.size}")
        attributes.append(replace(attribute, ordered=ordered))
    return Head(label, tuple(attributes), top, tuple(entries))


def _with_missing(attribute: Attribute, entry: Mapping[str, Any], place: str) -> Attribute:
    if "marks" not in entry:
        return attribute
    value, marks = entry["missing"], entry["marks"]
    if value not in (None, *attribute.values):
        refuse(f"{place}.missing", "must be one of the values, or null")
    if marks is not None:
        marks = tuple(text_of(mark, f"{place}.marks") for mark in list_of(marks, f"{place}.marks"))
    return replace(attribute, missing=MissingCells(value, marks))


def attribute_json(attribute: Attribute, **more: object) -> str:
    """Write an attribute as `head_of` reads it, with what this format has besides."""
    fields = {"party": attribute.party, "name": attribute.name, "values": attribute.values}
    more |= {"ordered": attribute.ordered} if attribute.ordered else {}
    return compact({**fields, "missing": attribute.missing.value, "marks": attribute.missing.marks, **more})


def text_of(value: object, place: str) -> str:
    """Return a text."""
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        refuse(place, "must hold text")
    return value


def attribute_of(place: str, party: str, name: object, values: object) -> Attribute:
    """Return an attribute."""
    texts = tuple(text_of(value, f"{place}.values") for value in list_of(values, f"{place}.values"))
    named = text_of(name, f"{place}.name")
    try:
        return Attribute(party, named, texts)
    except InputError as error:
        refuse(place, f"cannot be used: {error}")


def opening(name: str, target: Attribute) -> str:
    """Write how a model's file of this format begins: what `head_of` reads."""
    return f'{{"format": {compact(name)},\n "class": {compact({"name": target.name, "values": target.values})},\n'
