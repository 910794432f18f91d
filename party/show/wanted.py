"""What a wanted belief needs, in one table, and the same as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from party.show.document import Block, Grid, headed
from protocols.randomized_response.design import Kind

_QUESTIONS = {
    Kind.RELATED: "related, crosswise",
    Kind.FORCED: "forced, unrelated",
    Kind.TRIANGULAR: "triangular",
}
_WORDS = (
    "Theta: how often the truth is sent. Belief: how sure a receiver can be at most that one person has the value, or "
    "(otherwise) another."
)
_OF_COINS = " Coins: this many columns, each with its own, are all sent truly with a chance of a hundredth at most."
_OF_QUESTIONS = (
    " Theta of a crosswise question is the prevalence of its statement, that of a triangular one is 1 less it; half of "
    "forced and personal answers are yes."
)


@dataclass(frozen=True)
class FittingDesign:
    """A design that fits a column of this many values or a kind of question: the chance of the truth, beliefs at most.

    Beliefs are in the value asked about and in another one. `coins` is how many are all true with a hundredth's chance
    at most; `records` is from how many a share is estimated, with that half-width, if anybody asked.
    """

    of: int | Kind
    truth: Fraction
    beliefs: tuple[Fraction, Fraction]
    coins: int | None
    records: int | None
    half_width: float | None


def choices_json(odds: Fraction, share: Fraction, found: Sequence[FittingDesign]) -> dict[str, object]:
    rows = [
        {
            "of": each.of if isinstance(each.of, int) else each.of.value,
            "theta": each.truth,
            "belief": float(each.beliefs[0]),
            "belief_otherwise": float(each.beliefs[1]),
            "coins": each.coins,
            "records": each.records,
            "half_width": each.half_width,
        }
        for each in found
    ]
    return {"format": "cotally-advice/1", "odds": odds, "share": share, "choices": rows}


def choice_blocks(odds: Fraction, share: Fraction, found: Sequence[FittingDesign]) -> list[Block]:
    first = found[0]
    heads = headed("values" if first.coins else "<question", "theta", "belief", "belief\notherwise")
    heads += [*(headed("coins") if first.coins else ()), *(headed("records", "±") if first.records else ())]
    rows = [
        [
            str(each.of) if isinstance(each.of, int) else _QUESTIONS[each.of],
            *(f"{float(chance):.4f}" for chance in (each.truth, *each.beliefs)),
            *([str(each.coins)] if each.coins else []),
            *([f"{each.records:,}", f"{each.half_width:.4f}"] if each.records else []),
        ]
        for each in found
    ]
    grid = Grid(heads, rows)
    said: list[Block] = [f"Odds of {odds} to 1 for a value that a share of {share} has:", "", grid, ""]
    if not first.coins:
        return [*said, _WORDS + _OF_QUESTIONS]
    settings = f'In job.toml: theta = "{first.truth}"; in party.toml: [agree] odds = "{odds}".'
    rest = "What it costs a tree has no formula: `cotally rehearse` shows it, and how many whole records are read."
    return [*said, _WORDS + _OF_COINS, f"{settings} {rest}"]
