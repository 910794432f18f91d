"""The short report of what a design discloses, what its figures mean, and how much of a copy its receiver reads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import fsum, isinf
from typing import assert_never

from party.names import odds_words, printable
from party.show.document import Grid, Pairs, ReportPart, headed
from protocols.privacy.attack import CopyReading, Disclosure
from protocols.privacy.entry import MatrixRow
from protocols.privacy.findings import Findings, GroupFindings, Measures
from protocols.privacy.loss import Odds, disguised_odds
from protocols.randomized_response.design import Design, Kind
from protocols.randomized_response.related_question import RelatedDesign
from protocols.two_party.inputs import PartyInputs


@dataclass(frozen=True)
class Names:
    """What readers call the columns, their values and the groups of a design, each in its order."""

    columns: Sequence[str]
    values: Sequence[Sequence[str]]
    groups: Sequence[str]


def titled(name: str) -> str:
    """Return a group's name as a sentence has it.

    >>> titled("work"), titled("group 1")
    ('group work', 'group 1')
    """
    return name if name.startswith("group ") else f"group {name}"


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


_LARGE = 10**6


def percent(chance: Fraction) -> str:
    """Return a chance in percent; never rounded to certainty or impossibility.

    >>> percent(Fraction(1, 3)), percent(Fraction(99999, 100000)), percent(Fraction(1))
    ('33.3%', 'over 99.9%', '100%')
    """
    if chance in (0, 1):
        return f"{100 * int(chance)}%"
    if chance < Fraction(1, 1000):
        return "under 0.1%"
    return "over 99.9%" if chance > Fraction(999, 1000) else f"{float(100 * chance):.1f}%"


def epsilon(loss: float) -> str:
    return "infinite" if isinf(loss) else f"{loss:.3f}"


def odds(loss: float) -> str:
    """Say by which factor a finite loss lets odds move.

    >>> odds(1.3863), odds(23.55)
    ('4', '1.7e10')
    """
    factor = Decimal(loss).exp()
    return f"{float(factor):.3g}" if factor < _LARGE else f"{factor:.1e}".replace("e+", "e")


_OF_ALL = ("lie", "answer a personal question", "say what the device says")
_OF_ONE = ("another value", "the answer to a personal question", "what the device says")


def question_text(kind: Kind, truth: Fraction, values: int | None = None) -> str:
    chance = f"with a chance of {percent(truth)}"
    if values is None:
        truly, lie, answer, device = f"all attributes of a group tell the truth {chance}, else all of them", *_OF_ALL
    else:
        truly, lie, answer, device = f"a column of {values} values is sent truly {chance}, else as", *_OF_ONE
    match kind:
        case Kind.RELATED:
            return f"{truly} {lie}"
        case Kind.UNRELATED:
            return f"{truly} {answer}"
        case Kind.FORCED:
            return f"{truly} {device}"
        case Kind.CROSSWISE:
            return f"a response says whether it agrees with a harmless statement, which is true of {percent(truth)}"
        case Kind.TRIANGULAR:
            return f"a response says whether it or a harmless statement is true, the latter of {percent(1 - truth)}"
        case _:
            assert_never(kind)


def kinds_text(design: Design) -> str:
    if not design.groups:
        return "asked directly"
    parts = [(design.part(k).kind, design.truth(k)) for k in range(len(design.groups))]
    return "; ".join(f"{kind.value} question, {_chance(kind, truth)}" for kind, truth in dict.fromkeys(parts))


def _chance(kind: Kind, truth: Fraction) -> str:
    match kind:
        case Kind.RELATED | Kind.UNRELATED | Kind.FORCED:
            return f"theta {truth}"
        case Kind.CROSSWISE:
            return f"prevalence {truth}"
        case Kind.TRIANGULAR:
            return f"prevalence {1 - truth}"
        case _:
            assert_never(kind)


_TOGETHER = (
    "Columns that share a coin give each other away, beyond these odds: `cotally check` shows how many records a "
    "receiver reads"
)


def odds_text(found: Iterable[tuple[str, Odds]]) -> str:
    """Return named odds in words, names of equal odds together, and no names where all are equal.

    >>> from fractions import Fraction
    >>> from protocols.privacy.loss import disguised_odds
    >>> from protocols.randomized_response.related_question import RelatedDesign
    >>> design = RelatedDesign.of_odds((2, 4, 2), ((0, 1), (2,)), Fraction(2, 3))
    >>> odds_text(disguised_odds(design, ["smoker", "age", "married"]))
    '3 to 2 (smoker), 2 to 1 (age and married)'
    """
    alike: dict[str, list[str]] = {}
    for name, odds in found:
        alike.setdefault(odds_words(odds.truth, odds.other), []).append(name)
    if len(alike) == 1:
        return next(iter(alike))
    return ", ".join(f"{odds} ({listed(names)})" for odds, names in alike.items())


def own_odds(local: PartyInputs, design: RelatedDesign) -> list[str]:
    """Say the odds of every column that our copy sends in this disguise; nothing where nothing is disguised."""
    sent = local.table.attributes[: len(design.sizes)]
    text = odds_text(disguised_odds(design, [printable(attribute.name) for attribute in sent]))
    odds = [f"Odds of a true value in our copy against any one other: {text}"] if text else []
    return [*odds, _TOGETHER] if odds and any(len(group) > 1 for group in design.groups) else odds


_ANSWER_KNOWN = (
    "Against someone who knows a respondent's own personal answer, epsilon is infinite: a response that differs from "
    "it is the truth, for the whole group. Ask for something that the receiver cannot know of single people."
)
_STATEMENT_KNOWN = (
    "Against someone who knows whether a harmless statement is true of a respondent, epsilon is infinite. Choose "
    "statements that the receiver cannot know of single people."
)
_NONE_TO_KNOW = (
    "Responses rest on coins alone, and on no personal answer of the respondent: nobody can know one and learn by it."
)

_KNOWN_COLUMNS = headed("<group", "<asked by:3", "epsilon", "epsilon if known", "truths then certain")


def known_lines(found: Findings) -> list[str]:
    """Return what becomes of epsilon where a personal answer is known, and for how many the truth is then certain."""
    text = []
    for statements in (False, True):
        groups = [g for g in found.groups if g.loss_if_known and (g.kind is not Kind.UNRELATED) == statements]
        shares = {group.given_away for group in groups if group.given_away is not None}
        if groups:
            most = percent(max(shares)) if len(shares) == 1 else f"up to {percent(max(shares))}"
            known = _STATEMENT_KNOWN if statements else _ANSWER_KNOWN
            text.append(f"{known} For {most} of respondents, the truth is then certain.")
    return text


def known_or_none(found: Findings) -> list[str]:
    rests = any(group.loss_if_known is not None for group in found.groups)
    return known_lines(found) if rests else [_NONE_TO_KNOW]


def known_grid(found: Findings) -> Grid:
    rows = [
        (
            group.name,
            f"{group.kind.value} question",
            epsilon(group.loss),
            epsilon(group.loss if group.loss_if_known is None else group.loss_if_known),
            "none" if group.given_away is None else percent(group.given_away),
        )
        for group in found.groups
    ]
    return Grid(_KNOWN_COLUMNS, rows)


def certain_lines(known: Sequence[tuple[str, Fraction]]) -> list[str]:
    listed = "; ".join(f"{printable(titled(name))} {percent(share)}" for name, share in known)
    who = "An insider who knows a respondent's personal answers, or whether the harmless statement is true, learns"
    return [f"{who} the truth for certain in these shares of cases: {listed}."] if known else []


_SHARES = "shares a coin"
_COLUMNS = headed(
    "<attribute",
    "<group:1",
    "strongest belief\nafter a response",
    "epsilon:2",
    "single-\nentry:3",
    "bits, before\n-> after:5",
    "asked\ntwice:4",
)


@dataclass(frozen=True)
class Belief:
    """A value of an attribute, and how likely it was and becomes."""

    column: int
    value: int
    before: Fraction
    after: Fraction


def figures(found: Findings) -> list[ReportPart]:
    if not any(own.hides for own in found.attributes):
        return []
    rows = [_row(found, column) for column, own in enumerate(found.attributes) if own.group is not None]
    table = Grid(_COLUMNS, rows)
    return ["", table, "", Pairs(legend_rows(found), of=table), "", *assumption_lines(found)]


def summary_lines(found: Findings) -> list[str]:
    plain = [own.name for own in found.attributes if own.group is None]
    text = [f"Sent in the clear, as they are: {', '.join(plain)}." if plain else "Nothing is sent in the clear."]
    if found.disclosed:
        names = ", ".join(found.names(found.disclosed))
        text.append(f"NOT PROTECTED, although in a group: every response gives away {names} in full.")
    sure = [_certain_of(found, group, linked) for group in found.groups for linked in _linked(group)]
    if found.groups and not sure:
        sure = ["No relation between disguised attributes is disclosed with certainty."]
    return [_disguised(found), *text, *_worst(found), *sure, _record(found), *known_lines(found)]


def legend_rows(found: Findings) -> list[tuple[str, str]]:
    shared = any(own.hides and not found.is_alone(column) for column, own in enumerate(found.attributes))
    return [
        ("strongest belief", "how sure of a value its own response can make one; lower is better"),
        ("epsilon", "0: odds stay; 1: they move 2.7 times, 2: 7.4; lower is better"),
        ("single-entry", "average chance given to a wrong value; higher is better"),
        ("bits", "how much of a value is unknown; the less it falls, the better"),
        ("asked twice", "belief after a second answer with new coins: never re-draw"),
        *([(_SHARES, "its group is read as a whole, not by its response")] if shared else []),
    ]


def assumption_lines(found: Findings) -> list[str]:
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
    asked: dict[str, list[str]] = {}
    sizes: set[int | None] = set()
    for group in found.groups:
        if hiding := [column for column in group.columns if found.attributes[column].hides]:
            values = len(found.attributes[hiding[0]].values) if len(hiding) == 1 else None
            sizes.add(values)
            asked.setdefault(question_text(group.kind, group.truth, values), []).extend(found.names(hiding))
    is_plain = len(asked) == 1 or (None not in sizes and len(sizes) == len(asked))  # the number of values says which
    each = [text if is_plain else f"of {listed(names)}, {text}" for text, names in asked.items()]
    odds = odds_text((own.name, own.odds) for own in found.attributes if own.hides)
    alike = all(group.kind in (Kind.RELATED, Kind.CROSSWISE) for group in found.groups)
    clearest = "" if alike else " (in the clearest response)"
    likely = f" Odds of a true value against any one other{clearest}: {odds}." if odds else ""
    constant = [own.name for own in found.attributes if own.group is not None and not own.hides]
    if constant:
        each.append(f"{listed(constant)} {'has' if len(constant) == 1 else 'have'} one value, with nothing to hide")
    return f"{start}, in {many}: {'; '.join(each)}.{likely}"


def _worst(found: Findings) -> list[str]:
    """Return the sentence on the belief that rises most by an attribute's own coin, and on the strongest if another."""
    columns = [k for k in range(len(found.attributes)) if found.is_alone(k) and k not in found.disclosed]
    if not columns:
        return []
    raised = {k: found.attributes[k].own.rise for k in columns}
    rises = {k: Belief(k, rise.value, rise.before, rise.after) for k, rise in raised.items()}
    worst = max(rises.values(), key=lambda belief: (belief.after - belief.before, belief.after))
    alike = [k for k in columns if (rises[k].before, rises[k].after) == (worst.before, worst.after)]
    others = f"; {listed(found.names(alike[1:]))} likewise" if 1 < len(alike) <= 4 else ""
    text = f"Worst attribute: {_told(found, worst)}{others}."
    owns = ((found.attributes[k], k) for k in columns)
    firmest = max((strongest(own.own, own.prior, k) for own, k in owns), key=lambda belief: belief.after)
    if firmest.after > worst.after:
        text += f" Strongest belief overall, mostly because it was strong before: {_told(found, firmest)}."
    return [text]


