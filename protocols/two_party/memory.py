"""Both parties compare what they remember: their ledgers, and what a run that goes on has reached (DESIGN 12).

Each party keeps what it told and learned in a chain of entries, and the end of the other's chain, its *head*, as it was
last shown. A chain only grows: a peer that shows fewer entries than before, or whose chain does not lead through the
head that we keep, has lost what it knew (FAULTS 66), and with it what keeps a second release from undoing the first.
The first is seen by us, the second by itself. Every head is signed by its owner: who says that a chain was another has
to show that, or it is the one that deviates. With the heads goes which run each would go on with.

What both have kept of a run that goes on is found in one exchange, before its first step. Of a tree that alone is
revealed every run on the same terms goes on, and what one side remembers is sent to the other: a partner that brings
other columns in another run, or stops and goes on with others, hears the same tree.

Resume is memory, not replay: the first step that either lacks is done again. Copies are the same whenever they are
asked for, transfers and ciphertexts are made again, an answer told twice is one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from protocols.answers import KeptAnswers, answers_digest, are_whole
from protocols.errors import DeviationError, PeerError
from protocols.messages import KeptParts, LostAnswers, MemoryHeads, SignedHead
from protocols.randomness import canonical, keyed_digest
from protocols.role import Kept, Part, Role, Send, exchange, receive
from protocols.two_party.objections import Objection, settle

HEAD_BYTES: Final = 32


@dataclass(frozen=True)
class LedgerHead:
    """The end of a chain: number of entries, and the digest of the last one."""

    entries: int
    digest: bytes


NO_HEAD: Final = LedgerHead(0, bytes(HEAD_BYTES))
NOTHING_SIGNED: Final = SignedHead(NO_HEAD.entries, NO_HEAD.digest, b"")


def bare_head(signed: SignedHead) -> LedgerHead:
    """Return the head that was signed."""
    return LedgerHead(signed.entries, signed.digest)


@dataclass(frozen=True, repr=False)
class HeadSigning:
    """Signatures over heads: ours are made, and those of either side recognized, by the keys of both certificates."""

    sign: Callable[[LedgerHead], bytes]
    is_ours: Callable[[SignedHead], bool]
    is_theirs: Callable[[SignedHead], bool]

    def signed(self, head: LedgerHead) -> SignedHead:
        """Return a head of ours with our signature, if it is the end of anything."""
        return NOTHING_SIGNED if head == NO_HEAD else SignedHead(head.entries, head.digest, self.sign(head))

    def check_peer(self, peer: str, shown: SignedHead, before: SignedHead) -> None:
        """Refuse a head that the peer has not signed, or that falls short of what it has shown before."""
        if bare_head(shown) != NO_HEAD and not self.is_theirs(shown):
            raise PeerError(f"{peer} has not signed the end of its ledger with the key that we trust")
        if is_short(shown, before):
            raise PeerError(f"{peer} shows an older end of its ledger than it has shown before")


def is_short(shown: SignedHead, before: SignedHead) -> bool:
    """Return whether what is shown now cannot be what was shown before, grown or as it was."""
    same = bare_head(shown) == bare_head(before)
    return shown.entries < before.entries or (shown.entries == before.entries and not same)


@dataclass(frozen=True)
class OpenRuns:
    """Runs with the peer that have not ended: `same` names one of this very job, `other` objects to other terms."""

    same: bytes = b""
    other: Objection | None = None
    fresh: bool = False


NO_RUNS: Final = OpenRuns()


@dataclass(frozen=True)
class Compared:
    """What the peer has shown: its head, whether both go on with the run that we have named, or it begins again."""

    head: SignedHead
    goes_on: bool = False
    fresh: bool = False


def run_name(nonces: bytes) -> bytes:
    """Return what names a run that begins in a session with these nonces: 8 bytes."""
    return keyed_digest(nonces, b"run")[:8]


def compare_memories(
    own: LedgerHead,
    known: SignedHead,
    holds: Callable[[LedgerHead], bool],
    peer: str,
    signing: HeadSigning,
    runs: OpenRuns = NO_RUNS,
) -> Role[Compared]:
    """Show each other both heads and open runs, and go on only if neither side has forgotten.

    `own` is the end of our entries about this peer, `known` the peer's as it was last shown to us; `holds` says whether
    our chain leads through a head. What the peer has not signed, as in 0.2.0, it need not take our word for: it is held
    against what the peer shows, and not shown to it.

    Discloses: how many entries we have about the peer, and whether our memory is older than the one it was shown; the
    name of a run of this job that we have not seen end, and whether there is one on other terms.
    """
    named = b"" if runs.fresh else runs.same
    ours, proved = signing.signed(own), known if known.signature else NOTHING_SIGNED
    shown = yield from exchange(
        MemoryHeads(
            ours.entries, ours.digest, ours.signature, proved.entries, proved.digest, proved.signature, named,
            fresh=runs.fresh,
        )
    )  # fmt: skip
    theirs = SignedHead(shown.entries, shown.digest, shown.signature)
    signing.check_peer(peer, theirs, NOTHING_SIGNED)
    claimed = SignedHead(shown.known_entries, shown.known_digest, shown.known_signature)
    is_held = holds(bare_head(claimed))
    if not is_held and not signing.is_ours(claimed):
        raise PeerError(
            f"{peer} claims that our ledger had another end, and shows nothing that we have signed: ours is whole, put "
            "nothing back; ask its operator, and begin nothing with it until you know why"
        )
    fresh = runs.fresh or shown.fresh
    yield from settle(_objection(theirs, known, is_held, peer) or (None if fresh else runs.other))
    return Compared(theirs, goes_on=bool(named) and shown.run == named, fresh=fresh)


def _objection(theirs: SignedHead, known: SignedHead, is_held: bool, peer: str) -> Objection | None:
    if not is_held:
        return Objection(
            "memory",
            f"our ledger is not the one that {peer} was last shown, whose end we have signed: it was deleted or "
            "restored from an older backup; put the latest one back, since what it has revealed must stay on record",
        )
    if is_short(theirs, known):
        return Objection(
            "memory",
            f"{peer} shows a ledger of {theirs.entries} entries about us, and had shown one of {known.entries} "
            "before: it was deleted or restored from an older backup, and must be put back",
        )
    return None


def head_statement(signer: str, receiver: str, head: LedgerHead) -> bytes:
    """Return the bytes that a signature of a head is made over."""
    count = head.entries.to_bytes(8, "big")
    return canonical(b"cotally ledger head", signer.encode(), receiver.encode(), count, head.digest)


def exchange_heads(own: LedgerHead, known: SignedHead, peer: str, signing: HeadSigning) -> Role[SignedHead]:
    """Hand each other the end of the ledger about the other, signed; the peer's must not fall short of `known`.

    Discloses: how many entries we have about the peer.
    """
    theirs = yield from exchange(signing.signed(own))
    signing.check_peer(peer, theirs, known)
    return theirs


@dataclass(frozen=True)
class Resumed:
    """What need not be sent again: answers that both remember, and the peer's copy where both have the other's."""

    answers: KeptAnswers = field(default_factory=KeptAnswers)
    copy: bytes | None = None


def resume(kept: Kept | None, nonces: bytes, *, opens_once: bool = False) -> Role[Resumed]:
    """Compare what both have kept; nothing crosses in a run that begins. With `opens_once` fill in what one side lacks.

    Discloses: how much of what the peer has sent in this run we have not lost; with `opens_once`, also what was
    opened and the peer has lost. A peer that has kept answers which we have not opened hears so.
    """
    if kept is None:
        return Resumed()
    answers = tuple(kept.recall(Part.ANSWERS))
    copy = next(kept.recall(Part.COPY), None)
    theirs = yield from exchange(KeptParts(len(answers), answers_digest(nonces, answers), copy is not None))
    common = min(len(answers), theirs.answers)
    if theirs.answers == common and theirs.digest != answers_digest(nonces, answers[:common]):
        raise DeviationError
    if opens_once and len(answers) != theirs.answers:
        yield from settle(_NEVER_OPENED if theirs.answers - common > len([*kept.recall(Part.OPENED)]) else None)
    if opens_once and len(answers) > common:
        yield Send(LostAnswers(answers[common:]))
    elif opens_once and theirs.answers > common:
        lost = (yield from receive(LostAnswers)).answers
        if len(lost) != theirs.answers - common or not all(map(are_whole, lost)):
            raise DeviationError
        return Resumed(KeptAnswers(answers + lost, theirs.answers, own=common), copy if theirs.copy else None)
    return Resumed(KeptAnswers(answers, len(answers) if opens_once else common), copy if theirs.copy else None)


_NEVER_OPENED: Final = Objection(
    "released",
    "the peer has kept answers to this very job, which we have not opened under this name of the data set: write the "
    "name that it had then ([data] dataset; `cotally ledger show` lists it)",
)
