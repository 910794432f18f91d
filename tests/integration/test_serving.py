"""`cotally serve` against peers played in this process over the real client: what ends a node, and what does not."""

import errno
import io
import os
import re
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from party.cli.main import main
from party.errors import PeerStoppedError
from party.files import write_atomically
from party.keys.identity import load_identity, load_peers
from party.keys.keystore import load_secret
from party.models import any_file
from party.node import players
from party.node.inputs import load_inputs
from party.node.session import _head_signing
from party.records.ledger import read_ledger
from party.records.releases import released
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.show.log import DEBUG
from party.transport.channel import drive
from party.transport.grpc.client import connect
from party.transport.pages import Waits
from protocols.errors import DisagreementError, InputError, PeerError
from protocols.messages import ClassCounts, ModelDigest
from protocols.role import Effect, Phase, Role, Send, receive
from protocols.two_party.agreement import Agreement, agree_on_training, propose
from protocols.two_party.alignment import are_to_align
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.memory import NO_HEAD, NOTHING_SIGNED, compare_memories, exchange_heads
from protocols.two_party.objections import settle
from protocols.two_party.training import Outcome, training_role
from tests.support.parties import agree_to_all, training_terms
from tests.support.processes import BITS, Ended, Pair, cotally_here, make_pair, wait_for, write_table

