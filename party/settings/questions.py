"""How each group of a `design.toml` is asked: its columns, kind, theta or prevalence, and chances of other answers.

What stands at the top of the file holds for all groups; a group that is asked in another way is a table,
`wage = { columns = ["income"], kind = "unrelated", theta = "2/3" }`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm, prod
from typing import assert_never

from party.names import suggestion
from party.settings.domains import Domain
from party.settings.toml import Section
from protocols.errors import InputError
from protocols.randomized_response.crosswise import CrosswiseDesign, ForcedDesign, TriangularDesign
from protocols.randomized_response.design import MAX_DENOMINATOR, Design, Kind, OneKind
from protocols.randomized_response.mixed import MixedDesign
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign, marginals

_STATEMENTS = (Kind.CROSSWISE, Kind.TRIANGULAR)
_UNIFORM = "uniform"
_KINDS = tuple(kind.value for kind in Kind)
_GROUP_KEYS = ("columns", "kind", "theta", "prevalence", "joint")

Domains = Mapping[str, Domain]


@dataclass(frozen=True)
class GroupEntry:
    """A group as it is declared; `joint` are chances of combinations of personal answers, the last column's fastest."""

    columns: tuple[str, ...]
    kind: Kind
    chance: Fraction
    joint: tuple[Fraction, ...]


def check_known(section: Section, key: str, name: str, names: Sequence[str]) -> None:
    """Refuse a column that is not declared."""
    if name not in names:
        raise section.error(key, f"there is no column {name!r}" + suggestion(name, names))


def read_exact(section: Section, key: str, value: object) -> Fraction:
    """Read an exact number, even a TOML decimal, since that is read as written and never as a float."""
    return section.exact(key, str(value) if isinstance(value, Decimal) else value)


def read_groups(top: Section, names: Sequence[str]) -> dict[str, GroupEntry]:
    """Return every group; each column stands in one group or is plain. Without a group all are asked directly."""
    top.choice("kind", _KINDS, Kind.RELATED.value)
    section = top.section("groups", None)
    place: dict[str, str] = {}
    groups = {name: _group(top, section, name) for name in section.names}
    for name, group in groups.items():
        _take(section, name, group.columns, f"group {name!r}", names, place)
    _take(top, "plain", top.texts("plain", ()), "plain", names, place)
    homeless = [name for name in names if name not in place]
    if homeless:
        raise top.error("groups", f"column {homeless[0]!r} is in no group: put it into one, or name it in plain")
    for key, used in (("theta", False), ("prevalence", True)):
        if groups and key in top.names and not any((group.kind in _STATEMENTS) is used for group in groups.values()):
            raise top.error(key, "no group has a question of a kind that needs it: leave it out")
    return groups


def _take(
    section: Section, key: str, columns: Sequence[str], where: str, names: Sequence[str], place: dict[str, str]
) -> None:
    """Note where these columns stand."""
    for column in columns:
        check_known(section, key, column, names)
        if column in place:
            raise section.error(key, f"column {column!r} stands in {place[column]} too: name each column once")
        place[column] = where


def _group(top: Section, section: Section, name: str) -> GroupEntry:
    of_all = isinstance(section.raw(name), list)
    own = top if of_all else section.section(name, _GROUP_KEYS)
    columns = section.texts(name) if of_all else own.texts("columns")
    if not columns:
        raise section.error(name, "names no column: name one, or leave the group out")
    kind = Kind(own.choice("kind", _KINDS, str(top.raw("kind", Kind.RELATED.value))))
    key, other = ("prevalence", "theta") if kind in _STATEMENTS else ("theta", "prevalence")
    if not of_all and other in own.names:
        raise own.error(other, f"a {kind.value} question has a {key}: give that instead")
    where = own if key in own.names else top
    chance = read_exact(where, key, where.raw(key))
    if chance in (0, 1):
        raise where.error(key, "must lie between 0 and 1, both excluded: a chance of 0 or 1 disguises nothing")
    joint = () if of_all or "joint" not in own.names else _joint(own, kind)
    return GroupEntry(columns, kind, chance, joint)


def _joint(own: Section, kind: Kind) -> tuple[Fraction, ...]:
    if kind is not Kind.UNRELATED:
        raise own.error(
            "joint", f'only questions of the kind "{Kind.UNRELATED.value}" have {_WHAT[Kind.UNRELATED]}: leave it out'
        )
    listed = own.raw("joint")
    if not isinstance(listed, list) or not listed:
        raise own.error("joint", "must be a list of chances, one for each combination of personal answers")
    chances = tuple(read_exact(own, "joint", chance) for chance in listed)
    _check_chances(own, "joint", chances)
    return chances


