"""What our own disguised copy tells of each column, before it leaves."""

from party.names import printable
from party.show.odds import odds_text
from protocols.privacy.odds import disguised_odds
from protocols.randomized_response.related_question import RelatedDesign
from protocols.two_party.inputs import Local


def odds_lines(local: Local, design: RelatedDesign) -> list[str]:
    """Return the odds of every column that is sent in this disguise; nothing where nothing is disguised."""
    sent = local.table.attributes[: len(design.sizes)]
    text = odds_text(disguised_odds(design, [printable(attribute.name) for attribute in sent]))
    return [f"Odds of a true value in our copy against any one other: {text}"] if text else []
