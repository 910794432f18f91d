"""The short report: what a design discloses in five sentences, one row per attribute, and what the figures mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, isinf

from rich.table import Table

from party.show.figures import epsilon, odds, percent
from party.show.known import known_lines
from party.show.layout import Block, ScreenColumn, ScreenTable, meanings, screen_table
from party.show.names import listed, titled
from party.show.odds import odds_text
from party.show.questions import question_text
from protocols.privacy.entry import MatrixRow
from protocols.privacy.findings import Findings, GroupFindings, Measures
from protocols.randomized_response.design import Kind

_SHARES = "shares a coin"
PRIVACY_COLUMNS = (
    ScreenColumn("attribute", is_text=True),
    ScreenColumn("group", is_text=True, rank=1),
    ScreenColumn("strongest belief\nafter a response"),
    ScreenColumn("epsilon", rank=2),
    ScreenColumn("single-\nentry", rank=3),
    ScreenColumn("bits, before\n-> after", rank=5),
    ScreenColumn("asked\ntwice", rank=4),
)


@dataclass(frozen=True)
class Belief:
    """A value of an attribute, and how likely it was and becomes."""

    column: int
    value: int
    before: Fraction
    after: Fraction


def short_blocks(found: Findings, width: int) -> list[Block]:
    """Return the short report: sentences, a table with the columns that a screen of this width holds, its legend."""
    text: list[Block] = [*summary_lines(found)]
    if any(own.hides for own in found.attributes):
        rows = _table(found, width)
        text += ["", rows.drawn, *_left_out(rows), "", legend(found, rows.left_out)]
        text += ["", *assumption_lines(found)]
    return text


def summary_lines(found: Findings) -> list[str]:
    """Return what decides, in a few sentences, each from a new line."""
    return [
        _disguised(found),
        *_in_the_clear(found),
        *_worst(found),
        *_certain(found),
        _record(found),
        *known_lines(found),
    ]


def legend(found: Findings, left_out: Sequence[str] = ()) -> Table:
    """Return what each measure means and which way is better, but for those that are not shown."""
    rows = legend_rows(found)
    return meanings(row for row in rows if not any(name.startswith(row[0]) for name in left_out))


def legend_rows(found: Findings) -> list[tuple[str, str]]:
    """Return each measure with what it means."""
    shared = any(own.hides and not found.is_alone(column) for column, own in enumerate(found.attributes))
    return [
        ("strongest belief", "how sure of a value its own response can make one; lower is better"),
        ("epsilon", "0: odds stay; 1: they move 2.7 times, 2: 7.4; lower is better"),
        ("single-entry", "average chance given to a wrong value; higher is better"),
        ("bits", "how much of a value is unknown; the less it falls, the better"),
        ("asked twice", "strongest belief if coins were made anew: make them once"),
        *([(_SHARES, "its group is read as a whole, not by its response")] if shared else []),
    ]


def assumption_lines(found: Findings) -> list[str]:
    """Return what was taken to be known before a response."""
    hidden = [own for own in found.attributes if own.hides]
    assumed = [own.name for own in hidden if own.assumed]
    text = "Taken as likely before a response: the distributions that were given."
    if assumed:
        whose = "every attribute" if len(assumed) == len(hidden) else listed(assumed)
        given = "" if len(assumed) == len(hidden) else " (of the others: as given)"
        text = f"Assumed, since nothing was given: all values of {whose} are equally likely before a response{given}."
    return [f"{text} All figures but epsilon depend on it."]


def strongest(measured: Measures, prior: MatrixRow, column: int) -> Belief:
    """Return the strongest belief that its response leads to; of equals the one that was least likely before."""
    value = min({value for _, value in measured.breach.where}, key=lambda value: (prior[value], value))
    return Belief(column, value, prior[value], measured.breach.level)


def _disguised(found: Findings) -> str:
    hidden = sum(own.group is not None for own in found.attributes)
    start = f"{hidden} of {len(found.attributes)} attributes are disguised"
    if not found.groups:
        return f"{start}."
    many = f"{len(found.groups)} group{'s' * (len(found.groups) != 1)}"
    told: dict[str, list[str]] = {}
    sizes: set[int | None] = set()
    for group in found.groups:
        if hiding := [column for column in group.columns if found.attributes[column].hides]:
            values = len(found.attributes[hiding[0]].values) if len(hiding) == 1 else None
            sizes.add(values)
            told.setdefault(question_text(group.kind, group.truth, values), []).extend(found.names(hiding))
    is_plain = len(told) == 1 or (None not in sizes and len(sizes) == len(told))  # the number of values says which
    each = [text if is_plain else f"of {listed(names)}, {text}" for text, names in told.items()]
    constant = [own.name for own in found.attributes if own.group is not None and not own.hides]
    if constant:
        each.append(f"{listed(constant)} {'has' if len(constant) == 1 else 'have'} one value, with nothing to hide")
    return f"{start}, in {many}: {'; '.join(each)}.{_odds(found)}"


def _odds(found: Findings) -> str:
    told = odds_text((own.name, own.odds) for own in found.attributes if own.hides)
    alike = all(group.kind in (Kind.RELATED, Kind.CROSSWISE) for group in found.groups)
    clearest = "" if alike else " (in the clearest response)"
    return f" Odds of a true value against any one other{clearest}: {told}." if told else ""


def _in_the_clear(found: Findings) -> list[str]:
    plain = [own.name for own in found.attributes if own.group is None]
    text = [f"Sent in the clear, as they are: {', '.join(plain)}." if plain else "Nothing is sent in the clear."]
    if found.disclosed:
        names = ", ".join(found.names(found.disclosed))
        text.append(f"NOT PROTECTED, although in a group: every response gives away {names} in full.")
    return text


def _worst(found: Findings) -> list[str]:
    """Return the sentence on the belief that rises most by an attribute's own coin, and on the strongest if another."""
    columns = [k for k in range(len(found.attributes)) if found.is_alone(k) and k not in found.disclosed]
    if not columns:
        return []
    rises = {k: _rise(found, k) for k in columns}
    worst = max(rises.values(), key=lambda belief: (belief.after - belief.before, belief.after))
    alike = [k for k in columns if (rises[k].before, rises[k].after) == (worst.before, worst.after)]
    others = f"; {listed(found.names(alike[1:]))} likewise" if 1 < len(alike) <= 4 else ""
    text = f"Worst attribute: {_told(found, worst)}{others}."
    firmest = max((_firmest(found, k) for k in columns), key=lambda belief: belief.after)
    if firmest.after > worst.after:
        text += f" Strongest belief overall, mostly because it was strong before: {_told(found, firmest)}."
    return [text]


