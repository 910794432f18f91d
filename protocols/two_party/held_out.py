"""Who is held out of a tree that alone is revealed, and how good it is on them.

Both sides draw who it is after both have committed to their tables: each hides its part before it sees the other's
(Blum, "Coin flipping by telephone", 1981). A part is a digest under its side's secret of its own table, the data set
and the peer's commitment. So the same tables have the same split in every run: nobody is held out in one and trained
on in another, and asking again draws nothing else. Our noise in the table of scores follows from what it is about, too.
"""

import hashlib

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counting.oblivious import sides_of
from protocols.errors import PeerError
from protocols.learning.tree import Tree
from protocols.messages import HiddenDraw, OpenedDraw
from protocols.oblivious.session import Transfers
from protocols.randomness import canonical
from protocols.role import Role, exchange
from protocols.secret_tree.held_out import QUALITY, Scores, noise_of_scores, open_scores, room_for_scores
from protocols.secret_tree.shares import SharedCounts
from protocols.tables.table import Codes
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.noise import noise_of_model
from protocols.two_party.secure import first_side


def draw_split(local: PartyInputs, agreed: Agreement) -> Role[int]:
    """Draw, together with the peer, what decides which records are held out.

    Discloses: nothing but a digest of our own secret and table, which fixes, with the peer's, who is held out.

    Raises:
        PeerError: The peer opens another part than it has hidden.
    """
    own = local.digest(canonical(b"held out", local.dataset.encode(), agreed.peer.encode(), agreed.commitment))
    hidden = yield from exchange(HiddenDraw(_hidden(local.party, own)))
    opened = yield from exchange(OpenedDraw(own))
    if _hidden(agreed.peer, opened.part) != hidden.digest:
        raise PeerError("the peer's part of the draw of held-out records is not the one that it had hidden")
    parts = sorted([(local.party, own), (agreed.peer, opened.part)])
    return int.from_bytes(hashlib.sha256(canonical(*(part for _, part in parts))).digest(), "big")


def _hidden(party: str, part: bytes) -> bytes:
    return hashlib.sha256(canonical(b"cotally draw", party.encode(), part)).digest()


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
    """
    law, first = noise_of_scores(QUALITY), first_side(local.party, agreed)
    noise = noise_of_model(local, agreed).of_model(law, tree.schema.classes**2, b"scores", tree.parts())
    counts = SharedCounts(
        sides_of(tree.schema, first), held_out, transfers, is_chooser=first == local.party, room=room_for_scores(law)
    )
    cells = yield from answers.ask(_as_numbers(open_scores(tree, counts, law, noise)))
    return Scores(tuple(map(int, cells)), len(held_out), law)


def _as_numbers(cells: Role[tuple[int, ...]]) -> Role[AnswerNumbers]:
    return tuple(map(float, (yield from cells)))
