"""Sessions and their ledgers: what is on the disk before it leaves, and what a party notices that has forgotten."""

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from party.records.journal import JOURNAL_FILE
from party.records.ledger import LEDGER_FILE, PeerEntries, PeerName, last_head
from party.records.tally import Dealings, dealings
from party.show.ledger import dealings_lines
from protocols.errors import DisagreementError, PeerError
from protocols.messages import SignedHead
from protocols.terms import Method
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.memory import bare_head
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, contents, of_kind, trained, with_terms


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Sessions:
    """Return two parties after one run: read only."""
    sessions = Sessions(tmp_path_factory.mktemp("hybrid"), CASE, ANY_ODDS)
    sessions.run()
    return sessions


def test_what_one_side_has_told_the_other_has_learned(hybrid: Sessions) -> None:
    alice, bob = (contents(hybrid, name) for name in NAMES)
    for one, other in ((alice, bob), (bob, alice)):
        told = [entry["counts"] for entry in of_kind(one, "class counts") if entry["way"] == "told"]
        assert told == [entry["counts"] for entry in of_kind(other, "class counts") if entry["way"] == "learned"]


def test_every_window_is_on_record_at_both_before_and_after_it_is_opened(hybrid: Sessions) -> None:
    alice, bob = (contents(hybrid, name) for name in NAMES)
    ways = [[entry["way"] for entry in of_kind(one, "windows")] for one in (alice, bob)]
    assert ways[0] == ways[1] == ["told", "both"] * (len(ways[0]) // 2) != []
    known = [[entry["nodes"] for entry in of_kind(one, "windows") if entry["way"] == "both"] for one in (alice, bob)]
    assert known[0] == known[1]
    counted = [node for entry in of_kind(alice, "counts") if entry["way"] == "both" for node in entry["nodes"]]
    tables = {str(node["path"]): list(node["counts"]) for node in counted}
    assert all(tables[str(node["path"])] == node["window"] for level in known[0] for node in level)


def test_every_exact_count_is_on_record_at_both_with_its_node_and_attribute(hybrid: Sessions) -> None:
    alice, bob = (contents(hybrid, name) for name in NAMES)
    known = [[entry["nodes"] for entry in of_kind(one, "counts") if entry["way"] != "told"] for one in (alice, bob)]
    assert known[0] == known[1] != []
    root = known[0][0][0]
    assert root["path"] == []
    ((name, table),) = root["counts"].items()
    assert name.split(".")[0] in NAMES
    assert sum(map(sum, table)) == sum(of_kind(alice, "class counts")[0]["counts"])
    ways = {tuple(entry["way"] for entry in of_kind(one, "counts"))[:2] for one in (alice, bob)}
    assert ways == {("both", "both"), ("told", "learned")}


def test_a_copy_is_on_record_with_its_design_and_all_that_it_tells_for_certain(hybrid: Sessions) -> None:
    told, learned = of_kind(contents(hybrid, "bob"), "copy")
    assert (told["way"], learned["way"]) == ("told", "learned")
    assert told["theta"] == learned["theta"] == "7/10"
    assert sorted(name for group in told["groups"] for name in group) == ["b0", "b1", "class"]
    assert learned["groups"] == [["a0", "a1"]]
    assert learned["relations"] == []  # two and three values have no common divisor
    pairs = {frozenset(group) for group in told["groups"] if len(group) == 2}
    assert {frozenset((first, second)) for first, second, _ in told["relations"]} == pairs
    assert told["odds"]["b0"] == "7/3"


def test_both_end_with_the_others_signed_head_and_the_model(hybrid: Sessions) -> None:
    for name, other in (NAMES, NAMES[::-1]):
        entries = contents(hybrid, name)
        assert entries[-1]["kind"] == "head"
        assert entries[-1]["signature"]
        with hybrid.ledger(other) as theirs, hybrid.ledger(name) as ours:
            shown = last_head(ours.entries(), PeerName(other, ""))
            assert theirs.holds(PeerName(name, ""), bare_head(shown))
            assert shown.entries == len(theirs) - 1  # all but the head that it was given
    models = [of_kind(contents(hybrid, name), "model")[0]["digest"] for name in NAMES]
    assert models[0] == models[1]


def test_the_same_run_again_ends_alike_and_its_counts_stand_in_the_ledger_once(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.SMC), ANY_ODDS)
    first, second = trained(sessions.run()[0]).outcome, trained(sessions.run()[0]).outcome
    assert second == first
    with sessions.ledger("alice") as ledger:
        (told,) = dealings(ledger.entries())
    assert told.told.numbers == first.smc_computations + 1  # Bob tells the class


