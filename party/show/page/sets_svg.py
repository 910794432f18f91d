"""Itemsets as a drawing in SVG: their supports with intervals."""

from party.association.mining import ResultColumns, sets_of
from party.show.baskets import first_rows, set_text
from party.show.joint_rules import joint_title, up_to
from party.show.page.interval_svg import Interval, intervals_svg
from protocols.association.joint import JointItemsets
from protocols.errors import InputError


def sets_svg(title: str, columns: ResultColumns, threshold: float, *, alone: bool = True) -> str:
    """Return a drawing of the supports of the most frequent sets.

    Args:
        title: What it shows.
        columns: The sets.
        threshold: Of frequent ones.
        alone: Whether it is a file of its own, or part of a page.
    """
    shares = [
        Interval(set_text(columns["itemsets"][k]), *(float(columns[name][k]) for name in ("support", "low", "high")))
        for k in first_rows(columns["support"])
    ]
    return intervals_svg(title, shares, threshold, alone=alone)


def joint_svg(found: JointItemsets, most_items: int | None = None) -> str:
    """Return a drawing of what two parties have found together, of sets of so many items at most.

    Raises:
        InputError: They have no counts.
    """
    if not found.has_counts:
        raise InputError("these sets have no counts to draw")
    return sets_svg(joint_title(found), sets_of(up_to(found, most_items)), float(found.threshold))
