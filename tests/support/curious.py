"""A node that must be on its guard, and a partner that keeps to the protocol and chooses what it brings.

Alice is the node: usual limits, `[agree]` as `cotally init` writes it, a memory in her folder. Bob has no limits, no
policy and no memory, so that Alice alone can refuse; and he keeps all that his side of the protocol computes.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

from party.files import locked_folder
from party.node.policy import make_policy
from party.records.ledger import PeerEntries, PeerName, open_ledger, read_ledger
from party.records.releases import Memory, released, spent_of
from party.settings.party import PartyConfig, read_party_config
from protocols.counting.checks import Checks
from protocols.counts import Answer, CountTable, Query
from protocols.errors import DisagreementError
from protocols.jobs import Train
from protocols.messages import ClassCounts, DisguisedPage, ExactCounts, OpenedPage, PackedCounts, SentTree
from protocols.role import Role
from protocols.tables import Expression
from protocols.terms import Terms
from protocols.two_party.agreement import Policy, agree_on_training, answer, propose
from protocols.two_party.inputs import USUAL_LIMITS, Limits, PartyInputs
from protocols.two_party.training import Outcome, training_role
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import TEST_BITS, Case, agree_to_all, make_local, training_terms

ANSWERS = (OpenedPage, SentTree, PackedCounts, ExactCounts)
Ends = tuple[End[Outcome], End[Outcome]]
Told = dict[tuple[Expression, int], CountTable]
"""The counts that were told: for a node and a candidate, its values by the node's groups of classes."""


@dataclass
class Guarded:
    """Alice's node. `agree` are lines of her `[agree]` in place of the usual ones."""

    folder: Path
    case: Case
    agree: str = ""
    visits: int = field(default=0)
    limits: Limits = USUAL_LIMITS

    @property
    def alice(self) -> PartyInputs:
        return replace(make_local(self.case, "alice"), limits=self.limits)

    @property
    def bob(self) -> PartyInputs:
        return make_local(self.case, "bob")

    def meet(
        self, terms: Terms, bob: PartyInputs | None = None, *, opens: bool = False, tamper: Tamper = honest
    ) -> Ends:
        """Let Bob run a job with her, once more; who opens is his choice too, and what he sends."""
        config = self._config()
        budget = config.agree.epsilon
        self.visits += 1
        theirs = self.folder / f"bob-{self.visits}"
        theirs.mkdir()
        bob = bob or self.bob
        with ExitStack() as stack:
            mine = memory_of(stack, self.alice, self.folder, PeerName(bob.party, "B0B0"), budget)
            other = memory_of(stack, bob, theirs, PeerName("alice", "A11CE"))
            policy = make_policy(self.alice, config, mine.judge_job)
            return duel(
                take_part(mine, terms if opens else None, policy),
                take_part(other, None if opens else terms, agree_to_all),
                tamper,
            )

    @property
    def spent(self) -> list[str]:
        """The epsilon of each run that she has on record."""
        return sorted(spent_of(self.released).values())

    @property
    def released(self) -> dict[str, object]:
        """What she has on record of her data set."""
        with read_ledger(self.folder, self.alice.secrets.coins) as ledger:
            return released(ledger.entries()).get(self.alice.dataset, {})

    def _config(self) -> PartyConfig:
        path = self.folder / "party.toml"
        agree = f"[agree]\nexact_counts = true\nsmallest_key_bits = {TEST_BITS}\n{self.agree}\n"
        path.write_text(f'name = "alice"\n[data]\nfile = "data.csv"\nid = "id"\n{agree}')
        return read_party_config(path, TEST_BITS)


def memory_of(
    stack: ExitStack, local: PartyInputs, folder: Path, peer: PeerName, budget: Fraction | None = None
) -> Memory:
    """Open what a party remembers of a peer, for as long as the stack lasts."""
    held = stack.enter_context(locked_folder(folder))
    ledger = stack.enter_context(open_ledger(held, local.secrets.coins))
    return Memory(local, PeerEntries(ledger, peer), budget)


def take_part(memory: Memory, terms: Terms | None, policy: Policy | None = None) -> Role[Outcome]:
    """Play one party's part of a session, with what it remembers; without a policy, that alone judges the job."""
    policy = policy or memory.judge_job
    local, peer, nonce = memory.local, memory.entries.peer.name, secrets.token_bytes(32)
    if terms is None:
        opening = yield from answer(local, policy, peer, nonce)
    else:
        opening = yield from propose(local, Train(terms), policy, peer, nonce)
    agreed = yield from agree_on_training(local, training_terms(opening.job), peer, opening.nonces, memory.judge)
    role = training_role(
        local, agreed, lambda copy: memory.judge_copy(agreed, copy), record=lambda leaving: memory.note(agreed, leaving)
    )
    return (yield from role)


@contextmanager
def listening() -> Iterator[Told]:
    """Keep every count that a run tells: both sides compute them, so each knows them all."""
    told: Told = {}
    answers = Checks.answers

    def keep(checks: Checks, queries: Sequence[Query], counts: Sequence[int]) -> list[Answer]:
        found = answers(checks, queries, counts)
        for query, each in zip(queries, found, strict=True):
            told.update({(query.expression, c): t for c, t in zip(query.candidates, each.tables, strict=True)})
        return found

    with patch.object(Checks, "answers", keep):
        yield told


def assert_refused(ends: Ends, field: str, sent: tuple[type, ...] = ()) -> None:
    """Check that both sides name the field, and that of copies and counts only `sent` has left Alice, and no answer."""
    for end in ends:
        assert isinstance(end.error, DisagreementError), end
        assert end.error.field == field
    for message in ends[0].sent:
        assert not isinstance(message, ANSWERS)
        assert isinstance(message, sent) or not isinstance(message, DisguisedPage | ClassCounts)


def assert_built(ends: Ends) -> None:
    """Check that both sides have ended with a model, and that something was told on the way."""
    assert [end.error for end in ends] == [None, None]
    assert any(isinstance(message, ANSWERS) for end in ends for message in end.sent)
