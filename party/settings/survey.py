"""The file `design.toml`: what a survey asks, and how the answers are disguised.

Respondents (or whoever holds their answers) and the collector read the same file. It is the whole declaration: domains
of all columns, which columns share a coin, the chance of the truth, and for the unrelated question the distribution of
the personal answers. Every key is checked: the error names file, key and legal range.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from pathlib import Path

from party.names import suggestion
from party.settings.domains import Domain
from party.settings.domains_section import read_domains, unwritable
from party.settings.toml import Section, read_toml
from protocols.errors import InputError
from protocols.randomized_response.design import MAX_DENOMINATOR, Design, Kind
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign

RELATED, UNRELATED = Kind.RELATED.value, Kind.UNRELATED.value

_KEYS = ("kind", "theta", "class", "id", "keep_id", "plain", "columns", "groups", "personal")


@dataclass(frozen=True, repr=False)
class Questionnaire:
    """A survey's columns and their disguise; the class, if one is declared, is the last column.

    Args:
        path: The file that declares it.
        names: Of the columns.
        domains: Of the columns, in the same order.
        class_name: The column that models predict.
        id_column: The column of the true table that says which record is whose.
        keep_id: Whether the disguised table has it too.
        design: Over the columns, by index.
        group_names: Of the design's groups, in the same order.
    """

    path: Path
    names: tuple[str, ...]
    domains: tuple[Domain, ...]
    class_name: str | None
    id_column: str | None
    keep_id: bool
    design: Design
    group_names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Questionnaire {self.path}: {len(self.names)} columns, {len(self.group_names)} groups>"

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """The values of every column, in the order of their codes."""
        return tuple(domain.values for domain in self.domains)

    @property
    def sent(self) -> tuple[str, ...]:
        """The columns of the disguised table: those that are asked, after the id where that is kept."""
        return self.names if self.id_column is None or not self.keep_id else (self.id_column, *self.names)

    @property
    def draws(self) -> int:
        """How many draws a disguise makes for every record: coins, and personal answers."""
        return 1 + len(self.group_names) + (len(self.names) if self.design.kind is Kind.UNRELATED else 0)


def read_design(path: Path | str) -> Questionnaire:
    """Read a `design.toml`.

    Raises:
        ConfigError: The file cannot be read, a setting is missing, unknown or out of range, or the design carries
            nothing or hides nothing.
    """
    top = read_toml(Path(path), _KEYS)
    kind = top.choice("kind", (RELATED, UNRELATED), RELATED)
    domains = read_domains(top)
    class_name = top.text("class", None)
    if class_name is not None:
        check_known(top, "class", class_name, tuple(domains))
        domains[class_name] = domains.pop(class_name)
    names = tuple(domains)
    groups = _groups(top, names)
    _check_hides(top, domains, groups)
    id_column = top.text("id", None)
    if id_column in domains:
        raise top.error("id", "this column is asked and disguised: an id is neither")
    flaw = None if id_column is None else unwritable(id_column)
    if flaw is not None:
        raise top.error("id", f"the name {flaw}")
    return Questionnaire(
        path=top.path,
        names=names,
        domains=tuple(domains.values()),
        class_name=class_name,
        id_column=id_column,
        keep_id=top.flag("keep_id", default=False),
        design=_design(top, kind, domains, tuple(groups.values())),
        group_names=tuple(groups),
    )


def check_known(section: Section, key: str, name: str, names: Sequence[str]) -> None:
    """Refuse a column that is not declared.

    Raises:
        ConfigError: It is not.
    """
    if name not in names:
        raise section.error(key, f"there is no column {name!r}" + suggestion(name, names))


def _groups(top: Section, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of every group; each column stands in one group or is plain."""
    section = top.section("groups", None)
    place: dict[str, str] = {}
    groups = {name: section.texts(name) for name in section.names}
    plain = top.texts("plain", ())
    if not groups:
        raise top.error("groups", "names no group: nothing would be disguised")
    for where, columns in (*groups.items(), ("plain", plain)):
        reader, key = (top, "plain") if columns is plain else (section, where)
        if not columns and columns is not plain:
            raise reader.error(key, "names no column")
        for column in columns:
            check_known(reader, key, column, names)
            if column in place:
                raise reader.error(key, f"column {column!r} stands in {place[column]} too: name each column once")
            place[column] = "plain" if columns is plain else f"group {where!r}"
    homeless = [name for name in names if name not in place]
    if homeless:
        raise top.error("groups", f"column {homeless[0]!r} is in no group: put it into one, or name it in plain")
    return groups


