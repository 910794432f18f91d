"""The noise of a run, from what both parties know when they have agreed (DESIGN 14, "Noise")."""

from collections.abc import Sequence

from protocols.learning.whole import GINI_BITS, Gini
from protocols.noise.accounting import Spending, TreeSpending, most_changes
from protocols.noise.both import BothNoises, KeyedNoise, OwnNoise, TreeNoise
from protocols.randomness import canonical, keyed_digest
from protocols.tables import Attribute, Schema
from protocols.terms import Growth, Leaves
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs


def noises_of(local: PartyInputs, agreement: Agreement) -> BothNoises | None:
    """Return both sides' noise in counts, ours ready to be drawn; None where these are exact, or nobody sees them."""
    terms, schema = agreement.terms, agreement.schema
    if terms.noise is None or terms.levels is None or terms.hides_counts:
        return None
    changes = (most_changes(schema, side, terms.window, terms.levels) for side in (local.party, agreement.peer))
    ours, theirs = (Spending(terms.noise, each) for each in changes)
    tables, places = tables_digest(local, agreement), _places(schema)
    return BothNoises(OwnNoise(local.secrets.coins, tables, ours, places), theirs)


def tree_noise_of(local: PartyInputs, agreement: Agreement, records: int) -> TreeNoise | None:
    """Return our noise of a tree of this many training records of which nothing else is shown; None without noise."""
    schema = agreement.schema
    spent = tree_spending(len(schema.attributes), agreement.terms.growth, records)
    tables = tables_digest(local, agreement)
    return None if spent is None else TreeNoise(local.secrets.coins, tables, spent, _places(schema))


def tree_spending(columns: int, growth: Growth, records: int) -> TreeSpending | None:
    """Return what either side spends on a tree of this many columns and training records; None without noise."""
    if growth.noise is None or growth.max_depth is None:
        return None
    change = int(Gini(records).change * 2**GINI_BITS)
    tenths = growth.leaves == Leaves.TENTHS
    return TreeSpending(growth.noise, min(growth.max_depth, columns), max(change, 1), columns, tenths)


def noise_of_model(local: PartyInputs, agreement: Agreement) -> KeyedNoise:
    """Return our noise of what is shown about a model, where no count of a node is shown."""
    return KeyedNoise(local.secrets.coins, tables_digest(local, agreement), _places(agreement.schema))


def tables_digest(local: PartyInputs, agreement: Agreement) -> bytes:
    """Return a digest of all that decides, with a query, which true number its answer is, keyed by our secret.

    No other term is in it, nor the order of columns, which each side chooses: whichever is varied, the same query has
    the same noise, unless its scale differs. NB: a peer that brings another table under the same commitment deviates
    from the protocol, and learns the difference between the two answers.
    """
    terms = agreement.terms
    split = (str(terms.seed), str(terms.test))
    return digest_of_tables(local, agreement.schema, agreement.peer, agreement.commitment, split)


def digest_of_tables(
    local: PartyInputs, schema: Schema, peer: str, commitment: bytes, split: Sequence[str] = ()
) -> bytes:
    """Return a digest, under our secret, of what both bring of these columns, and of how their records are split."""
    columns = sorted(canonical(_name(a), *(value.encode() for value in a.values)) for a in schema.columns)
    return keyed_digest(
        local.secrets.coins,
        b"cotally noisy tables",
        canonical(*(each.encode() for each in split)),
        canonical(*columns, *(owner.encode() for owner in schema.class_owners)),
        canonical(local.party.encode(), peer.encode(), commitment),
        local.digest(b"noise"),
    )


def _places(schema: Schema) -> dict[int, int]:
    """Return a number for each column that does not depend on their order, which each side chooses."""
    named = sorted(range(len(schema.columns)), key=lambda column: _name(schema.columns[column]))
    return {column: place for place, column in enumerate(named)}


def _name(column: Attribute) -> bytes:
    return canonical(column.party.encode(), column.name.encode())


def run_digest(local: PartyInputs, agreement: Agreement) -> bytes:
    """Return a digest of all that decides what a run asks and is answered: of one that differs, other epsilon is spent.

    Terms that change neither are left out (`Terms.reveal_key`): such a run reveals the same numbers again.
    """
    terms = (canonical(name.encode(), str(value).encode()) for name, value in agreement.terms.reveal_key.items())
    return keyed_digest(local.secrets.coins, b"cotally noisy run", canonical(*terms), tables_digest(local, agreement))
