"""Strict reading of TOML: anything unknown, missing, of the wrong type or out of range is an error with its place.

A misspelt key gets a suggestion. Numbers with a point are read as decimals, never as floats.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, get_type_hints

from party.errors import ConfigError
from party.files import read_bytes
from party.names import Address, nearest, suggestion
from protocols.errors import InputError
from protocols.kinds import Exact, Flag, Label, LabelList, Pick, PickList, ValueKind, exact_number, kinds_of

MAX_BYTES = 1 << 20
NOTHING_GONE: Final[Mapping[str, str]] = MappingProxyType({})

_MOST_EXPONENT = 40
# of a key with dots: far more than any setting has, and few enough for a reader that walks all of them
_MOST_PARTS = 32
_LONG_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}""", re.ASCII
)
_NO_SETTING = "holds a number too large or too small for any setting: an integer has 64 bits, an exponent is up to 40"

_CURES = {
    "Invalid value": 'put texts, and shares such as "1/5", in quotes',
    "Expected newline or end of document": 'write one key to a line, and texts and shares such as "1/5" in quotes',
    "Cannot overwrite a value": "this key stands there already: keep one",
    "Cannot declare": "put all keys of one table under its first heading, and end each heading by ]",
    "Unclosed array": "separate what it holds by commas, end it by ], and name only days that there are",
}
"""What people mean where the reader of TOML stops, by how its error begins."""

