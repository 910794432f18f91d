"""What one side objects to, and tables too large for a protocol, end both; what a protocol does not use is no limit."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from protocols.errors import DisagreementError, InputError
from protocols.messages import Verdict
from protocols.terms import Method, Terms
from protocols.two_party.agreement import FIELDS, Objection
from tests.support.meeting import Meeting, meet, object_to, on, outcome_of, wide
from tests.support.parties import make_terms


def test_only_the_side_that_objects_knows_why() -> None:
    alice, bob, _ = outcome_of(meet(bob_agrees=object_to("seed")))
    assert "canary" in str(bob)
    assert str(alice).startswith("the parties differ on 'seed': the peer has used its data set with another seed")
    for field in FIELDS:
        alice, *_ = outcome_of(meet(bob_agrees=object_to(field)))
        reason = str(alice).removeprefix(f"the parties differ on {field!r}: ")
        assert len(reason.split()) > 5, field
        assert "canary" not in reason
    alice, bob, _ = outcome_of(meet(alice_agrees=object_to("seed"), bob_agrees=object_to("omega")))
    assert alice.field == bob.field == "omega"
    assert "canary" not in str(alice)
    assert "canary" in str(bob)
    alice, bob, _ = outcome_of(meet(alice_agrees=object_to("theta"), bob_agrees=object_to("theta")))
    assert str(alice) == str(bob)


def test_a_field_that_nobody_compares_is_another_version() -> None:
    alice, bob = meet(tamper=on("b", Verdict, lambda m: Verdict("colour"))).play()
    assert isinstance(alice.error, DisagreementError)
    assert alice.error.field == "version"
    assert "colour" not in str(alice.error)
    assert bob.error is None
    with pytest.raises(InputError, match=r"the parties compare version, party, .*, and not 'colour'"):
        Objection("colour", "we like blue")


@pytest.mark.parametrize("terms", [{}, {"counting": "paillier"}, {"method": "smc"}, {"method": "randomized"}])
def test_any_number_of_coins_is_carried(terms: dict[str, Any]) -> None:
    meeting = Meeting(wide("alice", (2,)), wide("bob", (2,) * 17), make_terms(**terms))
    assert all(end.error is None for end in meeting.play())


IN_NO_DISGUISE: dict[str, tuple[Callable[[Terms], Meeting], Terms, str]] = {
    "theta is too fine": (lambda terms: meet(terms=terms), make_terms(theta=Fraction(10**17, 10**18 - 1)), "theta"),
    "too many offsets": (
        lambda terms: Meeting(wide("alice", (67,)), wide("bob", (2,)), terms),
        make_terms(counting="paillier"),
        "groups",
    ),
}


@pytest.mark.parametrize("case", IN_NO_DISGUISE)
def test_what_spoils_a_disguise_does_not_matter_to_smc(case: str) -> None:
    make, terms, name = IN_NO_DISGUISE[case]
    alice, bob, _ = outcome_of(make(terms))
    assert alice.field == bob.field == name
    ends = make(replace(terms, method=Method.SMC)).play()
    for end in ends:
        assert end.error is None
        assert end.result is not None
        assert end.result[0].own_design.patterns == end.result[0].peer_design.patterns == 1