@pytest.mark.parametrize("method", [Method.RANDOMIZED, Method.SMC])
def test_the_other_methods_leave_their_own_entries(tmp_path: Path, method: Method) -> None:
    sessions = Sessions(tmp_path, with_terms(CASE, method=method), ANY_ODDS)
    sessions.run()
    kinds = {entry["kind"] for entry in contents(sessions, "alice")}
    own = {"mined tree", "copy"} if method == Method.RANDOMIZED else {"class counts", "counts", "accuracy"}
    assert kinds == own | {"columns", "comparison", "run", "release", "model", "head"}


def test_what_a_peer_is_told_before_it_disagrees_is_on_record(tmp_path: Path) -> None:
    """Names of values depend on the records, and leave before it is known whether both agree."""
    sessions = Disagreeing(tmp_path, CASE, ANY_ODDS)
    for _ in range(2):
        assert [getattr(error, "field", "") for error in sessions.both_errors()] == ["record ids"] * 2
    (named,) = of_kind(contents(sessions, "alice"), "columns")
    table = sessions.local("alice").table
    assert named["columns"] == [{"column": each.name, "values": list(each.values)} for each in table.attributes]
    assert (named["records"], named["class values"]) == (len(table), None)
    (told,) = dealings_of(sessions, "alice")
    assert "the names of 2 columns (a0, a1) and of their 5 values, of" in "\n".join(dealings_lines(told, full=False))
    sessions.differ = False
    sessions.run()
    assert [len(of_kind(contents(sessions, name), "columns")) for name in NAMES] == [1, 1]


@dataclass
class Disagreeing(Sessions):
    """Bob brings another person than Alice does, until he does no more."""

    differ: bool = True

    def local(self, party: str) -> PartyInputs:
        local = super().local(party)
        if party == "alice" or not self.differ:
            return local
        return replace(local, records=(*local.records[:-1], "somebody else"))


def dealings_of(sessions: Sessions, party: str) -> list[Dealings]:
    with sessions.ledger(party) as ledger:
        return dealings(ledger.entries())


def copied(sessions: Sessions, party: str, name: str) -> Path:
    """Keep a party's ledger as it is now."""
    return Path(shutil.copy(sessions.folder / party / LEDGER_FILE, sessions.folder / name))


@pytest.mark.parametrize("party", NAMES)
@pytest.mark.parametrize("back_to", ["an older backup", "nothing"])
def test_a_party_that_has_forgotten_is_refused_by_both_before_anything_leaves(
    tmp_path: Path, party: str, back_to: str
) -> None:
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), ANY_ODDS)
    sessions.run()
    backup = copied(sessions, party, "backup")
    sessions.run()
    if back_to == "an older backup":
        shutil.copy(backup, sessions.folder / party / LEDGER_FILE)
    else:
        for file in (LEDGER_FILE, JOURNAL_FILE):
            (sessions.folder / party / file).unlink()
    other = NAMES[party == NAMES[0]]
    runs = len(of_kind(contents(sessions, other), "run"))
    errors = dict(zip(NAMES, sessions.both_errors(), strict=True))
    assert all(isinstance(error, DisagreementError) and error.field == "memory" for error in errors.values())
    assert "our ledger is not the one that" in str(errors[party])
    assert f"{party} shows a ledger of" in str(errors[other])
    assert len(of_kind(contents(sessions, other), "run")) == runs == 2