def _check_hides(top: Section, domains: dict[str, Domain], groups: dict[str, tuple[str, ...]]) -> None:
    section = top.section("groups", None)
    for name, columns in groups.items():
        if all(len(domains[column].values) == 1 for column in columns):
            raise section.error(name, "its columns have one value each, so it hides nothing: name them in plain")


def _design(top: Section, kind: str, domains: dict[str, Domain], groups: Sequence[Sequence[str]]) -> Design:
    names = list(domains)
    sizes = tuple(len(domain.values) for domain in domains.values())
    indices = tuple(tuple(names.index(column) for column in group) for group in groups)
    theta = read_exact(top, "theta", top.raw("theta"))
    if kind == RELATED and "personal" in top.names:
        raise top.error("personal", 'the related question has no personal answers: kind = "unrelated"?')
    personal = _personal(top, domains, groups) if kind == UNRELATED else ()
    try:
        if kind == RELATED:
            design: Design = RelatedDesign(sizes, indices, theta)
        else:
            design = UnrelatedDesign(sizes, indices, theta, personal)
    except InputError as error:
        raise top.error("theta, groups", str(error)) from None
    if theta in (0, 1):
        raise top.error("theta", "must lie between 0 and 1, both excluded: a chance of 0 or 1 disguises nothing")
    return design


def _personal(
    top: Section, domains: dict[str, Domain], groups: Sequence[Sequence[str]]
) -> tuple[tuple[Fraction, ...], ...]:
    """Return `P(Y = v)` of every column that stands in a group."""
    grouped = [column for group in groups for column in group]
    uniform = {name: (Fraction(1, len(d.values)),) * len(d.values) for name, d in domains.items() if name in grouped}
    if "personal" not in top.names:
        raise top.error("personal", 'is missing: give the chances of each column, or personal = "uniform"')
    if isinstance(top.raw("personal"), str):
        top.choice("personal", ("uniform",))
        return tuple(uniform.get(name, ()) for name in domains)
    section = top.section("personal", None)
    for name in section.names:
        if name not in grouped:
            raise section.error(name, "no disguised column has this name" + suggestion(name, grouped))
    return tuple(_chances(section, name, domain.values) if name in grouped else () for name, domain in domains.items())


def _chances(section: Section, column: str, values: tuple[str, ...]) -> tuple[Fraction, ...]:
    if column not in section.names:
        raise section.error(column, 'is missing: give the chance of each value, or personal = "uniform"')
    entry = section.section(column, values)
    chances = tuple(read_exact(entry, value, entry.raw(value)) for value in values)
    if min(chances) < 0 or sum(chances) != 1:
        raise section.error(column, f"the chances must be 0 or more and add up to 1, not to {sum(chances)}")
    if lcm(*(chance.denominator for chance in chances)) > MAX_DENOMINATOR:
        raise section.error(column, f"the chances need denominators of at most {MAX_DENOMINATOR}")
    return chances


def read_exact(section: Section, key: str, value: object) -> Fraction:
    """Read an exact number, even a TOML decimal, since that is read as written and never as a float.

    Raises:
        ConfigError: The text is not an exact number.
    """
    return section.exact(key, str(value) if isinstance(value, Decimal) else value)