def read_questions(top: Section, domains: Domains, groups: Mapping[str, GroupEntry]) -> Design:
    """Return the design: of one kind where all groups are asked in one way."""
    section = top.section("groups", None)
    for name, group in groups.items():
        if all(len(domains[column].values) == 1 for column in group.columns):
            raise section.error(name, "its columns have one value each, so it hides nothing: name them in plain")
        combinations = prod(len(domains[column].values) for column in group.columns)
        if group.joint and len(group.joint) != combinations:
            raise section.section(name, _GROUP_KEYS).error(
                "joint",
                f"must be {combinations} chances, not {len(group.joint)}: one for each combination of answers, those "
                "of the last column changing fastest",
            )
    personal = _chances_of(top, "personal", Kind.UNRELATED, domains, groups)
    forced = _chances_of(top, "forced", Kind.FORCED, domains, groups)
    answers = {**personal, **forced}
    for group in groups.values():
        if group.joint:
            sizes = [len(domains[column].values) for column in group.columns]
            answers |= zip(group.columns, marginals(group.joint, sizes), strict=True)
    if not groups:
        return RelatedDesign(tuple(len(domain.values) for domain in domains.values()), (), Fraction(1))
    asked = {(group.kind, group.chance) for group in groups.values()}
    if len(asked) == 1:
        key = "prevalence, groups" if {kind for kind, _ in asked} <= set(_STATEMENTS) else "theta, groups"
        return _made(top, key, domains, list(groups.values()), answers)
    parts = [_made(section, name, domains, [group], answers) for name, group in groups.items()]
    return MixedDesign.of(parts[0].sizes, parts)


def _made(
    section: Section,
    key: str,
    domains: Domains,
    groups: Sequence[GroupEntry],
    answers: Mapping[str, tuple[Fraction, ...]],
) -> OneKind:
    names, kind, chance = list(domains), groups[0].kind, groups[0].chance
    sizes = tuple(len(domain.values) for domain in domains.values())
    indices = tuple(tuple(names.index(column) for column in group.columns) for group in groups)
    grouped = {column for group in groups for column in group.columns}
    chances = tuple(answers.get(name, ()) if name in grouped else () for name in names)
    try:
        match kind:
            case Kind.RELATED:
                return RelatedDesign(sizes, indices, chance)
            case Kind.CROSSWISE:
                return CrosswiseDesign(sizes, indices, chance)
            case Kind.UNRELATED:
                joint = tuple(group.joint for group in groups) if any(group.joint for group in groups) else ()
                return UnrelatedDesign(sizes, indices, chance, chances, joint)
            case Kind.FORCED:
                return ForcedDesign(sizes, indices, chance, chances)
            case Kind.TRIANGULAR:
                return TriangularDesign.of_prevalence(sizes, indices, chance)
            case _:
                assert_never(kind)
    except InputError as error:
        raise section.error(key, str(error)) from None


def _chances_of(
    top: Section, key: str, kind: Kind, domains: Domains, groups: Mapping[str, GroupEntry]
) -> dict[str, tuple[Fraction, ...]]:
    """Return the chances of the other answers of every column whose group is of this kind and gives none itself."""
    asked = [group for group in groups.values() if group.kind is kind]
    columns = [column for group in asked if not group.joint for column in group.columns]
    if not columns:
        if key in top.names:
            cause = ", and joint gives the chances of all" if asked else ""
            raise top.error(key, f'only questions of the kind "{kind.value}" have {_WHAT[kind]}{cause}: leave it out')
        return {}
    if key not in top.names:
        raise top.error(key, f'is missing: give the chances of each column, or {key} = "{_UNIFORM}"')
    if isinstance(top.raw(key), str):
        top.choice(key, (_UNIFORM,))
        return {name: (Fraction(1, len(domains[name].values)),) * len(domains[name].values) for name in columns}
    section = top.section(key, None)
    for name in section.names:
        if any(name in group.columns for group in asked if group.joint):
            raise section.error(name, "joint gives the chances of its group: leave it out here")
        if name not in columns:
            raise section.error(name, "no disguised column has this name" + suggestion(name, columns))
    return {name: _chances(section, name, domains[name].values) for name in columns}


_WHAT = {Kind.UNRELATED: "personal answers", Kind.FORCED: "forced answers"}


def _chances(section: Section, column: str, values: tuple[str, ...]) -> tuple[Fraction, ...]:
    if column not in section.names:
        raise section.error(column, f'is missing: give the chance of each value, or {section.place} = "{_UNIFORM}"')
    entry = section.section(column, values)
    chances = tuple(read_exact(entry, value, entry.raw(value)) for value in values)
    _check_chances(section, column, chances)
    return chances


def _check_chances(section: Section, key: str, chances: tuple[Fraction, ...]) -> None:
    if min(chances) < 0 or sum(chances) != 1:
        raise section.error(
            key,
            f"the chances must be 0 or more and add up to 1{'' if sum(chances) == 1 else f', not to {sum(chances)}'}",
        )
    if lcm(*(chance.denominator for chance in chances)) > MAX_DENOMINATOR:
        raise section.error(key, f"the chances need denominators of at most {MAX_DENOMINATOR}")
