"""A reader of a party's ledger or of a run's report, who knows all that can be known but the owner's secret, guesses.

Of an entry about an alignment, what follows the ids has to follow the owner's secret too, or a guess could be tried at
home. A report holds figures and no digest of what they are of: that would confirm a guess of the whole table.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from party.files import locked_folder
from party.node.aligning import ListRules
from party.records.entries import PeerPages
from party.records.ledger import PeerName, open_ledger
from party.settings.ids import AlignmentBounds
from party.show.training import train_report
from protocols.randomness import keyed_digest
from protocols.terms import Method
from protocols.two_party import alignment
from protocols.two_party.alignment import align
from protocols.two_party.inputs import PartyInputs, split_records
from tests.support.duel import duel
from tests.support.lists import NONCES, Judge, listing, noting, numbered
from tests.support.parties import Case, plain_id3
from tests.support.sessions import ANY_ODDS, CASE, Sessions, trained, with_terms

MORNING = datetime(2027, 3, 1, 8, tzinfo=UTC)
LISTED = numbered(range(6))
HERS, OTHERS = LISTED[:3], LISTED[3:]
"""Of a person who may be on Alice's list there are twenty such lists, and Bob has all six."""
WAYS = {
    "named": (HERS, OTHERS),
    "too few": (["p0", "p1", "stranger"], ["p0", "another", "stranger"]),
    "counted": (HERS, OTHERS),
}
"""Of each two lists of hers that Bob cannot tell apart."""


def with_secret(local: PartyInputs, byte: int) -> PartyInputs:
    return replace(local, secrets=replace(local.secrets, coins=bytes([byte]) * 32))


def entry(folder: Path, way: str, hers: Sequence[str], secret: int = 7) -> dict[str, Any]:
    """Return the last entry of Alice's ledger about an alignment with Bob, who lists all six."""
    alice, bob = with_secret(listing("alice", hers), secret), with_secret(listing("bob", LISTED), secret + 1)
    with locked_folder(folder) as held, open_ledger(held, alice.secrets.coins) as ledger:
        pages = PeerPages(ledger, PeerName("bob", "its certificate"), clock=lambda: MORNING)
        judge = ListRules("d", AlignmentBounds(least_overlap=Fraction(way == "too few", 2)), pages)
        count_only = way == "counted"
        ours = noting(align(alice, "bob", NONCES, judge, count_only=count_only), judge.note)
        duel(ours, align(bob, "alice", NONCES, Judge(), count_only=count_only))
        return dict([each.content for each in ledger.entries()][-1])


def differing(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    assert one.keys() == other.keys()
    return {name for name in one if one[name] != other[name]}


def folder_of(place: Path, name: str) -> Path:
    (place / name).mkdir(mode=0o700)
    return place / name


@pytest.mark.parametrize("way", WAYS)
def test_what_follows_the_ids_in_an_entry_about_an_alignment_follows_the_owners_secret(
    tmp_path: Path, way: str
) -> None:
    """Where too few are common, another number of them leaves the same entry, too."""
    ids, other_ids = WAYS[way]
    hers = entry(folder_of(tmp_path, "hers"), way, ids)
    others = entry(folder_of(tmp_path, "others"), way, other_ids)
    secret = entry(folder_of(tmp_path, "secret"), way, ids, secret=20)
    assert differing(hers, others) == ({"lists", "people"} if way == "named" else {"lists"})
    assert differing(hers, others) == differing(hers, secret)
    assert hers["both"] == (None if way == "too few" else 3)


@pytest.mark.parametrize("key", ["the owner's secret", "the session's nonces"])
def test_whom_both_list_cannot_be_tried_on_an_entry_without_the_owners_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Bob knows the nonces, his own secret and all lists that Alice may have; the control is keyed by the nonces."""
    if key == "the session's nonces":
        monkeypatch.setattr(alignment, "keyed_digest", lambda _, *parts: keyed_digest(NONCES, *parts))
    kept = entry(folder_of(tmp_path, "hers"), "named", HERS)["people"]
    guesses = list(combinations(LISTED, 3))
    read = [
        guess
        for guess in guesses
        for known in (NONCES, bytes([8]) * 32)
        if keyed_digest(known, b"common people", *(each.encode() for each in guess)).hex() == kept
    ]
    assert read == ([tuple(HERS)] if key == "the session's nonces" else [])


def run_over(folder: Path, case: Case) -> tuple[dict[str, Any], bytes]:
    """Return Alice's report of a run, but for what no table decides, and the digest of its model."""
    alice, _ = Sessions(folder_of(folder, token_hex(4)), case, ANY_ODDS).run()
    ended = trained(alice)
    report = asdict(train_report(ended, alice))
    for name in ("run", "seconds", "phases", "bytes_sent", "bytes_received"):  # signatures are of 70 bytes or 71
        del report[name]
    return report, ended.outcome.model.digest()


def test_a_report_does_not_say_which_of_two_people_has_a_class_as_a_digest_of_the_model_would(tmp_path: Path) -> None:
    """Who reads it knows all other records, and of these two people that one is of each class."""
    case = with_terms(CASE, method=Method.SMC, max_depth=1)
    known, correct = plain_id3(case)
    for pair in combinations(split_records(1, len(case.codes), case.terms.test)[0], 2):
        codes = case.codes.copy()
        codes[list(pair), -1] = codes[list(pair[::-1]), -1]
        other = replace(case, codes=codes)
        if plain_id3(other)[0].tree != known.tree and plain_id3(other)[1] == correct:
            break
    (hers, model), (others, other_model) = run_over(tmp_path, case), run_over(tmp_path, other)
    assert hers == others
    assert model != other_model  # the control
    assert run_over(tmp_path, case)[1] == model