ROWS = [["xyz"[i % 3], "uv"[i // 3 % 2], "yn"[i % 3 % 2]] for i in range(150)]


@pytest.fixture
def pair(trusting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    monkeypatch.delenv(DEBUG, raising=False)
    other = [["rst"[i % 7 % 3], "pq"[i // 2 % 2]] for i in range(150)]
    return make_pair(trusting, tmp_path / "parties", (["a", "b", "class"], ROWS), (["c", "d"], other))


@dataclass
class Bob:
    """Calls Alice, where she listens, once for each run."""

    pair: Pair
    err: io.StringIO = field(default_factory=io.StringIO)
    address: str = ""
    errors: list[BaseException] = field(default_factory=list)

    def wait_until_alice_says(self, words: str) -> None:
        """Wait for words on her standard error."""
        wait_for(lambda: words in self.err.getvalue())

    def play(self, role: Callable[[PartyInputs, Agreement], Role[Outcome]], **changes: object) -> Outcome:
        """Agree on a run, and play this role of it."""
        job = read_job(self.pair.write_job(**{"method": "randomized", **changes}), BITS)
        config = read_party_config(self.pair.bob / "party.toml", BITS)
        local, hand = load_inputs(config, BITS), _head_signing(config, "alice")
        identity, peer = load_identity(self.pair.bob), load_peers(self.pair.bob)["alice"]
        with connect(identity, peer, self.address, waits=Waits(20)) as channel:
            opening = drive(propose(local, job, agree_to_all, "alice", secrets.token_bytes(32)), channel)
            drive(compare_memories(NO_HEAD, NOTHING_SIGNED, lambda _: True, "alice", hand), channel)
            drive(are_to_align(local, "alice", opening.nonces, aligns=False), channel)
            agreed = drive(agree_on_training(local, training_terms(opening.job), "alice", opening.nonces), channel)
            drive(exchange_heads(NO_HEAD, NOTHING_SIGNED, "alice", hand), channel)
            outcome = drive(role(local, agreed), channel)
            drive(exchange_heads(NO_HEAD, NOTHING_SIGNED, "alice", hand), channel)
            channel.close()
            return outcome


def serve(pair: Pair, calls: Callable[[Bob], None], *more: str, seconds: float = 0.0) -> tuple[Ended, Bob]:
    """Let Alice serve in this thread while Bob calls in another; if she has not ended so long after, she is told to."""
    bob, ended = Bob(pair), threading.Event()
    main_thread = threading.get_ident()

    def call() -> None:
        try:
            bob.wait_until_alice_says(" listens on ")
            found = re.search(r"listens on (\S+)", bob.err.getvalue())
            bob.address = found[1] if found else ""
            calls(bob)
        except BaseException as error:  # noqa: BLE001  # for the test to look at
            bob.errors.append(error)
        pause = seconds
        while not ended.wait(pause):  # one is lost in a callback of the garbage collector, as hypothesis has
            signal.pthread_kill(main_thread, signal.SIGTERM)
            pause = 5.0

    thread, handler = threading.Thread(target=call), signal.getsignal(signal.SIGTERM)
    thread.start()
    try:
        with redirect_stderr(bob.err):
            code = main(["serve", str(pair.alice / "party.toml"), "--workers", "1", "--progress", "none", *more])
    except SystemExit as end:
        code = int(str(end.code))
    finally:
        ended.set()
        thread.join()
        signal.signal(signal.SIGTERM, handler)
    return Ended(code, "", bob.err.getvalue()), bob


def problems(ended: Ended) -> list[str]:
    assert "Traceback" not in ended.err
    return [
        line
        for line in ended.err.splitlines()
        if line.startswith("cotally: ") and not line.startswith("cotally: note: ")
    ]


def serve_with_one_problem(pair: Pair, calls: Callable[[Bob], None]) -> tuple[Ended, str]:
    """Let Alice serve one run that fails, and one that does not; return the line that says what was wrong."""
    ended, bob = serve(pair, calls)
    assert not bob.errors, bob.errors
    assert ended.code == 0
    (line,) = problems(ended)
    assert ended.err.count("Both parties hold the same tree") == 1
    return ended, line


def fail_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Alice's first run meet a fault that nobody foresaw."""
    faults = iter([ValueError("what Ann bought")])

    def faulty(*arguments: Any) -> Role[Outcome]:
        for fault in faults:
            raise fault
        return (yield from training_role(*arguments))

    monkeypatch.setattr(players, "training_role", faulty)


def test_after_a_fault_of_one_run_the_node_serves_the_next(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_once(monkeypatch)

    def calls(bob: Bob) -> None:
        with pytest.raises(PeerStoppedError, match="alice had a fault of its own"):
            bob.play(training_role)
        assert not (pair.alice / "model.json").exists()
        bob.play(training_role)
        bob.wait_until_alice_says("Both parties hold the same tree")

    ended, line = serve_with_one_problem(pair, calls)
    assert re.fullmatch(r"cotally: internal error: ValueError in test_serving\.py, line \d+; set \S+=1 to see .*", line)
    assert "Ann" not in ended.err
    assert (pair.alice / "model.json").exists()


def test_a_model_that_does_not_fit_on_the_disk_is_held_by_neither(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    full = [True]

    def write(path: Path, content: str) -> None:
        if full.pop() if full else False:
            raise InputError(f"{path} cannot be written: {os.strerror(errno.ENOSPC)}")
        write_atomically(path, content)

    monkeypatch.setattr(any_file, "write_atomically", write)

    def calls(bob: Bob) -> None:
        with pytest.raises(PeerStoppedError, match="alice had a fault of its own"):
            bob.play(training_role)
        bob.play(training_role)
        bob.wait_until_alice_says("Both parties hold the same tree")

    _, line = serve_with_one_problem(pair, calls)
    assert re.fullmatch(r"cotally: .*model\.json\S* cannot be written: No space left on device", line)
    assert (pair.alice / "model.json").exists()
    assert not list(pair.alice.glob(".*finished"))


def test_a_node_that_serves_once_ends_with_its_fault(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_once(monkeypatch)

    def calls(bob: Bob) -> None:
        with pytest.raises(PeerStoppedError, match="alice had a fault of its own"):
            bob.play(training_role)

    ended, bob = serve(pair, calls, "--once", seconds=20)
    assert not bob.errors, bob.errors
    assert ended.code == 1
    assert len(problems(ended)) == 1
    assert "Ann" not in ended.err


def test_after_a_disagreement_the_node_serves_the_next(pair: Pair) -> None:
    def calls(bob: Bob) -> None:
        with pytest.raises(DisagreementError, match="theta"):
            bob.play(training_role, theta="1/5")
        bob.play(training_role)
        bob.wait_until_alice_says("Both parties hold the same tree")

    _, line = serve_with_one_problem(pair, calls)
    assert "theta = 1/5" in line
    assert "choose a theta closer to 1/2" in line


def with_another_model(local: PartyInputs, agreed: Agreement) -> Role[Outcome]:
    """Play honestly, but for the digest of the model at the end."""
    role = training_role(local, agreed)
    effect: Effect = next(role)
    while True:
        if isinstance(effect, Send) and isinstance(effect.message, ModelDigest):
            effect = Send(ModelDigest(bytes(32)))
        answer = yield effect
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            outcome: Outcome = stop.value
            return outcome


@pytest.mark.parametrize("more", [(), ("--once",)])
def test_after_a_deviation_the_node_serves_no_more(pair: Pair, more: tuple[str, ...]) -> None:
    def calls(bob: Bob) -> None:
        bob.play(with_another_model)

    ended, bob = serve(pair, calls, *more, seconds=20)
    assert all(isinstance(error, PeerError) for error in bob.errors)  # as it may hear, or not, that Alice stopped
    assert ended.code == 3
    (line,) = problems(ended)
    assert "the peer's reply failed a check: the run is over; find the cause before starting another" in line
    assert "Both parties hold the same tree" not in ended.err
    assert not (pair.alice / "model.json").exists()


def test_a_release_is_noted_before_its_first_byte_leaves(pair: Pair) -> None:
    noted: list[set[str]] = []

    def note() -> None:
        with read_ledger(pair.alice, load_secret(pair.alice)) as ledger:
            noted.append(set(released(ledger.entries())["data"]) & {"seed", "records", "columns"})

    def listening(local: PartyInputs, agreed: Agreement) -> Role[Outcome]:
        yield from settle(None)  # on the class counts: the first of what depends on records
        note()
        yield from receive(ClassCounts)
        note()
        raise KeyboardInterrupt

    def calls(bob: Bob) -> None:
        with pytest.raises(KeyboardInterrupt):
            bob.play(listening, method="hybrid")
        bob.wait_until_alice_says("bob has stopped for now")

    ended, bob = serve(pair, calls)
    assert not bob.errors, bob.errors
    assert ended.code == 0
    assert "seed" in noted[0]
    assert "records" in noted[1]


LABELS = [f'phase="{word}"' for word in ("waiting", *(each.name.lower() for each in Phase))]
LABELS += ['code="([0-5]|approval)"', 'direction="(sent|received)"', 'of="(own|peer)"']
SAMPLE = re.compile(rf"(cotally_[a-z_]+({{({'|'.join(LABELS)})}})?) (?P<number>[0-9.e+-]+)")
OF_TABLES = {"alice", "bob", "a", "b", "c", "d", "class", *"xyzuvnrstpq", *(f"p{number:06}" for number in range(150))}


def page_of(bob: Bob) -> dict[str, float]:
    """Return the numbers on Alice's page of metrics, by name and label: words of the program, and of no table."""
    found = re.search(r"Metrics are at (http://127\.0\.0\.1:\d+/metrics)", bob.err.getvalue())
    assert found
    with urlopen(found[1], timeout=20) as answer:
        page = answer.read().decode()
    assert OF_TABLES.isdisjoint(re.findall(r"\w+", page))
    samples = [SAMPLE.fullmatch(line) for line in page.splitlines() if not line.startswith("#")]
    assert all(samples), page
    return {each[1]: float(each["number"]) for each in samples if each}


def test_metrics_follow_a_run_and_name_nothing_of_its_data(pair: Pair) -> None:
    pages: list[dict[str, float]] = []

    def calls(bob: Bob) -> None:
        def looking(local: PartyInputs, agreed: Agreement) -> Role[Outcome]:
            role, answer = training_role(local, agreed), None
            while True:
                try:
                    effect = role.send(answer)
                except StopIteration as stop:
                    outcome: Outcome = stop.value
                    return outcome
                pages.append(page_of(bob))
                answer = yield effect

        pages.append(page_of(bob))
        with pytest.raises(DisagreementError, match="theta"):
            bob.play(training_role, theta="1/5")
        bob.play(looking)
        wait_for(lambda: page_of(bob)['cotally_sessions_total{code="0"}'] == 1)
        pages.append(page_of(bob))

    ended, bob = serve(pair, calls, "--metrics", "0")
    assert not bob.errors, bob.errors
    assert ended.code == 0
    (first, *during, last), waiting = pages, 'cotally_phase{phase="waiting"}'
    assert first[waiting] == last[waiting] == 1
    assert min(page[waiting] for page in during) == 0
    assert all(sum(page[name] for name in page if "phase" in name) == 1 for page in pages)
    assert first["cotally_ledger_entries"] == 0
    assert "cotally_contact_age_seconds" not in first
    assert 0 <= last["cotally_contact_age_seconds"] < 60
    for way in ("sent", "received"):
        crossed = [page[f'cotally_bytes_total{{direction="{way}"}}'] for page in pages]
        assert 0 == crossed[0] < crossed[1] < crossed[-1]
        assert crossed == sorted(crossed)
    assert last['cotally_sessions_total{code="5"}'] == 1
    assert all(729 < last[f'cotally_certificate_days{{of="{whose}"}}'] < 731 for whose in ("own", "peer"))
    with read_ledger(pair.alice, load_secret(pair.alice)) as ledger:
        assert last["cotally_ledger_entries"] == len(ledger) > 0


def test_metrics_that_cannot_be_shown_end_in_a_line(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        taken = cotally_here("serve", pair.alice, "--metrics", str(port))
    assert (taken.code, taken.err.splitlines()[-1]) == (
        2, f"cotally: cannot show metrics at 127.0.0.1:{port}: Address already in use: name another address for metrics"
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    without = cotally_here("serve", pair.alice, "--metrics", "0")
    assert (without.code, without.err.splitlines()[-1]) == (
        2, "cotally: metrics need prometheus-client: pip install '.[metrics]' in cotally's clone"
    )  # fmt: skip


@pytest.fixture
def wide(pair: Pair) -> Pair:
    """Both parties have a column of 181 values, and Bob calls where nobody listens."""
    for name, header in (("alice", ["a", "town", "class"]), ("bob", ["c", "town"])):
        rows = [[f"v{i % 3}", f"town {i % 181}", "yn"[i % 2]][: len(header)] for i in range(400)]
        write_table(pair.folder / name / "wide.csv", header, rows)
        pair.edit(name, 'file = "data.csv"', 'file = "wide.csv"')
        pair.edit(name, "patience = 30", "patience = 1")
        pair.edit(name, "# smallest_value = 10", "smallest_value = 1")
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:9"')
    return pair


def command(*arguments: str) -> Ended:
    return cotally_here(*arguments, "--workers", "1", "--progress", "none")


@pytest.mark.parametrize("party", ["alice", "bob"])
def test_a_column_of_too_many_values_is_refused_before_anybody_is_called(wide: Pair, party: str) -> None:
    settings = wide.folder / party / "party.toml"
    more = ["serve", str(settings)] if party == "alice" else ["train", str(settings), str(wide.write_job())]
    ended = command(*more)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert line == (
        f'cotally: {settings}: [columns] town: give it fewer values, by bins = "quantiles:4" (numbers) or '
        "max_values = 4 (categories): it has 181, and a group needs 181 offsets, more than 64: put "
        "columns of equal domain sizes into a group, or merge values"
    )


def test_a_column_that_is_sent_plain_is_not_the_one_to_blame(wide: Pair) -> None:
    rows = [[f"street {i % 67}", f"town {i % 181}"] for i in range(400)]
    write_table(wide.bob / "wide.csv", ["street", "town"], rows)
    wide.edit("bob", "plain = []", 'plain = ["town"]')
    ended = command("train", str(wide.bob / "party.toml"), str(wide.write_job()))
    assert ended.code == 2
    assert "[columns] street: give it fewer values" in ended.err
    assert "it has 67" in ended.err


def test_the_cure_that_is_named_cures(wide: Pair) -> None:
    wide.edit("bob", '# "*" = { max_values = 16 }', "town = { max_values = 4 } #")
    ended = command("train", str(wide.bob / "party.toml"), str(wide.write_job()))
    assert ended.code == 3  # nobody listens there
    assert "127.0.0.1:9" in ended.err


def test_who_disguises_nothing_may_have_columns_of_many_values(wide: Pair) -> None:
    """The peer is called in vain, as it is for every column that is not refused."""
    methods = 'methods = ["hybrid", "smc", "randomized"]'
    job = str(wide.write_job(method="smc"))
    assert command("train", str(wide.bob / "party.toml"), job).code == 2
    wide.edit("bob", methods, 'methods = ["smc"]')
    assert command("train", str(wide.bob / "party.toml"), job).code == 3
    wide.edit("bob", 'methods = ["smc"]', methods)
    wide.edit("bob", "plain = []", 'plain = ["town"]')
    assert command("train", str(wide.bob / "party.toml"), job).code == 3
