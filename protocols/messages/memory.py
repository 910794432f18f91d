"""What two parties tell of what they remember: where their ledgers end, and what they kept of runs."""

from dataclasses import dataclass

from protocols.role import Message


@dataclass(frozen=True, repr=False)
class MemoryHeads(Message):
    """The end of the sender's ledger about the receiver, and of the receiver's as it was last shown to the sender.

    An end is the number of entries, the digest of the last one, and a signature over both by the key of its owner's
    certificate (none where there are no entries). The receiver, which was there each time, learns how much of it the
    sender remembers. Digests are made with their owner's secret, and tell nobody else anything. `run` names a run of
    this job that both began and the sender has not seen end, if there is one; `fresh` asks to begin from the start.
    """

    entries: int
    digest: bytes
    signature: bytes
    known_entries: int
    known_digest: bytes
    known_signature: bytes
    run: bytes = b""
    fresh: bool = False


@dataclass(frozen=True, repr=False)
class SignedHead(Message):
    """The end of the sender's ledger, signed by the key of its certificate, once a run is on record, and after it.

    It also goes with the last page of every message before which the ledger has grown. The receiver learns as little as
    from `MemoryHeads`, and can show later what the sender's ledger held.
    """

    entries: int
    digest: bytes
    signature: bytes


@dataclass(frozen=True, repr=False)
class KeptParts(Message):
    """What the sender has kept of a run that goes on.

    That is how many answers, with their digest, and whether it has the receiver's disguised copy. The receiver has told
    or heard all of it before, and learns how much of it the sender has not lost.
    """

    answers: int
    digest: bytes
    copy: bool


@dataclass(frozen=True, repr=False)
class LostAnswers(Message):
    """What was opened of a tree that alone is revealed, and the receiver has lost: answers, the first one first.

    The receiver was there when they were opened, and sent its share of each.
    """

    answers: tuple[bytes, ...]
