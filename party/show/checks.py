"""What the checks on told counts would see, in words (DESIGN 6.3)."""

from math import ceil

from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.power import least_seen
from protocols.two_party.split import held_out_records


def check_lines(local: PartyInputs, agreed: Agreement) -> list[str]:
    """Say how wrong a count of the root must be for us to see it, and what we cannot see; nothing without counts."""
    terms = agreed.terms
    if not terms.counts_exactly:
        return []
    if not terms.disguises:
        return ["Checks: no copy crosses, so a false count that adds up is not seen, nor are rows in another order"]
    records = len(local.records) - held_out_records(len(local.records), terms.test)
    seen = [
        f"of columns of {words} of the peer's, by {ceil(least):,}"
        for words, groups in (("one group", 1), ("two groups", 2))
        if (least := least_seen(agreed.peer_design, agreed.schema, records, groups)) is not None
    ]
    more = ", and what noise adds," if terms.noise is not None else ""
    found = f"is seen if it is wrong, {', '.join(seen)} records{more} or more" if seen else "is not seen, however wrong"
    return [f"Checks: a false count of the root {found}; rows that the peer has shuffled against its ids are not seen"]
