"""Who is common is kept for one list and one peer, and an edited file is not obeyed."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from party.data.ids import NO_LOOK, IdLook
from party.errors import ConfigError
from party.files import locked_folder
from party.node.aligning import ListRules
from party.node.players import Matched
from party.records.alignments import ALIGNMENTS_FILE, keep_alignment, kept_people, note_alignment
from party.records.ledger import PeerEntries, PeerName, open_ledger
from party.records.ledger_entries import NamedClass, RunEntry
from party.records.tally import dealings
from party.settings.party import AlignmentBounds
from party.show.ledger import dealings_lines
from party.show.parties import matched_lines
from protocols.errors import DisagreementError
from protocols.facts import AlignmentFact
from protocols.two_party.alignment import Overlap
from protocols.two_party.objections import Objection

KEY = bytes(32)
LISTS = (b"ours", b"theirs")


def test_people_are_found_again_for_the_list_and_the_peer_that_were_compared(tmp_path: Path) -> None:
    assert kept_people(tmp_path, KEY, "d", "bob", b"ours") is None
    keep_alignment(tmp_path, KEY, "d", "bob", LISTS, ["p2", "é"])
    keep_alignment(tmp_path, KEY, "e", "bob", LISTS, ["p9"])
    assert kept_people(tmp_path, KEY, "d", "bob", b"ours") == ("p2", "é")
    for dataset, peer, own in (
        ("f", "bob", b"ours"), ("d", "carol", b"ours"), ("d", None, b"ours"), ("d", "bob", b"x"),
    ):  # fmt: skip
        assert kept_people(tmp_path, KEY, dataset, peer, own) is None
    assert (tmp_path / ALIGNMENTS_FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "change", [("p2", "p3"), ("cotally-alignments/1", "cotally-alignments/2"), ("{", "["), ("", "")]
)
def test_an_edited_file_or_one_of_another_secret_is_refused(tmp_path: Path, change: tuple[str, str]) -> None:
    keep_alignment(tmp_path, KEY, "d", "bob", LISTS, ["p2"])
    path = tmp_path / ALIGNMENTS_FILE
    path.write_text(path.read_text().replace(*change))
    key = KEY if change[0] else bytes([1]) * 32
    with pytest.raises(ConfigError, match="remove it and align again"):
        kept_people(tmp_path, key, "d", "bob", b"ours")


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[PeerEntries]:
    with locked_folder(tmp_path) as held, open_ledger(held, KEY) as ledger:
        yield PeerEntries(ledger, PeerName("bob", "its certificate"))


def told(pages: PeerEntries) -> str:
    (line,) = (
        line
        for each in dealings(pages.ledger.entries())
        for line in dealings_lines(each, full=False)
        if "are common" in line or "was begun" in line
    )
    return line


def begun(name: bytes = b"1", lists: tuple[bytes, bytes] = LISTS) -> AlignmentFact:
    """Return what is on record of a session first."""
    return AlignmentFact(name, lists, 5000, 6000, 4096)


def test_the_ledger_shows_what_the_peer_may_know_until_the_number_is_known(pages: PeerEntries) -> None:
    note_alignment(pages, "d", replace(begun(), least=600))
    assert told(pages).strip() == (
        "An alignment of 5,000 people of ours and 6,000 of bob was begun: bob may know whether 600 are common; "
        "if bob followed the protocol, it could try 4,096 ids at most (the size of its messages, not of its list); "
        "if it did not and knew some dozens of common ids, any number"
    )
    note_alignment(pages, "d", begun())
    assert "bob may know how many are common" in told(pages)
    note_alignment(pages, "d", replace(begun(), named=True))
    assert "bob may know which of its own are common" in told(pages)
    note_alignment(pages, "d", replace(begun(), both=43, named=True))
    assert "Both learned how many of 5,000 people" in told(pages)
    known = "common: 43; each side now knows which of its own people the other has too; "
    assert f"{known}if bob followed the protocol, it could try 4,096 ids at most (the size of its messages" in told(
        pages
    )
    note_alignment(pages, "d", begun(b"2"))  # as the same lists are compared again
    assert f"{known}if bob followed the protocol, it could try 4,096 ids at most, 2 times" in told(pages)


def test_a_number_without_names_is_shown_as_one(pages: PeerEntries) -> None:
    note_alignment(pages, "d", replace(begun(), both=43))
    assert "common: 43; neither side learned which" in told(pages)


LEFT = "; our [agree] most_alignments leaves 3 of 3"


def objection(rules: ListRules, overlap: Overlap) -> str:
    found = rules.judge_people(overlap, LISTS, b"anybody")
    assert found is not None
    return found.reason


@pytest.mark.parametrize(("least", "asked"), [(Fraction(0), False), (Fraction(1, 10), True)])
def test_where_nobody_is_common_no_share_is_asked_for_that_would_be_enough(
    pages: PeerEntries, least: Fraction, asked: bool
) -> None:
    rules = ListRules("d", AlignmentBounds(least_overlap=least), pages)
    reason = objection(rules, Overlap(5, 9, 0))
    assert reason.startswith("none of the peer's 9 ids are ours")
    assert ("least_overlap asks for" in reason) is asked
    assert rules.judge_people(Overlap(5, 9, 1), LISTS, b"anybody") is None


def test_where_few_are_common_our_own_ids_are_described(pages: PeerEntries) -> None:
    def reason(look: IdLook, overlap: Overlap) -> str:
        return objection(ListRules("d", AlignmentBounds(), pages, look=look), overlap)

    asked = ListRules("d", AlignmentBounds(), pages, rows=True).judge_few(90, 9, ())
    assert asked.reason.endswith(f"to ask about few people of a long list, set least_overlap = 0{LEFT}")
    few = Overlap(50, 90, 0)
    zeros = "ours have no zeros in front: if these were lost, add zeros to [data] id_alike on both sides"
    assert reason(NO_LOOK, few).endswith(f"which ones is not revealed{LEFT}")
    assert "; ours look like 99-9 or A9 (9 for a digit)" in reason(IdLook(("99-9", "A9")), few)
    assert zeros not in reason(IdLook(("99-9", "A9")), few)
    assert reason(IdLook(("999",), unpadded=True), few).endswith(zeros + LEFT)
    spelled = replace(few, alike=("zeros",))
    assert reason(IdLook(("999",), unpadded=True), spelled).endswith(
        f"add to [data] id_alike, on both sides, zeros{LEFT}"
    )


def test_an_alignment_of_few_says_what_ours_look_like() -> None:
    look = IdLook(("999",), unpadded=True)
    lines = "\n".join(matched_lines(Matched("bob", Overlap(50, 90, 20), named=True, look=look)))
    assert "Ours look like 999 (9 for a digit): does the peer write its ids differently?" in lines
    assert "Ours have no zeros in front" in lines
    for overlap in (Overlap(50, 90, 30), Overlap(50, 50, 50), Overlap(50, 90, 20, ("zeros",))):
        assert "Ours" not in "\n".join(matched_lines(Matched("bob", overlap, named=True, look=look)))


def test_of_too_few_no_number_is_revealed(pages: PeerEntries) -> None:
    rules = ListRules("d", AlignmentBounds(Fraction(1, 2)), pages)
    few = rules.judge_few(6000, 3000, ("case",)).reason
    assert few.startswith("fewer than 3,000 of the peer's 6,000 ids are ours")
    assert few.endswith(f"add to [data] id_alike, on both sides, case{LEFT}")


def test_who_is_refused_for_too_few_sees_what_its_own_ids_look_like_and_how_many_attempts_are_left(
    pages: PeerEntries,
) -> None:
    rules = ListRules("d", AlignmentBounds(), pages, look=IdLook(("A-9999",)))
    note_alignment(pages, "d", begun())
    said = str(rules.explained(DisagreementError("overlap", "too few")))
    look = "; ours look like A-9999 (9 for a digit): compare how the peer writes its ids"
    assert said == f"the parties differ on 'overlap': too few{look}{LEFT.replace('3 of', '2 of')}"
    for known in (DisagreementError("overlap", rules.judge_few(9, 3, ()).reason), DisagreementError("ids", "other")):
        assert rules.explained(known) is known


def test_lists_that_are_too_long_or_one_alignment_too_many_are_objected_to(pages: PeerEntries) -> None:
    """Those of the same lists count: what a peer brings in their name is hidden from us."""
    rules = ListRules("d", AlignmentBounds(most_ids=6000, most_alignments=2), pages)
    assert rules.judge_list(5000, 6000, LISTS) is None
    long = rules.judge_list(5000, 6001, LISTS)
    assert long is not None
    assert "most_ids allows 6,000" in long.reason
    note_alignment(pages, "d", begun())
    note_alignment(pages, "d", replace(begun(), both=43))  # of the same session
    assert rules.judge_list(5000, 6000, LISTS) is None
    note_alignment(pages, "d", begun(b"2"))
    for lists in (LISTS, (bytes(32), bytes(32))):
        more = rules.judge_list(5000, 6000, lists)
        assert more is not None
        assert "most_alignments allows 2 over the life of a data set" in more.reason
        assert "2 before and this one make 3" in more.reason
    assert replace(rules, rows=True).judge_list(5000, 6000, LISTS) is None
    spent = Objection("budget", "")
    few = replace(rules, rows=True, judge_least=lambda least: spent if least > 500 else None)
    assert few.judge_list(5000, 5000, LISTS) is None  # a tenth of these are common at least
    assert few.judge_list(5000, 5001, LISTS) is spent


def test_other_people_in_the_name_of_the_same_lists_are_objected_to(pages: PeerEntries) -> None:
    rules, overlap = ListRules("d", AlignmentBounds(), pages), Overlap(5000, 6000, 43)
    note_alignment(pages, "d", begun())
    assert rules.judge_people(overlap, LISTS, b"people") is None
    note_alignment(pages, "d", replace(begun(), both=43, named=True, people=b"people"))
    assert rules.judge_people(overlap, LISTS, b"people") is None
    assert rules.judge_people(overlap, (b"ours", b"another"), b"others") is None
    found = rules.judge_people(overlap, LISTS, b"others")
    assert found is not None
    assert "another list in the name of an earlier one" in found.reason


def test_after_a_run_no_other_lists_of_its_data_set_are_compared(pages: PeerEntries) -> None:
    rules = ListRules("d", AlignmentBounds(), pages)
    pages.write(RunEntry("another", "1", {}, 5, LISTS, NamedClass((), ()), ()))
    assert rules.judge_list(5, 6, LISTS) is None
    pages.write(RunEntry("d", "1", {}, 5, LISTS, NamedClass((), ()), ()))
    objection = rules.judge_list(5, 6, LISTS)
    assert objection is not None
    assert "data set 'd' already has a run over other people" in objection.reason
    assert replace(rules, rows=True).judge_list(5, 6, LISTS) is None
