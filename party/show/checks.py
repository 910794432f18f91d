"""What the checks on told counts would see, in words (DESIGN 6.3)."""

from math import ceil

from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.power import least_seen, least_seen_together
from protocols.two_party.split import held_out_records


def check_lines(local: PartyInputs, agreed: Agreement) -> list[str]:
    """Say how wrong a count must be for us to see it, and what we cannot see; nothing without counts.

    What holds of a count of the root holds of one of a set of items, in two groups at most.
    """
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
    found += _together(local, agreed, records)
    what = "the root" if terms.rules is None else "a set"
    return [f"Checks: a false count of {what} {found}; rows that the peer has shuffled against its ids are not seen"]


def _together(local: PartyInputs, agreed: Agreement, records: int) -> str:
    """Say what the chi-square over the root would see, which is made of a model's counts that have no noise."""
    terms, attributes = agreed.terms, len(agreed.schema.attributes)
    if terms.noise is not None or terms.rules is not None:
        return ""
    window = min(terms.omega or attributes, attributes)
    seen = least_seen_together(agreed.peer_design, agreed.schema, local.party, records, window)
    if seen is None:
        return ""
    what = "one column" if seen.columns == 1 else f"{seen.columns} columns"
    return f"; all counts of {what} of the peer's together are seen if each is wrong by about {ceil(seen.wrong):,}"