def _told(found: Findings, belief: Belief) -> str:
    own = found.attributes[belief.column]
    return (
        f"{own.name}. After some response the truth is {own.values[belief.value]!r} with a chance of "
        f"{percent(belief.after)} (was {percent(belief.before)})"
    )


def _linked(group: GroupFindings) -> list[list[int]]:
    """Return the attributes of a group that relations link, those without a link between them apart."""
    parts: list[set[int]] = []
    for relation in group.relations:
        pair = {relation.first, relation.second}
        parts = [*(part for part in parts if not part & pair), pair.union(*(part for part in parts if part & pair))]
    return sorted(map(sorted, parts))


def _certain_of(found: Findings, group: GroupFindings, linked: Sequence[int]) -> str:
    names = listed(found.names(linked))
    sizes = {len(found.attributes[column].values) for column in linked}
    rest = "the other" if len(linked) == 2 else "the others"
    if sizes == {2}:
        how = f"whether {names} agree (by place in their lists)"
    else:
        how = f"how far apart the values of {names} stand in their lists{', in part' * (len(sizes) > 1)}"
    gain = f"knows {rest}" if len(sizes) == 1 else f"knows {rest} or has fewer values left to choose from"
    return f"Disclosed with certainty, {titled(group.name)}: {how}; anybody who knows one from elsewhere {gain}."


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


