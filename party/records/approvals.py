"""Jobs about which people decide: each as it was proposed, and who has signed what since.

A decision is signed by the party's key over the proposal's digest, the name and the time. The last word of a name
counts, until the job has run; one refusal is enough, and who refused alone may take it back. That a name is a person's
own, no signature here says: who can read the folder's keys can sign under any.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from party.records.ledger import LedgerEntry, LedgerError, PeerName
from party.records.ledger_entries import DecisionEntry, ProposalEntry, ProposedRunEntry
from protocols.errors import InputError
from protocols.randomness import canonical

IsGood = Callable[[bytes, bytes], bool]
"""Whether a statement has this signature of ours."""
MOST_NAME: Final = 100


@dataclass(frozen=True)
class Proposal:
    """A proposed job, and when it first ran to its end, if it did.

    `words` has by whom, in one spelling, what was said last: the name, whether it approved, when.
    """

    said: ProposalEntry
    peer: PeerName
    time: str
    words: dict[str, tuple[str, bool, str]] = field(default_factory=dict)
    ended: str | None = None

    @property
    def name(self) -> str:
        """What people call it by: 16 hexadecimal digits."""
        return self.said.proposal.hex()[:16]

    @property
    def refused(self) -> bool:
        """Whether anybody has refused it."""
        return bool(self.refusers)

    @property
    def refusers(self) -> list[str]:
        """Who has refused it."""
        return [name for name, approved, _ in self.words.values() if not approved]

    def word_of(self, name: str) -> tuple[str, bool, str] | None:
        """Return what somebody has said last, under whatever spelling of the name."""
        return self.words.get(_spelt(name))

    def still_needed(self, approvals: int) -> int:
        """Return how many further people must approve it, where this many must."""
        return max(0, approvals - sum(approved for _, approved, _ in self.words.values()))

    def waits(self, approvals: int) -> bool:
        """Return whether it is not decided yet."""
        return not self.refused and self.still_needed(approvals) > 0


def proposals(entries: Iterable[LedgerEntry], is_good: IsGood = lambda _, __: True) -> list[Proposal]:
    """Return the proposed jobs, the first one first; a decision that is not signed by our key is passed over."""
    found: dict[bytes, Proposal] = {}
    for entry in entries:
        if entry.content["kind"] not in ("proposal", "decision", "proposed run"):
            continue
        match entry.noted:
            case ProposalEntry() as said:
                found[said.proposal] = Proposal(said, entry.peer, entry.time)
            case DecisionEntry(proposal=proposal, approved=approved, name=name) as said if proposal in found:
                if is_good(decision_statement(proposal, name, entry.time, approved=approved), said.signature):
                    found[proposal].words[_spelt(name)] = (name, approved, entry.time)
            case ProposedRunEntry(proposal=proposal) if proposal in found:
                found[proposal] = replace(found[proposal], ended=found[proposal].ended or entry.time)
    return list(found.values())


def named_proposal(found: Iterable[Proposal], name: str) -> Proposal:
    """Return the proposal of this name."""
    proposal = next((each for each in found if each.name == name), None)
    if proposal is None:
        raise LedgerError(f"no job of the name {name} was proposed here: `cotally status` lists those that wait")
    return proposal


def decision_statement(proposal: bytes, name: str, time: str, *, approved: bool) -> bytes:
    """Return the bytes that a decision's signature is made over."""
    word = b"approved" if approved else b"refused"
    return canonical(b"cotally decision", word, proposal, name.encode(), time.encode())


def read_name(text: str) -> str:
    """Return the name under which somebody signs: of letters from A to Z: other letters and signs look like them."""
    name = " ".join(text.split())
    if len(name) > MOST_NAME or not _NAME.fullmatch(_without_accents(name, "NFD")):
        raise InputError(
            f"the name of the person who decides must have 1 to {MOST_NAME} characters: letters from A to Z (with "
            "accents or not), blanks, hyphens, apostrophes and full stops: write it so"
        )
    return name


_NAME: Final = re.compile(r"[ '.-]*[A-Za-z][A-Za-z '.-]*")


def _without_accents(name: str, form: Literal["NFD", "NFKD"] = "NFKD") -> str:
    return "".join(each for each in unicodedata.normalize(form, name) if unicodedata.category(each)[0] != "M")


_ALIKE: Final = str.maketrans("01i", "oll")
"""Of small letters; digits stand in decisions of older releases alone."""


def _spelt(name: str) -> str:
    """Return one spelling of a name: neither case, width, accents and marks nor letters that look alike make two."""
    return re.sub(r"[^a-z0-9]", "", _without_accents(name).casefold()).translate(_ALIKE)
