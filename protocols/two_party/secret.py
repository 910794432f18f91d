"""A model of which nothing else crosses, in a run of two parties (DESIGN 16): who shares what, and what is kept.

Where a run goes on, transfers and shares are made again; the levels that both remember are not opened again.
"""

import numpy as np

from protocols.answers import KeptAnswers
from protocols.counting.estimated import Estimator
from protocols.counting.oblivious import sides_of
from protocols.learning.tree import Tree
from protocols.oblivious.gates import Gates
from protocols.oblivious.session import TREE_DEPTH, set_up
from protocols.oblivious.triples import Triples
from protocols.role import Role
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.deduction import Follows, what_follows
from protocols.secret_tree.growth import SecretTree
from protocols.secret_tree.held_out import Scores
from protocols.secret_tree.shares import SharedCounts
from protocols.secret_tree.window import SecretRanking
from protocols.tables.table import Codes
from protocols.terms import ALL
from protocols.two_party.agreement import Agreement
from protocols.two_party.copies import Copies
from protocols.two_party.held_out import score, split_of
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.noise import tree_noise_of
from protocols.two_party.secure import RecordParts, first_side
from protocols.two_party.split import split_records


def share_counts(
    local: PartyInputs, agreed: Agreement, codes: Codes, room: int = 0
) -> Role[tuple[SharedCounts, Gates]]:
    """Begin a session of transfers; return what counts these records with it, and what computes on the counts.

    Args:
        local: What we bring.
        agreed: What was agreed.
        codes: Joint codes with our own columns filled in.
        room: How much larger than their number what is computed may be.

    Discloses: nothing; what crosses is masked.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
    """
    chooser, randomness = first_side(local.party, agreed), local.secrets.randomness
    first, sides = chooser == local.party, sides_of(agreed.schema, chooser)
    transfers = yield from set_up(TREE_DEPTH, randomness, local.computing.places)
    counts = SharedCounts(sides, np.asfortranarray(codes), transfers, is_chooser=first, room=room)
    return counts, Gates(first, transfers, Triples(transfers, randomness))


def grow_secretly(
    local: PartyInputs, agreed: Agreement, copies: Copies, parts: RecordParts, answers: KeptAnswers
) -> Role[tuple[Tree, Scores | None]]:
    """Grow the tree of the training records, and open how good it is on those held out, if any are.

    Args:
        local: What we bring.
        agreed: What was agreed.
        copies: What the exchange of copies has left.
        parts: The training records, and those held out.
        answers: The levels that both remember, and the scores.

    Discloses: the windows, if there are some; which attribute splits which node, and the class of each leaf, chosen
    with our noise if the terms have any; with our noise in it, how many held-out records have which label, by class.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
        DeviationError: What it sent passes no check, or leads to no tree.
    """
    codes, held_out = (copies.view.rows(part).codes for part in parts)
    counts, gates = yield from share_counts(local, agreed, codes)
    terms, ranking = agreed.terms, None
    if terms.window is not ALL:
        estimator = Estimator(copies.view.rows(parts[0]))
        ranking = SecretRanking(estimator, agreed.schema.classes, terms.growth, gates, answers)
    allowance, noise = Allowance.of(agreed.schema, terms, len(local.records)), tree_noise_of(local, agreed, len(codes))
    tree = yield from SecretTree(allowance, terms.growth, counts, gates, answers, noise, ranking).build()
    scores = (yield from score(local, agreed, tree, held_out, gates.transfers, answers)) if len(held_out) else None
    return tree, scores


def deduced(local: PartyInputs, agreed: Agreement, tree: Tree) -> Follows:
    """Return what follows for certain of our training records from such a tree alone."""
    schema, records, terms = agreed.schema, len(local.records), agreed.terms
    codes = np.zeros((records, len(schema.columns)), np.uint8)
    places = {(each.party, each.name): place for place, each in enumerate(schema.attributes)}
    own = [places.get((each.party, each.name), schema.class_index) for each in local.table.attributes]
    codes[:, own] = local.table.codes
    train, *_ = split_records(split_of(local, agreed), records, terms.test)
    alone = schema.class_owners == (local.party,)
    return what_follows(tree, own, codes[train], Allowance.of(schema, terms, records), alone=alone)