LIKE_THE_PILOT = "a copy of a table like the pilot"
LIKE_THESE = "answers like these (estimated)"


def reading_line(found: Disclosure | None, copy_is: str = "this copy") -> str:
    """Say how many whole records a receiver reads, beside what one coin per column and mere guessing would.

    >>> few = CopyReading(200, 18, 700, 1000, columns=((140, 200),))
    >>> some = CopyReading(200, 170, 930, 1000, sure=122, columns=((190, 200),))
    >>> reading_line(Disclosure(few, few, few, few, shared=()))[:64]
    'A receiver of this copy reads 9.0% of whole records and 70.0% of'
    >>> reading_line(Disclosure(some, few, few, few, shared=(0,)))[-106:]
    'It is certain (99%) of 61.0% of records. Of the column that shows most it reads 95.0% (by guessing 70.0%).'
    """
    if found is None:
        return f"A receiver of {copy_is} sees every value: it hides nothing."
    copy, apart = found.copy, found.apart
    guess = max(found.values, found.record, key=lambda each: each.whole)
    (whole, cells), of_apart, of_guess = (list(map(percent, _shares(each))) for each in (copy, apart, guess))
    less = [f"with one coin per column {' and '.join(of_apart)}"] if found.shared else []
    less.append(f"by guessing the commonest {' and '.join(of_guess)}")
    read = f"reads {whole} of whole records and {cells} of cells"
    sure = "no record" if not copy.sure else f"{percent(Fraction(copy.sure, copy.records))} of records"
    column, common = map(percent, found.clearest)
    clearest = f"Of the column that shows most it reads {column} (by guessing {common})."
    return f"A receiver of {copy_is} {read} ({'; '.join(less)}). It is certain (99%) of {sure}. {clearest}"


def reading_json(found: Disclosure | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "records_looked_at": found.copy.records,
        **_shares_json(found.copy),
        "certain_records": found.copy.sure / found.copy.records,
        "clearest_column": dict(zip(("cells", "commonest"), map(float, found.clearest), strict=True)),
        "one_coin_per_column": _shares_json(found.apart),
        "commonest_values": _shares_json(found.values),
        "commonest_record": _shares_json(found.record),
    }


def _shares(reading: CopyReading) -> tuple[Fraction, Fraction]:
    return Fraction(reading.whole, reading.records), Fraction(reading.cells, reading.of)


def _shares_json(reading: CopyReading) -> dict[str, object]:
    return dict(zip(("whole_records", "cells"), map(float, _shares(reading)), strict=True))
