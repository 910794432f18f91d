"""What a peer tries before a run: versions that nobody speaks, and what it sees while people decide about its job."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from party.keys.identity import is_signed_by
from party.transport.channel import Recording
from party.wire.codec import decode
from protocols.errors import DisagreementError
from protocols.jobs import Train
from protocols.messages import Greeting, MemoryHeads, Verdict
from protocols.role import Message
from protocols.two_party.agreement import SPOKEN, VERSION
from tests.party.node.test_approval import TREE, assert_waits, by_hand, sign
from tests.support.channels import memory_channels
from tests.support.examples import few
from tests.support.sessions import ANY_ODDS, CASE, Sessions, contents

NEWEST = SPOKEN[0]
FORGED = ["", "cotally", "cotally/", f"cotally/{SPOKEN[-1] - 1}", f"cotally/{NEWEST + 1}", "cotally/0", "cotally/-3"]
FORGED += [f"other/{NEWEST}", f"cotally/{NEWEST}.0", f"cotally/{NEWEST} ", f"cotally/{NEWEST} x", f"Cotally/{NEWEST}"]
FORGED += [f"cotally/\u0663{'' if NEWEST == 3 else NEWEST}", f"cotally/{'0' * 9}{NEWEST}", f"cotally/{NEWEST}/{NEWEST}"]
SPOKEN_TOO = [VERSION, f"cotally/{NEWEST + 1} {NEWEST}", f"cotally/{NEWEST} {NEWEST - 1}"]


def test_a_forged_version_gets_our_name_and_a_refusal_and_a_newer_beside_ours_is_spoken_as_ours(tmp_path: Path) -> None:
    """Bob, who is honest otherwise, says another version than he speaks; Alice reveals nothing, and keeps nothing."""
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)

    def greeted(version: str) -> tuple[BaseException | None, Sequence[bytes]]:
        return asked(sessions, lambda sent: replace(sent, version=version) if isinstance(sent, Greeting) else sent)

    for version in few(FORGED, 4):
        end, (greeting, verdict, *more) = greeted(version)
        assert isinstance(end, DisagreementError), version
        assert end.field == "version"
        assert decode(greeting, Greeting).version == VERSION
        assert (decode(verdict, Verdict), more) == (Verdict("version"), [])
    assert contents(sessions, "alice") == []
    assert [greeted(version)[0] for version in SPOKEN_TOO] == [None] * 3  # the control


def asked(
    sessions: Sessions, change: Callable[[Message], Message] = lambda sent: sent
) -> tuple[BaseException | None, Sequence[bytes]]:
    """Play a session that Bob opens, with what he sends changed; return what Alice ends with, and what he hears."""
    ours, theirs = memory_channels()
    recording = theirs.recording = Recording()
    send = theirs.send
    theirs.send = lambda message: send(change(message))  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as pool:
        alice = pool.submit(sessions._take_part, "alice", ours, None)
        pool.submit(sessions._take_part, "bob", theirs, Train(sessions.case.terms)).exception()
        return alice.exception(), recording.received


ANN, NOT_ANN, LONG = ("Ann", True), ("Ann", False), ("Bartholomew Quartermain-Featherstonehaugh", True)
SIGNED = {"approval": [[], [LONG], [NOT_ANN, ANN, NOT_ANN, ANN]], "refusal": [[NOT_ANN], [LONG, ANN, NOT_ANN]]}


@pytest.mark.parametrize("word", SIGNED)
def test_a_caller_that_waits_learns_neither_who_has_signed_nor_how_often(tmp_path: Path, word: str) -> None:
    """What it hears is the same to the byte, but for a nonce of fixed length.

    No time is measured: what takes time by the number of decisions is to check their signatures, and a node checks each
    once, however often a caller asks.
    """
    heard = []
    for case, decisions in enumerate(SIGNED[word]):
        sessions = by_hand(tmp_path / str(case), TREE)
        assert_waits(sessions)
        for name, approved in decisions:
            sign(sessions, name, approved=approved)
        is_signed_by.cache_clear()
        found = [asked(sessions) for _ in range(2)]
        assert is_signed_by.cache_info().misses == len(decisions)
        assert [getattr(end, "field", None) for end, _ in found] == [word] * 2
        heard += [(len(greeting), rest) for _, (greeting, *rest) in found]
    assert heard == heard[:1] * len(heard)
    assert [decode(each, Verdict) for each in heard[0][1]] == [Verdict(word)]


def test_the_control_once_two_have_signed_the_caller_hears_another_word_and_what_follows(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, TREE)
    assert_waits(sessions)
    sign(sessions, "Ann", "Ben")
    end, (_, verdict, follows, *_) = asked(sessions)
    assert (end, decode(verdict, Verdict)) == (None, Verdict(""))
    assert decode(follows, MemoryHeads)