_FILES = {
    "method": "the terms of a run (job.toml)",
    "node": "the settings of a party (party.toml)",
    "title": "a survey (survey.toml)",
    "kind": "a design (design.toml)",
}
"""What a file is that has this key at its top."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
BLANKS: Final = ("\n", "\r", "\t")
"""Control characters that a text for people may hold, and a name of a column or value, in which they are blanks."""
D = TypeVar("D")

_KINDS = {
    bool: "true or false",
    int: "an integer",
    str: "text",
    list: "a list",
    dict: "a table",
    Decimal: "a number",
}


def read_toml(path: Path, keys: Collection[str] | None, gone: Mapping[str, str] = NOTHING_GONE) -> "Section":
    """Read a TOML file whose top level may hold these keys, or any; a byte order mark before it is allowed."""
    if path.is_dir():
        inside = ", ".join(map(str, sorted(path.glob("*.toml")))) or "it has no .toml file"
        raise ConfigError(f"{path} is a folder: name the file in it ({inside})")
    try:
        text = read_bytes(path, MAX_BYTES).decode("utf-8-sig")
    except InputError as error:
        raise ConfigError(f"{error}: name another file") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text: save it as UTF-8") from None
    content, known = _content(path, text), keys or ()
    wanted = [what for key, what in _FILES.items() if key in known and key not in content]
    found = [what for key, what in _FILES.items() if key in content and key not in known]
    if wanted and found:  # as when two files are named in the wrong order
        raise ConfigError(f"{path} is {found[0]}; name {wanted[0]} in its place")
    return Section(path, "", content, keys, gone)


def _content(path: Path, text: str) -> dict[str, Any]:
    if _LONG_KEY.search(text):
        raise ConfigError(f"{path} has a key of more than {_MOST_PARTS} parts, and no setting has as many")
    try:
        content = tomllib.loads(text, parse_float=lambda number: Decimal(number.replace("_", "")))
        usual = _usual(content)
    except tomllib.TOMLDecodeError as error:
        problem = str(error)[:200]
        cure = next((f"; {cure}" for start, cure in _CURES.items() if problem.startswith(start)), "; mend that place")
        raise ConfigError(f"{path} is not TOML: {problem}{cure}") from None
    except RecursionError:
        raise ConfigError(f"{path} is nested deeper than any setting") from None
    except (ValueError, ArithmeticError):  # thousands of digits, or an exponent beyond any
        usual = False
    if not usual:
        raise ConfigError(f"{path} {_NO_SETTING}")
    return content


def _usual(value: object) -> bool:
    """Whether all numbers are of a size that a setting may have: in integers, what TOML asks of every reader."""
    if isinstance(value, dict):
        return all(map(_usual, value.values()))
    if isinstance(value, list):
        return all(map(_usual, value))
    if isinstance(value, Decimal):
        return abs(value.adjusted()) <= _MOST_EXPONENT  # 0 of what is not finite
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63


@dataclass(frozen=True)
class _Required:
    pass


REQUIRED = _Required()


@dataclass(frozen=True)
class Read:
    """A kind that a method of the section reads, and its range in words."""

    by: Callable[["Section", str], Any]
    legal: str
    word: None = None


@dataclass(frozen=True)
class Key:
    """What is declared of a key: its kind, its usual value or else a sample, and what the template says of it."""

    kind: ValueKind | Read
    usual: Any = None
    comment: str = ""
    sample: str = ""

    @property
    def text(self) -> str:
        """The usual value as TOML has it, or the sample."""
        return self.sample or toml_value(self.kind, self.usual)


Declared = Mapping[str, Key]


class Section:
    """One table of a TOML file.

    The `place` of the top level is empty. Where `keys` is None any names may stand in it; `gone` are those of earlier
    releases, with what replaces each.
    """

    def __init__(
        self,
        path: Path,
        place: str,
        content: dict[str, Any],
        keys: Collection[str] | None,
        gone: Mapping[str, str] = NOTHING_GONE,
    ) -> None:
        self.path, self.place, self._content = path, place, content
        for key in content:
            if _has_control(key, BLANKS):
                raise ConfigError(
                    f"{path}: a name{f' in [{place}]' if place else ''} holds a control character: leave it out"
                )
            if keys is not None and key in gone:
                way = f"take the line out, or run `cotally upgrade {path.parent}`"
                raise self.error(key, f"is no longer a setting, {way}: {gone[key]}")
            if keys is not None and key not in keys:
                raise self.error(key, "unknown key" + suggestion(key, keys))

    def error(self, key: str, problem: str) -> ConfigError:
        """Make the error that names file, key and problem."""
        place = f"[{self.place}] " if self.place else ""
        return ConfigError(f"{self.path}: {place}{key}: {problem}")

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that are there."""
        return tuple(self._content)

    def section(self, key: str, keys: Collection[str] | None, gone: Mapping[str, str] = NOTHING_GONE) -> "Section":
        """Return the table under this key; an absent one is empty."""
        place = f"{self.place}.{key}" if self.place else key
        return Section(self.path, place, self._get(key, (dict,), {}), keys, gone)

    def text(
        self,
        key: str,
        default: D | _Required = REQUIRED,
        legal: str = "text that is not empty",
        controls: Collection[str] = (),
    ) -> str | D:
        """Return a text that is not empty and holds no control characters but these."""
        value = self._get(key, (str,), default)
        if value == "" and value is not default:
            raise self.error(key, f"must be {legal}")
        if isinstance(value, str) and _has_control(value, controls):
            raise self.error(key, "holds a control character: leave it out")
        return value  # type: ignore[no-any-return]

    def choice(self, key: str, options: Sequence[str], default: str | _Required = REQUIRED) -> str:
        """Return one of these texts."""
        value: str = self._get(key, (str,), default)
        self._check_choice(key, value, options)
        return value

    def _check_choice(self, key: str, value: str, options: Sequence[str]) -> None:
        if value not in options:
            listed = ", ".join(f'"{option}"' for option in options)
            close = nearest(value, options)
            raise self.error(key, f"must be one of {listed}" + (f"; did you mean {close!r}?" if close else ""))

    def texts(
        self, key: str, default: Sequence[str] | _Required = REQUIRED, options: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Return a list of distinct texts, each one of `options` if these are given."""
        value = self._get(key, (list,), default)
        if not all(isinstance(item, str) for item in value):
            raise self.error(key, "must be a list of texts")
        if len(set(value)) != len(value):
            raise self.error(key, "lists a text twice: name each once")
        for item in value if options is not None else ():
            self._check_choice(key, item, options or ())
        return tuple(value)

    def exact(self, key: str, value: object) -> Fraction:
        """Read one exact number; a TOML float is refused, since it would hide which fraction is meant."""
        if isinstance(value, Decimal):
            raise self.error(key, f'write the number as text, "{value}" or as a fraction such as "9/20"')
        fraction = exact_number(str(value))
        if fraction is None:
            raise self.error(key, 'must be an exact number: text such as "9/20" or "0.45"')
        return fraction

    def values(self, keys: Declared) -> dict[str, Any]:
        """Return what stands here for each declared key, or is usual."""
        return {name: self.value(name, key.kind, key.usual) for name, key in keys.items()}

    def value(self, key: str, kind: ValueKind | Read, default: object = REQUIRED) -> Any:
        """Return a value of this kind, or the default as it is."""
        value = self.raw(key, default)
        if key not in self._content:
            return value
        if isinstance(kind, Read):
            return kind.by(self, key)
        return None if kind.word is not None and value == kind.word else self._within(key, kind, value)

    def _within(self, key: str, kind: ValueKind, value: Any) -> Any:
        match kind:
            case Pick(of):
                value = of(self.choice(key, [each.value for each in of]))
            case PickList(of):
                value = tuple(map(of, self.texts(key, options=[each.value for each in of])))
            case Exact():
                value = self.exact(key, value)
            case Label():
                value = self.text(key, controls=BLANKS)
            case LabelList():
                value = self.texts(key)
            case Flag():
                value = self._get(key, (bool,), value)
        if (problem := kind.problem(value)) is not None:
            raise self.error(key, problem)
        return value

    def read(self, usual: D) -> D:
        """Return what is declared, with the values that stand here in the place of the usual ones."""
        values = {key: self.value(key, kind) for key, kind in kinds_of(type(usual)).items() if key in self._content}
        fields_of = ((each.name, getattr(usual, each.name)) for each in fields(usual))  # type: ignore[arg-type]
        parts = {name: self.read(part) for name, part in fields_of if is_dataclass(part)}
        return replace(usual, **values, **parts)  # type: ignore[type-var]

    def raw(self, key: str, default: object = REQUIRED) -> Any:  # the caller tells types apart
        """Return whatever stands there."""
        if key not in self._content and default is REQUIRED:
            raise self.error(key, f"is missing: write {key} = ...")
        return self._content.get(key, default)

    def _get(self, key: str, kinds: tuple[type, ...], default: object) -> Any:
        value = self.raw(key, default)
        if key in self._content and type(value) not in kinds:
            raise self.error(key, "must be " + " or ".join(_KINDS[kind] for kind in kinds))
        return value


def toml_text(text: str) -> str:
    r"""Return a text as TOML has it.

    >>> print(toml_text('a "b"\n'))
    "a \"b\"\n"
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_file(tables: Mapping[str, Mapping[str, object]]) -> str:
    """Return a file of these tables, the first ones at its top if their name is empty; what is None is left out.

    >>> print(toml_file({"": {"name": "alice"}, "columns": {"a b": {"bins": [1, 2], "missing": None}}}))
    name = "alice"
    [columns]
    "a b" = { bins = [1, 2] }
    <BLANKLINE>
    """
    lines = []
    for table, content in tables.items():
        lines += [f"[{table}]"] if table else []
        lines += [f"{_bare(key)} = {_written(value)}" for key, value in content.items() if value is not None]
    return "\n".join(lines) + "\n"


def _bare(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml_text(key)


def _written(value: object) -> str:
    match value:
        case bool() | int() | Fraction(denominator=1):
            return str(value).lower()
        case Mapping():
            parts = (f"{_bare(key)} = {_written(each)}" for key, each in value.items() if each is not None)
            return f"{{ {', '.join(parts)} }}"
        case list() | tuple():
            return f"[{', '.join(map(_written, value))}]"
        case _:
            return toml_text(str(value))


def toml_value(kind: ValueKind | Read, value: object) -> str:
    """Return a value of this kind as TOML has it."""
    return _written(kind.word if value is None else value)


def keys_of(usual: object) -> dict[str, Key]:
    """Return what a declaration and its parts declare, by key, with the values of this one as the usual ones.

    A field's annotation holds its kind and what is said of it; `metadata` of a part says it of the part's keys.
    """
    keys: dict[str, Key] = {}
    kinds, hints = kinds_of(type(usual)), get_type_hints(type(usual), include_extras=True)
    for each in fields(usual):  # type: ignore[arg-type]  # a dataclass
        value = getattr(usual, each.name)
        if each.name in kinds:
            keys[each.name] = Key(kinds[each.name], value, *hints[each.name].__metadata__[1:])
        elif is_dataclass(value):
            keys |= {
                name: replace(key, comment=each.metadata.get(name, key.comment)) for name, key in keys_of(value).items()
            }
    return keys


def _has_control(text: str, allowed: Collection[str]) -> bool:
    """Return whether a name moves the cursor of a terminal, or ends a line."""
    return any(found not in allowed for found in _CONTROL.findall(text))


def address(lowest_port: int) -> Read:
    """Return the kind of an address."""

    def read(section: Section, key: str) -> Address:
        found = Address.of(section.text(key))
        host = "" if found is None else found.host
        legal = host.isascii() and not any(c.isspace() or c in "/[]" for c in host)
        if found is None or not legal or found.port < lowest_port:
            raise section.error(key, 'must be host and port, such as "bob.example.org:7071"')
        return found

    return Read(read, "host and port")


LINE: Final = Read(Section.text, "text")
NAME: Final = Read(lambda section, key: section.text(key, controls=BLANKS), "text")
TEXTS: Final = Read(Section.texts, "a list of texts")
