"""What a design discloses, in plain words: a report that fits a screen, or all that was found."""

from fractions import Fraction

from party.names import printable
from party.settings.survey import Questionnaire
from party.show.figures import percent
from party.show.layout import USUAL_WIDTH, Block
from party.show.names import Names, titled
from party.show.privacy_full import full_blocks
from party.show.privacy_short import short_blocks
from protocols.privacy.findings import Findings
from protocols.survey.inference import AfterMining


def privacy_blocks(found: Findings, *, full: bool = False, width: int = USUAL_WIDTH) -> list[Block]:
    """Return the report.

    Args:
        found: What to tell.
        full: Tell everything that was found; else what fits a screen.
        width: Of the screen, for which the columns of a table are chosen.
    """
    return full_blocks(found) if full else short_blocks(found, width)


def report_blocks(found: Findings, questionnaire: Questionnaire, *, full: bool, width: int) -> list[Block]:
    """Return the report on a design, with what else its reader should know."""
    blocks = privacy_blocks(found, full=full, width=width)
    if any(domain.may_be_missing for domain in questionnaire.domains):
        blocks.append('A missing answer is seen as missing; missing = "value" hides it.')
    if not full:
        blocks.append(
            "See also --full (all that was found), --prior (what answers suggest) and --pilot (true records)."
        )
    return blocks


def shown_names(questionnaire: Questionnaire) -> Names:
    """Return the names of a design as a terminal may show them, escapes and all."""
    return Names(
        [printable(name) for name in questionnaire.names],
        [[printable(value) for value in values] for values in questionnaire.values],
        [printable(name) for name in questionnaire.group_names],
    )


def after_mining_lines(mined: AfterMining, found: Findings) -> list[Block]:
    """Say what a mined model leaves of the privacy of its class, the last attribute of the findings."""
    own = found.attributes[-1]
    told = (
        f"After mining: whoever knows of a person what the model reads learns {own.name} rightly by its {mined.rules} "
        f"rules with a chance of {percent(mined.right)}; the commonest value has {percent(mined.commonest)}."
    )
    left = (
        f"Single-entry privacy of {own.name}: {_signed(mined.before)} before mining, {_signed(mined.known)} after it. "
        "The paper takes one chance from the other: below 0 the rules tell more than the response hides."
    )
    lines: list[Block] = ["", told, left]
    if own.group is not None:
        group = found.groups[own.group]
        smallest = min(group.single_entry, mined.known)
        lines.append(f"The smallest of {titled(group.name)} is then {_signed(smallest)}.")
    if mined.unknown is None:
        return [*lines, "For who does not know what the model reads, responses are needed: --prior gives them."]
    unknown = (
        f"For who does not know what the model reads, {_signed(mined.unknown)} by the paper's formula, in which every "
        "rule counts alike, however rare: compare it between designs, not with 0."
    )
    return [*lines, unknown]


def _signed(value: Fraction) -> str:
    """Return a difference of chances in percent; it may be negative."""
    return f"{100 * float(value):.1f}%"