def _rise(found: Findings, column: int) -> Belief:
    rise = found.attributes[column].own.rise
    return Belief(column, rise.value, rise.before, rise.after)


def _firmest(found: Findings, column: int) -> Belief:
    own = found.attributes[column]
    return strongest(own.own, own.prior, column)


def _told(found: Findings, belief: Belief) -> str:
    own = found.attributes[belief.column]
    return (
        f"{own.name}. After some response the truth is {own.values[belief.value]!r} with a chance of "
        f"{percent(belief.after)} (was {percent(belief.before)})"
    )


def _certain(found: Findings) -> list[str]:
    if not found.groups:
        return []
    text = [_certain_of(found, group, linked) for group in found.groups for linked in _linked(group)]
    return text or ["No relation between disguised attributes is disclosed with certainty."]


def _linked(group: GroupFindings) -> list[list[int]]:
    """Return the attributes of a group that relations link, those without a link between them apart."""
    parts: list[set[int]] = []
    for relation in group.relations:
        pair = {relation.first, relation.second}
        parts = [*(part for part in parts if not part & pair), pair.union(*(part for part in parts if part & pair))]
    return sorted(map(sorted, parts))


def _certain_of(found: Findings, group: GroupFindings, linked: Sequence[int]) -> str:
    """Return what is certain of linked attributes: all of how they differ if they have equally many values."""
    names = listed(found.names(linked))
    sizes = {len(found.attributes[column].values) for column in linked}
    rest = "the other" if len(linked) == 2 else "the others"
    if sizes == {2}:
        how = f"whether {names} agree (by place in their lists)"
    else:
        how = f"how far apart the values of {names} stand in their lists{', in part' * (len(sizes) > 1)}"
    gain = f"knows {rest}" if len(sizes) == 1 else f"knows {rest} or has fewer values left to choose from"
    return f"Disclosed with certainty, {titled(group.name)}: {how}; whoever knows one from elsewhere {gain}."


def _record(found: Findings) -> str:
    start = f"Epsilon of a whole record is {epsilon(found.loss)}"
    if not isinf(found.loss):
        factor = odds(found.loss)
        means = f"of two records that seemed equally likely, one may then seem {factor} times as likely as the other"
        return f"{start}: a response may change the odds between two true records by up to {factor}: {means}."
    alone = [own.name for own in found.attributes if own.hides and isinf(own.loss)]
    groups = [titled(group.name) for group in found.groups if isinf(group.loss)]
    if alone:
        return (
            f"{start}: some response proves a true value impossible. It matters whatever else the receiver knows, "
            f"since one response of {listed(alone)} is enough."
        )
    if groups:
        return (
            f"{start} ({listed(groups)}): some response proves combinations of true values impossible. It matters if "
            "the receiver knows part of a record from elsewhere and so learns the rest."
        )
    kept = fsum(group.loss for group in found.groups)
    rest = f"; what is disguised has {epsilon(kept)}, odds change by up to {odds(kept)}" if found.groups else ""
    return f"{start}, but only since columns are sent in the clear{rest}."


def _table(found: Findings, width: int) -> ScreenTable:
    return screen_table(PRIVACY_COLUMNS, privacy_rows(found), width)


def privacy_rows(found: Findings) -> list[Sequence[str]]:
    """Return a row of `PRIVACY_COLUMNS` for each disguised attribute."""
    return [_row(found, column) for column, own in enumerate(found.attributes) if own.group is not None]


def _left_out(rows: ScreenTable) -> list[str]:
    return [f"Left out, as the screen is too narrow: {listed(rows.left_out)}."] if rows.left_out else []


def _row(found: Findings, column: int) -> Sequence[str]:
    own = found.attributes[column]
    measured, group = own.own, found.groups[own.group or 0].name
    if not own.hides:
        return own.name, group, "has one value", "", "", "", ""
    if not found.is_alone(column):
        return own.name, group, _SHARES, epsilon(own.loss), "", "", ""
    belief = strongest(measured, own.prior, column)
    return (
        own.name,
        group,
        f"{_tight(belief.after)} (was {_tight(belief.before)})",
        epsilon(own.loss),
        _tight(measured.single_entry),
        f"{own.bits_before:.3f} -> {measured.bits_left:.3f}",
        _tight(measured.twice),
    )


def _tight(chance: Fraction) -> str:
    return percent(chance).replace("over ", ">").replace("under ", "<")
