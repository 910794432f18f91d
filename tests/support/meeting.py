"""Two parties that meet, one proposing terms, with whatever is wrong with them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from protocols.errors import DisagreementError
from protocols.messages import Greeting
from protocols.role import Message, nothing
from protocols.tables import Attribute, Table
from protocols.terms import Terms
from protocols.two_party.agreement import Agreement, Judge, Policy
from protocols.two_party.copies import CopyJudge
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.objections import Objection
from protocols.two_party.training import Outcome
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import Case, agree_to_all, changed_job, make_local, make_terms, whole

BOTH_HOLD = Case(
    sizes={"alice": (2, 3), "bob": (2,)},
    class_owners=("alice", "bob"),
    classes=2,
    codes=correlated((2, 3, 2, 2), 20, seed=1),
    groups={"alice": 2, "bob": 1},
    terms=make_terms(),
)

ONE_HOLDS = replace(BOTH_HOLD, class_owners=("bob",))


@dataclass
class Meeting:
    """Two parties, Alice proposing, with whatever is wrong with them."""

    alice: PartyInputs
    bob: PartyInputs
    terms: Terms = field(default_factory=make_terms)
    alice_agrees: Policy = agree_to_all
    bob_agrees: Policy = agree_to_all
    tamper: Tamper = honest
    alice_expects: str = "bob"
    bob_expects: str = "alice"
    alice_judges: Judge = nothing
    bob_judges: Judge = nothing
    alice_judges_copy: CopyJudge = nothing
    bob_judges_copy: CopyJudge = nothing

    def play(self) -> tuple[End[tuple[Agreement, Outcome]], End[tuple[Agreement, Outcome]]]:
        return duel(
            whole(self.alice, self.terms, self.alice_expects, self.alice_agrees, None, *self.judges("alice")),
            whole(self.bob, None, self.bob_expects, self.bob_agrees, None, *self.judges("bob")),
            self.tamper,
        )

    def judges(self, party: str) -> tuple[Judge, CopyJudge]:
        if party == "alice":
            return self.alice_judges, self.alice_judges_copy
        return self.bob_judges, self.bob_judges_copy


def meet(case: Case = BOTH_HOLD, **changes: Any) -> Meeting:
    return replace(Meeting(make_local(case, "alice"), make_local(case, "bob")), **changes)


def on(sender: str, kind: type[Message], change: Callable[[Any], Message]) -> Tamper:
    """Change every message of this kind from this side on its way."""
    return lambda who, number, message: change(message) if who == sender and isinstance(message, kind) else message


def with_terms(**changes: Any) -> Callable[[Greeting], Greeting]:
    return lambda greeting: replace(greeting, job=changed_job(greeting.job, **changes))


def with_codes(local: PartyInputs, change: Callable[[Any], Any]) -> PartyInputs:
    table = Table(local.table.attributes, change(local.table.codes.copy()))
    records = local.records[: len(table)]
    return replace(local, table=table, records=records)


def with_attributes(
    local: PartyInputs, change: Callable[[tuple[Attribute, ...]], tuple[Attribute, ...]]
) -> PartyInputs:
    return replace(local, table=Table(change(local.table.attributes), local.table.codes))


def flip_first_class(codes: Any) -> Any:
    codes[0, -1] ^= 1
    return codes


def wide(party: str, sizes: tuple[int, ...]) -> PartyInputs:
    """Return a party of many groups, one per column."""
    case = replace(
        ONE_HOLDS,
        sizes={"alice": sizes if party == "alice" else (2,), "bob": sizes if party == "bob" else (2,)},
        codes=np.zeros((20, len(sizes) + 2), dtype=np.uint8),
        groups={"alice": 20, "bob": 20},
    )
    return make_local(case, party)


def rename(name: str) -> Callable[[tuple[Attribute, ...]], tuple[Attribute, ...]]:
    return lambda attributes: (*attributes[:-1], replace(attributes[-1], name=name))


def object_to(name: str) -> Policy:
    return lambda job: Objection(name, "canary: our own business")


BROUGHT, COPY = ("peer columns", "peer order", "peer groups", "peer data"), "peer copy"


def outcome_of(meeting: Meeting) -> tuple[DisagreementError, DisagreementError, set[type[Message]]]:
    alice, bob = meeting.play()
    assert isinstance(alice.error, DisagreementError), alice
    assert isinstance(bob.error, DisagreementError), bob
    return alice.error, bob.error, {type(message) for message in (*alice.sent, *bob.sent)}
