"""The noise of a run, from what both parties know when they have agreed (DESIGN 14, "Noise")."""

from dataclasses import fields

from protocols.noise.accounting import Spending, most_changes
from protocols.noise.both import BothNoises
from protocols.noise.own import OwnNoise
from protocols.randomness import canonical, keyed_digest
from protocols.tables.schema import Schema
from protocols.terms import Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs


def spending(schema: Schema, terms: Terms, side: str) -> Spending | None:
    """Return what a side spends in a run; None without noise."""
    if terms.noise is None or terms.max_depth is None:
        return None
    return Spending(terms.noise, most_changes(schema, side, terms.window, terms.max_depth))


def noises_of(local: PartyInputs, agreement: Agreement) -> BothNoises | None:
    """Return both sides' noise, ours ready to be drawn; None where counts are exact."""
    ours, theirs = (spending(agreement.schema, agreement.terms, side) for side in (local.party, agreement.peer))
    if ours is None or theirs is None:
        return None
    return BothNoises(OwnNoise(local.secrets.coins, run_digest(local, agreement), ours), theirs)


def run_digest(local: PartyInputs, agreement: Agreement) -> bytes:
    """Return a digest of all that decides what is asked and which true number an answer is, keyed by our secret.

    These are the terms, the agreed schema, the peer, the commitment to its table, and our own table. Of a run that
    differs in any of them every number has other noise, and it spends its own epsilon. NB: a peer that brings another
    table under the same commitment deviates from the protocol, and learns the difference between the two answers.
    """
    terms, schema = agreement.terms, agreement.schema
    values = (canonical(field.name.encode(), str(getattr(terms, field.name)).encode()) for field in fields(Terms))
    columns = (canonical(*(text.encode() for text in (a.party, a.name, *a.values))) for a in schema.columns)
    return keyed_digest(
        local.secrets.coins,
        b"cotally noisy run",
        canonical(*values),
        canonical(*columns, *(owner.encode() for owner in schema.class_owners)),
        canonical(local.party.encode(), agreement.peer.encode(), agreement.commitment),
        local.digest(b"noise"),
    )
