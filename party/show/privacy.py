"""What a design discloses, in plain words: a report that fits a screen, or all that was found."""

from party.names import printable
from party.settings.survey import Questionnaire
from party.show.layout import USUAL_WIDTH, Block
from party.show.names import Names
from party.show.privacy_full import full_blocks
from party.show.privacy_short import short_blocks
from protocols.privacy.findings import Findings


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
        blocks.append('Whoever gives no answer is seen to give none; missing = "value" hides that as an answer.')
    if not full:
        blocks.append("See also --full (all that was found) and --prior (what answers suggest).")
    return blocks


def shown_names(questionnaire: Questionnaire) -> Names:
    """Return the names of a design as a terminal may show them, escapes and all."""
    return Names(
        [printable(name) for name in questionnaire.names],
        [[printable(value) for value in values] for values in questionnaire.values],
        [printable(name) for name in questionnaire.group_names],
    )
