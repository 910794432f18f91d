"""What a design discloses, in plain words: a report that fits a screen, or all that was found."""

from party.show.layout import USUAL_WIDTH, wrapped
from party.show.privacy_full import full_lines
from party.show.privacy_short import short_lines
from protocols.privacy.findings import Findings


def privacy_lines(found: Findings, *, full: bool = False, width: int = USUAL_WIDTH) -> list[str]:
    """Return the report, in lines of at most so many characters.

    Args:
        found: What to tell.
        full: Tell everything that was found; else what fits a screen.
        width: Of the lines.
    """
    text = full_lines(found, width) if full else short_lines(found, width)
    return [line for sentence in text for line in wrapped(sentence, width)]
