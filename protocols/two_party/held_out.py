"""Who is held out of a tree that alone is revealed, and how good it is on them.

Who it is follows from both sides' commitments to their tables, each a digest under its side's secret: neither knows it
before it has fixed its own table, and the same tables have the same split in every run, so nobody is held out in one
and trained on in another. Our noise in the table of scores follows from the tables and the tree, too.

*Deviations*: a side that stops when it has seen the other's commitment may try tables until the split suits it, once.
"""

import hashlib
from collections.abc import Mapping

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counting.oblivious import sides_of
from protocols.learning.tree import Tree
from protocols.oblivious.session import Transfers
from protocols.randomness import canonical
from protocols.role import Role
from protocols.secret_tree.held_out import Scores, noise_of_scores, open_scores, room_for_scores
from protocols.secret_tree.shares import SharedCounts
from protocols.tables.table import Codes
from protocols.terms import EPSILON_OF_SCORES
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.noise import noise_of_model
from protocols.two_party.secure import first_side


def split_of(local: PartyInputs, agreed: Agreement) -> int:
    """Return what decides which records are held out."""
    return drawn_split({local.party: local.digest(b"commitment"), agreed.peer: agreed.commitment})


def drawn_split(commitments: Mapping[str, bytes]) -> int:
    """Return it of each party's commitment to its table, by its name."""
    parts = (commitments[party] for party in sorted(commitments))
    return int.from_bytes(hashlib.sha256(canonical(b"cotally split", *parts)).digest(), "big")


def score(
    local: PartyInputs, agreed: Agreement, tree: Tree, held_out: Codes, transfers: Transfers, answers: KeptAnswers
) -> Role[Scores]:
    """Open how good a tree is on those held out.

    Args:
        local: What we bring.
        agreed: What was agreed.
        tree: That both have.
        held_out: Joint codes of those held out, with our own columns filled in.
        transfers: Of the session.
        answers: What both remember of the run.

    Discloses: as `open_scores`.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
        DeviationError: What it remembers is no such table.
    """
    law, first = noise_of_scores(EPSILON_OF_SCORES), first_side(local.party, agreed)
    noise = noise_of_model(local, agreed).of_model(law, tree.schema.classes**2, b"scores", tree.parts())
    counts = SharedCounts(
        sides_of(tree.schema, first), held_out, transfers, is_chooser=first == local.party, room=room_for_scores(law)
    )
    opening = _as_numbers(open_scores(tree, counts, law, noise))
    cells = yield from answers.ask(opening, lambda cells: len(cells) == tree.schema.classes**2)
    return Scores(tuple(map(int, cells)), len(held_out), law)


def _as_numbers(cells: Role[tuple[int, ...]]) -> Role[AnswerNumbers]:
    return tuple(map(float, (yield from cells)))