@pytest.mark.parametrize("party", NAMES)
def test_a_peer_that_lies_about_our_ledger_is_told_apart_from_a_ledger_that_was_restored(
    tmp_path: Path, party: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that our ledger has led further than it did, with a signature: of its own, for it has none of ours."""
    sessions, other = Sessions(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), ANY_ODDS), NAMES[party == NAMES[0]]
    sessions.run()
    before = len(contents(sessions, party))
    known = PeerEntries.known

    def lying(pages: PeerEntries) -> SignedHead:
        shown = known(pages)
        return shown if pages.peer.name == other else replace(shown, entries=shown.entries + 1)

    with monkeypatch.context() as patched:
        patched.setattr(PeerEntries, "known", lying)
        errors = dict(zip(NAMES, sessions.both_errors(), strict=True))
    assert type(errors[party]) is PeerError
    assert str(errors[party]).startswith(f"{other} claims that our ledger had another end, and shows nothing that we")
    assert "put nothing back" in str(errors[party])
    assert len(contents(sessions, party)) == before
    sessions.run()  # nothing was lost


def test_the_latest_backup_put_back_is_no_loss(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), ANY_ODDS)
    sessions.run()
    backup = copied(sessions, "bob", "backup")
    (sessions.folder / "bob" / LEDGER_FILE).unlink()
    shutil.copy(backup, sessions.folder / "bob" / LEDGER_FILE)
    sessions.run()
    for name, other in (NAMES, NAMES[::-1]):
        entries = contents(sessions, name)
        first, second = of_kind(entries, "model")
        assert first["digest"] == second["digest"]
        assert len(of_kind(entries, "run")) == 2
        assert len(of_kind(entries, "release")) == len({str(each["fields"]) for each in of_kind(entries, "release")})
        assert len({each["digest"] for each in of_kind(entries, "copy") if each["way"] == "told"}) <= 1
        with sessions.ledger(name) as ours, sessions.ledger(other) as theirs:
            assert theirs.holds(PeerName(name, ""), bare_head(last_head(ours.entries(), PeerName(other, ""))))


def test_a_run_that_ended_early_is_remembered_up_to_its_end(tmp_path: Path) -> None:
    """The second run shows heads and ends when the class is found too small: putting back the first is noticed."""
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), ANY_ODDS)
    sessions.run()
    backup = copied(sessions, "bob", "backup")
    errors = sessions.both_errors(with_terms(CASE, method=Method.RANDOMIZED, seed=2).terms)
    assert all(isinstance(error, DisagreementError) and error.field == "seed" for error in errors)
    shutil.copy(backup, sessions.folder / "bob" / LEDGER_FILE)
    sessions.run()


TELLING = {
    "ClassCounts": "class counts", "DisguisedPage": "copy", "OpenedPage": "windows", "CountShares": "counts",
    "ExactCounts": "counts", "ModelDigest": "model",
}  # fmt: skip
KILLED = """
import os, signal, sys
from pathlib import Path
from party.transport.channel import PagedChannel
from tests.party.node.test_what_is_remembered import TELLING
from tests.support.sessions import ANY_ODDS, CASE, Sessions

send = PagedChannel.send

def send_or_die(channel, message):
    if type(message).__name__ == kind:
        os.kill(os.getpid(), signal.SIGKILL)
    send(channel, message)

PagedChannel.send = send_or_die
for kind in TELLING:
    child = os.fork()
    if child == 0:
        Sessions(Path(sys.argv[1], kind), CASE, ANY_ODDS).run()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
"""


def test_what_is_about_to_leave_is_on_the_disk_when_the_process_is_killed(tmp_path: Path) -> None:
    """Both parties live in one process, killed when the first of them is about to send this kind of message."""
    for kind in TELLING:
        (tmp_path / kind).mkdir()
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=True)
    for message, kind in TELLING.items():
        sessions = Sessions(tmp_path / message, CASE)
        entries = [entry for name in NAMES for entry in contents(sessions, name) if entry["kind"] == kind]
        assert [entry for entry in entries if entry.get("way") in ("told", "both")], message
