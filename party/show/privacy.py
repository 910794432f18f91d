"""What a design discloses, in plain words: a report that fits a screen, or all that was found."""

from party.names import printable
from party.settings.survey import Questionnaire
from party.show.layout import USUAL_WIDTH, wrapped
from party.show.names import Names
from party.show.privacy_full import full_lines
from party.show.privacy_short import short_lines
from protocols.privacy.findings import Findings


def privacy_lines(found: Findings, *, full: bool = False, width: int = USUAL_WIDTH) -> list[str]:
    """Return the report, in lines of at most this many characters.

    Args:
        found: What to tell.
        full: Tell everything that was found; else what fits a screen.
        width: Of the lines.
    """
    text = full_lines(found, width) if full else short_lines(found, width)
    return [line for sentence in text for line in wrapped(sentence, width)]


def report_lines(found: Findings, questionnaire: Questionnaire, *, full: bool, width: int) -> list[str]:
    """Return the report on a design, with what else its reader should know."""
    lines = privacy_lines(found, full=full, width=width)
    if any(domain.may_be_missing for domain in questionnaire.domains):
        lines += wrapped('Who gives no answer is seen to give none; missing = "value" hides it as an answer.', width)
    if not full:
        lines += wrapped("See also --full (all that was found) and --prior (what answers suggest).", width)
    return lines


def shown_names(questionnaire: Questionnaire) -> Names:
    """Return the names of a design as a terminal may show them; escapes are longer, so it is done before wrapping."""
    return Names(
        [printable(name) for name in questionnaire.names],
        [[printable(value) for value in values] for values in questionnaire.values],
        [printable(name) for name in questionnaire.group_names],
    )
