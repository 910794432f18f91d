"""A `design.toml` of transactions: which items there are, and how baskets of each size are randomized (DESIGN 9).

The holder of the baskets and the collector read the same file. Parameters are given for every original size, or
follow from a level that no worst-case belief may exceed and from bounds on supports: `rho = "smallest"`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path

from party.errors import ConfigError
from party.files import read_bytes
from party.settings.questions import read_exact
from party.settings.toml import BLANKS, Section, read_toml
from protocols.association.breaches import breach_bound, smallest_rho
from protocols.association.operators import CutAndPaste, Operator, SelectASize, Uniform
from protocols.association.transactions import TransactionDesign
from protocols.errors import InputError
from protocols.kinds import Between
from protocols.randomness import canonical

KINDS = (CutAndPaste.kind, SelectASize.kind, Uniform.kind)
SMALLEST = "smallest"

_KEYS = (
    "kind", "items", "layout", "id", "item", "largest_size", "cutoff", "rho", "chances", "replaced", "level",
    "supports",
)  # fmt: skip
_MOST_BYTES = 1 << 26
_LARGEST_SIZE = 1000


class BasketLayout(Enum):
    """How a file of baskets is written."""

    LINES = "lines"
    LONG = "long"
    COLUMNS = "columns"


@dataclass(frozen=True, repr=False)
class BasketDesign:
    """The items of baskets, and how these are randomized.

    In a table of baskets `id_column` says which basket is whose, in the long layout `item_column` has the items.
    `supports` are the largest that a set of 1, 2, ... items can have; empty if not given. `level` is the largest belief
    that was asked for, if one was.
    """

    path: Path
    items: tuple[str, ...]
    design: TransactionDesign
    layout: BasketLayout
    id_column: str | None
    item_column: str | None
    supports: tuple[Fraction, ...]
    level: Fraction | None

    def __repr__(self) -> str:
        return f"<BasketDesign {self.path}: {len(self.items)} items, {len(self.design.operators)} sizes>"

    @property
    def kind(self) -> str:
        """The kind of its operators."""
        return self.design.operators[0].kind

    def items_digest(self) -> str:
        """Return a digest of the items and their order, in hexadecimal."""
        return sha256(canonical(*(item.encode() for item in self.items))).hexdigest()

    def digest(self) -> str:
        """Return what marks a copy as made by this design: a digest of items and parameters, in hexadecimal."""
        declared = json.dumps(self.design.declaration(), sort_keys=True).encode()
        return sha256(canonical(self.items_digest().encode(), declared)).hexdigest()


def is_of_baskets(path: Path | str) -> bool:
    """Return whether a design is one of transactions: by its items, or its kind."""
    top = read_toml(Path(path), None)
    return "items" in top.names or top.raw("kind", None) in KINDS


def read_basket_design(path: Path | str) -> BasketDesign:
    """Read a `design.toml` of transactions."""
    top = read_toml(Path(path), _KEYS)
    kind = top.choice("kind", KINDS)
    items = _items(top)
    layout = BasketLayout(top.choice("layout", [layout.value for layout in BasketLayout], BasketLayout.LINES.value))
    supports = _exact_list(top, "supports", top.raw("supports", []))
    level = read_exact(top, "level", top.raw("level")) if "level" in top.names else None
    try:
        design = TransactionDesign(len(items), _operators(top, kind, len(items), supports, level))
    except ConfigError:
        raise
    except InputError as error:
        raise top.error(error.field or kind, error.problem) from None
    id_column, item_column = top.text("id", None, controls=BLANKS), top.text("item", None, controls=BLANKS)
    if (layout is BasketLayout.LONG) != (item_column is not None):
        raise top.error("item", 'names the column of items where layout = "long": write it there, and there alone')
    if layout is BasketLayout.LONG and id_column is None:
        raise top.error("id", "is missing: name the column that says which basket an item is in")
    if layout is BasketLayout.LINES and id_column is not None:
        raise top.error("id", 'lines of items have no id: name it where layout is "long" or "columns"')
    return BasketDesign(top.path, items, design, layout, id_column, item_column, supports, level)


def _items(top: Section) -> tuple[str, ...]:
    """Return the items: a list, a file with one per line, or a number `n` for the items 0 to n - 1."""
    given = top.raw("items")
    if isinstance(given, int) and not isinstance(given, bool):
        top.value("items", Between(1, 10**7))
        return tuple(map(str, range(given)))
    names = tuple(name.strip() for name in (_listed(top, given) if isinstance(given, str) else top.texts("items")))
    if not names or not all(names):
        raise top.error("items", "must name at least one item, and none of them may be blank")
    if len(set(names)) != len(names):
        raise top.error("items", "names an item twice: name each once")
    return names


def _listed(top: Section, name: str) -> tuple[str, ...]:
    try:
        text = read_bytes(top.path.parent / name, _MOST_BYTES).decode("utf-8-sig")
    except InputError as error:
        raise top.error("items", f"{error}: name another file") from None
    except UnicodeDecodeError:
        raise top.error("items", f"{name} is not UTF-8 text: save it as UTF-8") from None
    return tuple(text.splitlines())


def _operators(
    top: Section, kind: str, universe: int, supports: tuple[Fraction, ...], level: Fraction | None
) -> tuple[Operator, ...]:
    _check_keys(top, kind)
    if kind == Uniform.kind:
        return tuple(Uniform(size, universe, chance) for size, chance in _by_size(top, "replaced"))
    follows = top.raw("rho") == SMALLEST
    makers: dict[int, Callable[[Fraction], Operator]]
    if kind == SelectASize.kind:
        held = top.section("chances", None)
        chances = {size: _exact_list(held, str(size), held.raw(str(size))) for size in _sizes(top, "chances")}
        makers = {size: partial(SelectASize, size, chance) for size, chance in chances.items()}
    else:
        cutoff = top.value("cutoff", Between(1, _LARGEST_SIZE))
        sizes = range(top.value("largest_size", Between(0, _LARGEST_SIZE)) + 1) if follows else _sizes(top, "rho")
        makers = {size: partial(CutAndPaste, size, cutoff) for size in sizes}
    if follows:
        if level is None or not supports:
            raise top.error("level, supports", f'must be given where rho = "{SMALLEST}"')
        return tuple(make(smallest_rho(make, supports, level, breach_bound)) for make in makers.values())
    rhos = dict(_by_size(top, "rho"))
    if rhos.keys() != makers.keys():
        raise top.error("rho", "must be given for the same sizes as chances")
    return tuple(make(rhos[size]) for size, make in makers.items())


def _check_keys(top: Section, kind: str) -> None:
    """Refuse keys that this kind does not read."""
    own = {CutAndPaste.kind: ("cutoff", "rho"), SelectASize.kind: ("chances", "rho"), Uniform.kind: ("replaced",)}[kind]
    for key in ("cutoff", "rho", "chances", "replaced"):
        if key in top.names and key not in own:
            raise top.error(key, f'is not for kind = "{kind}", which takes {", ".join(own)}: take it out')
    follows = kind == CutAndPaste.kind and top.raw("rho", None) == SMALLEST
    if "largest_size" in top.names and not follows:
        raise top.error(
            "largest_size", f'is for cut-and-paste with rho = "{SMALLEST}": take it out, sizes are those listed'
        )


def _sizes(top: Section, key: str) -> list[int]:
    """Return the sizes for which a table has an entry."""
    section = top.section(key, None)
    if not section.names:
        raise top.error(key, "names no size: write a size of baskets and its chance")
    for name in section.names:
        if not (name.isascii() and name.isdigit() and str(int(name)) == name and int(name) <= _LARGEST_SIZE):
            raise section.error(name, f"is no size of a basket: write 0 to {_LARGEST_SIZE}")
    return sorted(map(int, section.names))


def _by_size(top: Section, key: str) -> list[tuple[int, Fraction]]:
    top.raw(key)  # it must be there
    section = top.section(key, None)
    return [(size, read_exact(section, str(size), section.raw(str(size)))) for size in _sizes(top, key)]


def _exact_list(section: Section, key: str, listed: object) -> tuple[Fraction, ...]:
    if not isinstance(listed, list):
        raise section.error(key, "must be a list of exact numbers")
    return tuple(read_exact(section, key, value) for value in listed)
