"""What one side objects to, and tables too large for a protocol, end both; what a protocol does not use is no limit."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from protocols.errors import DisagreementError, InputError
from protocols.messages import Greeting, HiddenContents, JointDigests, Share, TableCommitment, Verdict
from protocols.terms import Method, Terms
from protocols.two_party import agreement
from protocols.two_party.agreement import FIELDS, Objection
from tests.support.meeting import (
    Meeting,
    meet,
    object_to,
    on,
    outcome_of,
    wide,
)
from tests.support.parties import (
    make_terms,
)


def test_only_the_side_that_objects_knows_why() -> None:
    alice, bob, _ = outcome_of(meet(bob_agrees=object_to("seed")))
    assert "canary" in str(bob)
    assert str(alice).startswith("the parties differ on 'seed': the peer has used its data set with another seed")


def test_of_every_field_the_other_screen_says_the_cause_and_the_next_step() -> None:
    for field in FIELDS:
        alice, *_ = outcome_of(meet(bob_agrees=object_to(field)))
        reason = str(alice).removeprefix(f"the parties differ on {field!r}: ")
        assert len(reason.split()) > 5, field
        assert "canary" not in reason


def test_of_two_differences_both_name_the_first() -> None:
    alice, bob, _ = outcome_of(meet(alice_agrees=object_to("seed"), bob_agrees=object_to("omega")))
    assert alice.field == bob.field == "omega"
    assert "canary" not in str(alice)
    assert "canary" in str(bob)
    alice, bob, _ = outcome_of(meet(alice_agrees=object_to("theta"), bob_agrees=object_to("theta")))
    assert str(alice) == str(bob)


def test_a_field_that_nobody_compares_counts_as_another_version() -> None:
    alice, bob = meet(tamper=on("b", Verdict, lambda m: Verdict("colour"))).play()
    assert isinstance(alice.error, DisagreementError)
    assert alice.error.field == "version"
    assert "colour" not in str(alice.error)
    assert bob.error is None


def test_an_objection_to_an_unknown_field_is_refused_at_once() -> None:
    with pytest.raises(InputError, match=r"the parties compare version, party, .*, and not 'colour'"):
        Objection("colour", "we like blue")


@pytest.mark.parametrize("terms", [{"engine": "dot_product"}, {"method": "smc"}, {"method": "randomized"}])
def test_many_coins_matter_only_where_they_are_encrypted(terms: dict[str, Any]) -> None:
    meeting = Meeting(wide("alice", (2,) * 9), wide("bob", (2,) * 9), make_terms(**terms))
    assert all(end.error is None for end in meeting.play())


IN_NO_DISGUISE: dict[str, tuple[Callable[[Terms], Meeting], Terms, str]] = {
    "theta is too fine": (lambda terms: meet(terms=terms), make_terms(theta=Fraction(10**17, 10**18 - 1)), "theta"),
    "too many offsets": (
        lambda terms: Meeting(wide("alice", (67,)), wide("bob", (2,)), terms),
        make_terms(engine="dot_product"),
        "groups",
    ),
    "too many patterns": (
        lambda terms: Meeting(wide("alice", (2,) * 9), wide("bob", (2,) * 9), terms),
        make_terms(),
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


@pytest.mark.parametrize("sizes", [((2, 2, 2), (2,)), ((2,), (2, 2, 2))])
def test_more_rows_than_memory_holds_are_refused_by_both_sides(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    """20 records; three or four groups of two offsets, as Bob holds the class in one of its own."""
    rows = 20 * 2 ** max(len(sizes[0]), len(sizes[1]) + 1)
    meeting = Meeting(wide("alice", sizes[0]), wide("bob", sizes[1]), make_terms())
    monkeypatch.setattr(agreement, "MAX_EXPANDED_ROWS", rows)
    assert all(end.error is None for end in meeting.play())
    monkeypatch.setattr(agreement, "MAX_EXPANDED_ROWS", rows - 1)
    alice, bob, kinds = outcome_of(meeting)
    assert alice.field == bob.field == "groups"
    assert f"records times coin patterns are {rows}, more than {rows - 1}" in str(alice)
    assert f"records times coin patterns are {rows}, more than {rows - 1}" in str(bob)
    assert kinds == {Greeting, Verdict, Share, TableCommitment, HiddenContents, JointDigests}


@pytest.mark.parametrize("terms", [make_terms(engine="dot_product"), make_terms(method="randomized")], ids=str)
def test_patterns_that_nobody_lists_are_no_limit(terms: Terms) -> None:
    ends = Meeting(wide("alice", (2,)), wide("bob", (2,) * 17), terms).play()
    assert [end.error for end in ends] == [None, None]


def test_rows_that_are_never_expanded_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MAX_EXPANDED_ROWS", 1)
    assert all(end.error is None for end in meet(terms=make_terms(method="smc")).play())
