"""What the checks on told counts would see, in words and for programs (DESIGN 6.3)."""

from math import ceil

from protocols.terms import Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.power import Seen, SeenTogether, seen_as_agreed


def check_lines(local: PartyInputs, agreed: Agreement) -> list[str]:
    """Say how wrong a count must be for us to see it, and what we cannot see; nothing without counts."""
    seen = seen_as_agreed(local, agreed)
    return [] if seen is None else [seen_line(seen, agreed.terms)]


def seen_line(seen: Seen, terms: Terms) -> str:
    """Say how wrong a count must be to be seen."""
    if not terms.disguises:
        return "Checks: no copy crosses, so a false count that adds up is not seen, nor are rows in another order"
    told = [
        f"of columns of {words} of the peer's, by {ceil(least):,}"
        for words, least in (("one group", seen.one), ("two groups", seen.two))
        if least is not None
    ]
    more = ", and what noise adds," if terms.noise is not None else ""
    what = "the root" if terms.rules is None else "a set"
    found = (
        f"we see that a count of {what} is false if it is wrong, {', '.join(told)} records{more} or more"
        if told
        else f"we cannot see that a count of {what} is false, however wrong it is"
    )
    found += "" if seen.together is None else _together(seen.together)
    return f"Checks: {found}; we cannot see that the peer has shuffled rows against its ids"


def alike_line(seen: Seen, terms: Terms) -> str:
    """Say what `seen_line` does before the peer is known."""
    return f"{seen_line(seen, terms)}{', if the peer is like us' if terms.disguises else ''}"


def _together(seen: SeenTogether) -> str:
    what = "one column" if seen.columns == 1 else f"{seen.columns} columns"
    return f"; all counts of {what} of the peer's together are seen if each is wrong by about {ceil(seen.wrong):,}"


def seen_json(seen: Seen | None) -> dict[str, int | None] | None:
    """Return by how many records counts must be wrong to be seen, for programs; None where none are told exactly."""
    if seen is None:
        return None
    of_columns = None if seen.together is None else ceil(seen.together.wrong)
    return {"one_group": _whole(seen.one), "two_groups": _whole(seen.two), "together": of_columns}


def _whole(least: float | None) -> int | None:
    return None if least is None else ceil(least)
