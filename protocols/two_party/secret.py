"""A tree of which nothing else crosses, in a run of two parties (DESIGN 16): who shares what, and what is gone on with.

Where a run goes on, transfers and shares are made anew; the levels that both remember are not opened again.
"""

import numpy as np

from protocols.answers import KeptAnswers
from protocols.counting.oblivious import TREE_DEPTH, sides_of
from protocols.counting.rows import make_view
from protocols.learning.tree import Tree
from protocols.oblivious.gates import Gates
from protocols.oblivious.session import set_up
from protocols.oblivious.triples import Triples
from protocols.role import Role
from protocols.secret_tree.growth import SecretTree
from protocols.secret_tree.shares import SharedCounts
from protocols.tables.arrays import Index
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.secure import first_side


def grow_secretly(local: PartyInputs, agreed: Agreement, train: Index, answers: KeptAnswers) -> Role[Tree]:
    """Grow the tree of the training records.

    Args:
        local: What we bring.
        agreed: What was agreed.
        train: The training records.
        answers: The levels that both remember.

    Discloses: which attribute splits which node, and the class of each leaf.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
        DeviationError: What it sent passes no check, or leads to no tree.
    """
    codes = make_view(agreed.schema, local.party, local.table.codes, None, agreed.peer_design).rows(train).codes
    chooser, randomness = first_side(local.party, agreed), local.secrets.randomness
    is_chooser = chooser == local.party
    transfers = yield from set_up(TREE_DEPTH, randomness)
    counts = SharedCounts(sides_of(agreed.schema, chooser), np.asfortranarray(codes), transfers, is_chooser=is_chooser)
    gates = Gates(is_chooser, transfers, Triples(transfers, randomness))
    tree = SecretTree(agreed.schema, agreed.terms.growth, counts, gates, answers=answers)
    return (yield from tree.build())
