"""The exchange of disguised copies (DESIGN 4, B1 and B2 of FAULTS): a page of each in turn, and what comes of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from protocols.counting.rows import View, make_view, peer_columns, view_of_copies
from protocols.errors import PeerError
from protocols.facts import CopyFact, Way
from protocols.messages import DisguisedPage
from protocols.randomized_response.related_question import Coins, RelatedDesign, disguise
from protocols.randomness import canonical, keyed_digest
from protocols.role import Note, Part, Phase, Progress, Role, Save, Send, receive
from protocols.tables.table import Codes
from protocols.two_party.agreement import Agreement, Objection, settle
from protocols.two_party.inputs import PartyInputs

PAGE_RECORDS = 1 << 14

CopyJudge = Callable[[bytes], Objection | None]


def accept_copy(digest: bytes) -> None:
    """Remember no earlier copy."""
    del digest


@dataclass(frozen=True)
class Copies:
    """What the exchange of copies leaves: our records with the peer's copy, of rules both copies, and our own coins."""

    view: View
    both: View
    coins: Coins


def exchange_copies(
    local: PartyInputs, agreed: Agreement, judge: CopyJudge, known: bytes | None = None
) -> Role[Copies]:
    """Send and receive the disguised copies; who mines only receives. Without a disguise there are no coins.

    Args:
        local: What we bring.
        agreed: Has both designs.
        judge: Is given a digest of the peer's copy, keyed by our secret, before anything that depends on it leaves.
        known: The peer's copy, where both have kept the other's.

    Discloses: our disguised copy, if there is a disguise and we do not mine, and whether we know the peer by another
    one than its own.

    Raises:
        PeerError: Its copy does not fit what was agreed.
        DisagreementError: One side objects to the other's copy.
    """
    codes = local.table.codes
    if not agreed.terms.disguises:
        view = make_view(agreed.schema, local.party, codes, None, agreed.peer_design)
        return Copies(view, view, np.zeros((len(codes), 0), dtype=np.uint8))
    own_design, peer_design = agreed.own_design, agreed.peer_design
    coins = local.coins(own_design)
    copy = disguise(codes[:, : len(own_design.sizes)], coins, own_design)
    if known is None:
        theirs = yield from _exchange(local, agreed, copy, judge)
        yield Save(Part.COPY, 0, theirs.tobytes())
    else:
        theirs = _read(known, len(copy), peer_design)
    view = make_view(agreed.schema, local.party, codes, theirs if peer_design.sizes else None, peer_design)
    both = view if agreed.terms.rules is None else view_of_copies(view, local.party, copy, own_design)
    return Copies(view, both, coins)


def _exchange(local: PartyInputs, agreed: Agreement, copy: Codes, judge: CopyJudge) -> Role[Codes]:
    columns = [column.name for column in local.table.attributes[: copy.shape[1]]]
    if columns:
        yield Note(CopyFact(Way.TOLD, _digest(local, b"own copy", columns, copy)))
    received = [copy[:0, :0]] if not agreed.peer_design.sizes else []
    for start in range(0, len(copy), PAGE_RECORDS):
        page = np.ascontiguousarray(copy[start : start + PAGE_RECORDS])
        if columns:
            yield Send(DisguisedPage(page.tobytes()))
        if agreed.peer_design.sizes:
            received.append(_read((yield from receive(DisguisedPage)).codes, len(page), agreed.peer_design))
        yield Progress(Phase.COPIES, start + len(page), len(copy))
    theirs = np.concatenate(received)
    objection = None
    if theirs.shape[1]:
        names = [agreed.schema.columns[column].name for column in peer_columns(agreed.schema, local.party)]
        digest = _digest(local, b"peer copy", names, theirs)
        yield Note(CopyFact(Way.LEARNED, digest))
        objection = judge(digest)
    yield from settle(objection)
    return theirs


def _digest(local: PartyInputs, purpose: bytes, names: Sequence[str], copy: Codes) -> bytes:
    """Return a digest of a copy under our secret; the order of its columns is no part of it."""
    columns = sorted(canonical(name.encode(), copy[:, c].tobytes()) for c, name in enumerate(names))
    return keyed_digest(local.secrets.coins, purpose, *columns)


def _read(data: bytes, records: int, design: RelatedDesign) -> Codes:
    width = len(design.sizes)
    if len(data) != records * width:
        raise PeerError("a page of the peer's disguised copy has the wrong length")
    codes = np.frombuffer(data, dtype=np.uint8).reshape(records, width)
    if (codes >= np.array(design.sizes)).any():
        raise PeerError("the peer's disguised copy holds values outside its domains")
    return codes
