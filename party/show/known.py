"""What somebody learns who knows a respondent's personal answer, in words (DESIGN 10)."""

from collections.abc import Sequence
from fractions import Fraction

from party.names import printable
from party.show.figures import epsilon, percent
from party.show.layout import ScreenColumn
from party.show.names import titled
from protocols.privacy.findings import Findings
from protocols.randomized_response.design import Kind

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

KNOWN_COLUMNS = (
    ScreenColumn("group", is_text=True),
    ScreenColumn("asked by", is_text=True, rank=3),
    ScreenColumn("epsilon"),
    ScreenColumn("epsilon if known"),
    ScreenColumn("truths then certain"),
)


def known_lines(found: Findings) -> list[str]:
    """Return what becomes of epsilon where a personal answer is known, and of how many the truth is then certain."""
    text = []
    for statements in (False, True):
        groups = [g for g in found.groups if g.loss_if_known and (g.kind is not Kind.UNRELATED) == statements]
        shares = {group.given_away for group in groups if group.given_away is not None}
        if groups:
            most = percent(max(shares)) if len(shares) == 1 else f"up to {percent(max(shares))}"
            text.append(f"{_STATEMENT_KNOWN if statements else _ANSWER_KNOWN} Of {most} the truth is then certain.")
    return text


def known_or_none(found: Findings) -> list[str]:
    """Return the same, or that there is nothing to know."""
    rests = any(group.loss_if_known is not None for group in found.groups)
    return known_lines(found) if rests else [_NONE_TO_KNOW]


def known_rows(found: Findings) -> list[Sequence[str]]:
    """Return a row of `KNOWN_COLUMNS` for each group."""
    return [
        (
            group.name,
            f"{group.kind.value} question",
            epsilon(group.loss),
            epsilon(group.loss if group.loss_if_known is None else group.loss_if_known),
            "none" if group.given_away is None else percent(group.given_away),
        )
        for group in found.groups
    ]


def certain_lines(known: Sequence[tuple[str, Fraction]]) -> list[str]:
    """Say of how many in each group the truth is certain to who knows the personal answers, if there are any."""
    listed = "; ".join(f"{printable(titled(name))} {percent(share)}" for name, share in known)
    told = (
        "To who knows the personal answers of a respondent, or whether the harmless statement is true, the truth "
        f"is certain of: {listed}."
    )
    return [told] if known else []
