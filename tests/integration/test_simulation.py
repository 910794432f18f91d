"""Lists of operations on two nodes, drawn at random or kept because they once found a fault (`World`).

Both nodes are in one process, on a line that loses, repeats and delays calls, with skipping time, kills and full disks.
Calls go through the real client and server, all but the sockets: a flipped byte breaks TLS, and so is a lost call.

After each operation: every run is open, done, cancelled or aborted, and never done at one side and aborted at the
other; no data set has two copies, no count two values; a ledger holds all that the peer has learned; no error names a
record or a secret; whose certificate has expired meets nobody, and who has renewed it is the same party. In the end,
over a good line, both finish with the model that nothing had disturbed, and no mask of a transfer has served twice.
"""

import contextlib
import itertools
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import grpc
import pytest
from cryptography import x509
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.closing import beside
from party.errors import DatesError
from party.files import locked_folder
from party.keys.certificates import Peer, utc_now
from party.keys.identity import Identity, keep_renewed, load_peers, read_identity, renew
from party.models.any_file import KeptModel
from party.node.players import Host
from party.node.session import Report, run_session
from party.records.journal import JOURNAL_FILE, RunState, cancel_run, open_journal, recorded_runs
from party.records.ledger import LEDGER_FILE
from party.records.tally import dealings
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel
from party.transport.grpc.client import _Line, _Session
from party.transport.grpc.probe import Acquaintance
from party.transport.grpc.server import NodeServer
from party.transport.grpc.status import Guard, status_of
from party.transport.pages import Waits
from protocols.errors import DisagreementError
from protocols.jobs import Train
from protocols.messages import ClassCounts, DisguisedPage
from protocols.role import Message
from protocols.terms import Terms
from tests.support.cases import correlated
from tests.support.disks import full_disk, put_back
from tests.support.examples import few
from tests.support.mask_recorder import ALONE, ONCE, MaskRecorder
from tests.support.parties import Case, make_terms
from tests.support.sessions import NAMES, Sessions, with_terms
from tests.support.timer import SkippingTimer

PATIENCE = 5.0
NOW = "2026-01-01T00:00:00Z"
FAULTS = ("drop request", "drop reply", "duplicate", "delay", "repeat an old one", "renew alice", "renew bob")


class Killed(BaseException):
    """Ends a party's session as a kill does: nobody is told, nothing is cleaned up."""


class BrokenError(grpc.RpcError):
    """What a call of gRPC raises."""

    def __init__(self, code: grpc.StatusCode, details: str, *, marked: bool) -> None:
        super().__init__()
        self._told = code, details, (_Metadata("cotally-status", "1"),) if marked else ()

    def code(self) -> grpc.StatusCode:
        return self._told[0]

    def details(self) -> str:
        return self._told[1]

    def trailing_metadata(self) -> Any:
        return self._told[2]


@dataclass(frozen=True)
class _Metadata:
    key: str
    value: str


class Line:
    """Calls of one session, in the place of a stub of gRPC; `faults` says what happens to which of them.

    Like TLS it asks, when a connection begins, for the very certificate that the caller believes, and for the dates.
    """

    def __init__(self, world: "World", server: NodeServer, guard: Guard, faults: Mapping[int, str]) -> None:
        self._world, self._server, self._guard, self._timer, self._faults = world, server, guard, world.timer, faults
        self._numbers = itertools.count()
        self._last: tuple[str, Any] | None = None
        self._stands = False
        self.cut = threading.Event()

    def connect(self, acquaintance: Acquaintance) -> Any:
        """Begin a new connection with what the caller shows and believes."""
        self._caller, self._believed, self._stands = acquaintance.own, acquaintance.peer, False
        return self

    def shown(self, *_: object) -> x509.Certificate | None:
        """Return what a look at the port shows."""
        return None if self.cut.is_set() else self._world.identity("alice").certificate

    def _shake_hands(self) -> None:
        shown = self._world.identity("alice")
        try:
            for each in (shown, self._caller):
                each.check_dates(self._world.date)
        except DatesError:
            legal = False
        else:
            legal = shown.certificate == self._believed.certificate
        if not legal:
            raise BrokenError(grpc.StatusCode.UNAVAILABLE, "TLS", marked=False)
        self._stands = True

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda request, **_: self._call(name, request)

    def _call(self, name: str, request: Any) -> Any:
        fault = self._faults.get(next(self._numbers))
        if self.cut.is_set() or fault == "drop request":
            raise BrokenError(grpc.StatusCode.UNAVAILABLE, "the line is cut", marked=False)
        if not self._stands:
            self._shake_hands()
        if fault is not None and fault.startswith("renew"):
            self._world.renew(fault.split()[1])
            self._stands = False
            raise BrokenError(grpc.StatusCode.UNAVAILABLE, "the connection has reached its age", marked=False)
        if fault == "delay":
            self._timer.skip(0.4)
        if fault == "repeat an old one" and self._last is not None:
            with contextlib.suppress(BrokenError):
                self._answered(*self._last)
        if fault == "duplicate":
            with contextlib.suppress(BrokenError):
                self._answered(name, request)
        reply = self._answered(name, request)
        self._last = name, request
        if self.cut.is_set() or fault == "drop reply":
            raise BrokenError(grpc.StatusCode.UNAVAILABLE, "the line is cut", marked=False)
        return reply

    def _answered(self, name: str, request: Any) -> Any:
        try:
            self._guard._admit(self)  # type: ignore[arg-type]  # it has what the guard asks for
            return getattr(self._server, name)(type(request).FromString(request.SerializeToString()), self)
        except Exception as error:  # noqa: BLE001  # as the guard does before every handler
            code, details = status_of(error)
            raise BrokenError(code, details, marked=True) from None

    def auth_context(self) -> dict[str, list[bytes]]:
        """Be the context of a call: say whose certificate is at its other end."""
        return {"x509_pem_cert": [self._caller.pem]}


class CalledLine(_Line):
    """The client's line, over a `Line`."""

    def __init__(self, acquaintance: Acquaintance, waits: Waits, calls: Line) -> None:
        self._calls = calls
        super().__init__(acquaintance, waits)

    def _connect(self) -> None:
        self.stub = self._calls.connect(self._acquaintance)


@dataclass(frozen=True)
class _Dying:
    """Before which of its messages a party is killed, and its folder copied, if it is."""

    at: int
    copied: int | None


@dataclass
class World:
    """Two parties, what each has sent, and what each was told of errors."""

    sessions: Sessions
    date: datetime = field(default_factory=utc_now)
    timer: SkippingTimer = field(default_factory=SkippingTimer)
    sent: dict[str, list[Message]] = field(default_factory=lambda: {name: [] for name in NAMES})
    errors: list[str] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    refused: int = 0

    def __post_init__(self) -> None:
        self.keys = {name: self.identity(name).fingerprint for name in NAMES}

    @property
    def case(self) -> Case:
        return self.sessions.case

    def secret(self, name: str) -> bytes:
        return self.sessions.local(name).secrets.coins

    def apply(self, operation: tuple[Any, ...]) -> None:
        """Let something happen; `OPERATIONS` of the test has all."""
        kind, *arguments = operation
        getattr(self, kind)(*arguments)

    def exchange(self, faults: Mapping[int, str]) -> None:
        """Let the parties meet over a bad line."""
        self.meet(faults=faults)

    def kill(self, names: tuple[str, ...], at: int) -> None:
        """Let them meet, and kill some of them before their n-th message."""
        self.meet(killed=names, at=at)

    def fill_disk(self, name: str, at: int) -> None:
        """Let them meet, and let a party's n-th write fail."""
        self.meet(full=name, at=at)

    def other_terms(self, fresh: bool) -> None:
        """Propose another window, in place of a run that has not ended or beside it."""
        self.meet(terms=with_terms(self.case, omega=2).terms, fresh=fresh)

    def begin_again(self) -> None:
        """Propose the same once more, from the beginning."""
        self.meet(fresh=True)

    def cancel(self, name: str) -> None:
        """Give up what has not ended, by the command."""
        if not (self.sessions.folder / name / JOURNAL_FILE).exists():
            return
        with open_journal(self.sessions.folder / name, self.secret(name)) as journal:
            for record in journal.runs():
                if record.state is RunState.OPEN:
                    cancel_run(journal, record.run, NOW)

    def lose_journal(self, name: str) -> None:
        """Delete how far a party has come."""
        (self.sessions.folder / name / JOURNAL_FILE).unlink(missing_ok=True)

    def restore_backup(self, name: str) -> None:
        """Make a backup, or put it back and let them meet; who is refused puts the latest back."""
        folder, backup = self.sessions.folder / name, self.sessions.folder / f"{name} backup"
        if not backup.exists():
            shutil.copytree(folder, backup)
            return
        latest = self.sessions.folder / f"{name} latest"
        shutil.copytree(folder, latest)
        put_back(folder, backup)
        forgets = self._forgets(name)
        ends = self.meet()
        refused = all(isinstance(end, DisagreementError) and end.field == "memory" for end in ends)
        assert not (forgets and any(isinstance(end, Report) for end in ends))
        if refused:
            self.refused += 1
            put_back(folder, latest)
        shutil.rmtree(latest)

    def back_up_within(self, name: str, at: int, later: int) -> None:
        """Let them meet, copy a party's folder before its n-th message, and kill it before that or a later one."""
        shutil.rmtree(self.sessions.folder / f"{name} backup", ignore_errors=True)
        self.meet(killed=(name,), at=at + later, copied=at)

    def _forgets(self, name: str) -> bool:
        """Tell whether the other has learned more from a party than this one has on record to have told."""
        (other,) = set(NAMES) - {name}
        return self._entries(name, "told") < self._entries(other, "learned")

    def _entries(self, name: str, way: str) -> int:
        if not (self.sessions.folder / name / LEDGER_FILE).exists():
            return 0
        with self.sessions.ledger(name) as ledger:
            return sum(entry.content.get("way") == way for entry in ledger.entries())

    def pass_time(self, seconds: float) -> None:
        """Let time pass while nobody does anything."""
        self.timer.skip(seconds)

    def renew(self, name: str) -> None:
        """Renew a party's certificate."""
        renew(self.sessions.folder / name, clock=lambda: self.date)

    def pass_days(self, days: int) -> None:
        """Let certificates age; parties that meet with one that has expired do not come together."""
        self.date += timedelta(days=days)
        if self.expired():
            sent = {name: len(self.sent[name]) for name in NAMES}
            assert all(isinstance(end, Exception) for end in self.meet())
            assert sent == {name: len(self.sent[name]) for name in NAMES}

    def expired(self) -> list[str]:
        """Return whose certificates have expired."""
        return [name for name in NAMES if self.identity(name).certificate.not_valid_after_utc < self.date]

    def meet(
        self,
        *,
        faults: Mapping[int, str] | None = None,
        killed: tuple[str, ...] = (),
        full: str = "",
        at: int = 0,
        copied: int | None = None,
        terms: Terms | None = None,
        fresh: bool = False,
    ) -> list[Report | BaseException]:
        """Play one session; return how it ended at each."""
        pinned, waits = self._peer("alice", "bob"), Waits(PATIENCE, timer=self.timer)
        server = NodeServer([pinned], waits)
        guard = Guard([pinned], lambda: self.date, partial(keep_renewed, self.sessions.folder / "alice"))
        line = Line(self, server, guard, faults or {})
        job = Train(terms or self.case.terms)

        def part(name: str) -> Report:
            dying = _Dying(at, copied) if name in killed else None
            if name == "bob":
                return self._take_part(name, self._called(line, waits), job, line, dying, fresh=fresh)
            return self._take_part(name, server.accept(2 * PATIENCE), None, line, dying, fresh=False)

        disk = full_disk(self.sessions.folder / full, at) if full else contextlib.nullcontext()
        looks = patch("party.transport.grpc.probe.shown_certificate", line.shown)
        with disk, looks, ThreadPoolExecutor(2) as pool, self._skipping(line):
            parts = [pool.submit(part, name) for name in NAMES]
            ends: list[Report | BaseException] = [each.exception() or each.result() for each in parts]
        line.cut.set()
        server.close()
        self.errors += [str(end) for end in ends if isinstance(end, Exception)]
        return ends

    def _called(self, calls: Line, waits: Waits) -> PagedChannel:
        peer, kept = self._peer("bob", "alice"), partial(keep_renewed, self.sessions.folder / "bob")
        acquaintance = Acquaintance(lambda: self.identity("bob"), peer, "localhost:9", lambda: self.date, kept)
        try:
            acquaintance.check()
            line = CalledLine(acquaintance, waits, calls)
            line.open()
        except BaseException:
            calls.cut.set()
            raise
        session = _Session(peer, line)
        session.start()
        return session

    def _take_part(
        self, name: str, channel: PagedChannel, job: Train | None, line: Line, dying: _Dying | None, *, fresh: bool
    ) -> Report:
        folder, start, send = self.sessions.folder / name, len(self.sent[name]), channel.send

        def counted(message: Message) -> None:
            sent = len(self.sent[name]) - start
            if dying is not None and sent == dying.copied:
                shutil.copytree(folder, self.sessions.folder / f"{name} backup")
            if dying is not None and sent == dying.at:
                line.cut.set()
                raise Killed
            self.sent[name].append(message)
            send(message)

        channel.send = counted  # type: ignore[method-assign]
        config = read_party_config(folder / "party.toml", self.case.terms.key_bits)
        host = Host(kept=KeptModel(lambda _: folder / "model.json"), fresh=fresh)
        with locked_folder(folder) as held, channel:
            return run_session(self.sessions.local(name), config, held, channel, job, host)

    def identity(self, name: str) -> Identity:
        """Return who a party is by now."""
        return read_identity(self.sessions.folder / name)

    def _peer(self, name: str, peer: str) -> Peer:
        return load_peers(self.sessions.folder / name)[peer]

    @contextlib.contextmanager
    def _skipping(self, line: Line) -> Iterator[None]:
        """Let time fly once the line is cut: nobody has anything else to wait for."""
        over = threading.Event()

        def skip() -> None:
            while not over.wait(0.005):
                if line.cut.is_set():
                    self.timer.skip(1.0)

        with beside(threading.Thread(target=skip, daemon=True), over):
            yield

    def states(self) -> dict[str, dict[str, RunState]]:
        """Return what became of each run, at each party."""
        found = {name: recorded_runs(self.sessions.folder / name, self.secret(name)) for name in NAMES}
        return {name: {each.run: each.state for each in records} for name, records in found.items()}


CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 2), 60, seed=1, flips=0.5),
    groups={"alice": 1, "bob": 2},
    terms=make_terms(theta=Fraction(7, 10), omega=1, max_depth=2),
)
NAME = st.sampled_from(NAMES)
OPERATIONS = st.one_of(
    st.tuples(st.just("exchange"), st.dictionaries(st.integers(0, 60), st.sampled_from(FAULTS), max_size=6)),
    st.tuples(st.just("kill"), st.sampled_from([("alice",), ("bob",), NAMES]), st.integers(0, 24)),
    st.tuples(st.just("fill_disk"), NAME, st.integers(0, 24)),
    st.tuples(st.just("other_terms"), st.booleans()),
    st.tuples(st.just("begin_again")),
    st.tuples(st.just("cancel"), NAME),
    st.tuples(st.just("lose_journal"), NAME),
    st.tuples(st.just("restore_backup"), NAME),
    st.tuples(st.just("back_up_within"), NAME, st.integers(0, 20), st.integers(1, 8)),
    st.tuples(st.just("pass_time"), st.sampled_from([1.0, 3600.0])),
    st.tuples(st.just("renew"), NAME),
    st.tuples(st.just("pass_days"), st.sampled_from([300, 800])),
)
KEPT: list[list[tuple[Any, ...]]] = [
    [("kill", ("alice",), 24), ("kill", ("bob",), 23), ("lose_journal", "alice")],
    [("restore_backup", "bob"), ("kill", ("bob",), 12), ("restore_backup", "bob")],
    [
        ("back_up_within", "alice", 14, 6),
        ("restore_backup", "alice"),
        ("kill", ("bob",), 14),
        ("restore_backup", "alice"),
    ],
    [("fill_disk", "alice", 9), ("other_terms", False), ("cancel", "bob"), ("begin_again",)],
    [("exchange", {0: "drop reply", 5: "duplicate", 9: "repeat an old one"}), ("fill_disk", "bob", 2)],
    [("kill", ("bob",), 12), ("renew", "alice"), ("exchange", {2: "renew bob", 9: "renew alice"}), ("renew", "bob")],
    [("kill", ("alice",), 12), ("pass_days", 800), ("renew", "bob"), ("exchange", {}), ("renew", "alice")],
    [("exchange", {}), ("pass_days", 400), ("renew", "alice"), ("renew", "alice"), ("pass_days", 400)],
]


@cache
def undisturbed() -> bytes:
    """Return the model of a run to which nothing happens."""
    with TemporaryDirectory() as place:
        sessions = Sessions(Path(place), CASE, 'odds = "any"\n')
        assert all(isinstance(end, Report) for end in World(sessions).meet())
        return (Path(place) / "alice" / "model.json").read_bytes()


def assert_one_model_after(operations: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as watched:
        recorder = MaskRecorder(watched)
        world = World(Sessions(Path(place), CASE, 'odds = "any"\n'))
        for operation in operations:
            world.apply(operation)
            check(world)
        for name in world.expired():
            world.renew(name)
        ends = world.meet(fresh=True)
        assert all(isinstance(end, Report) for end in ends), ends
        check(world)
        assert {(Path(place) / name / "model.json").read_bytes() for name in NAMES} == {undisturbed()}
        assert recorder.times() <= ONCE | ALONE


def check(world: World) -> None:
    states = world.states()
    for run in states["alice"].keys() & states["bob"].keys():
        both = {states[name][run] for name in NAMES}
        assert both != {RunState.DONE, RunState.ABORTED}
        assert RunState.ABORTED not in both  # nobody deviates
    for name in NAMES:
        copies: dict[int, set[bytes]] = {}
        for message in world.sent[name]:
            if isinstance(message, DisguisedPage):
                copies.setdefault(len(message.codes), set()).add(message.codes)
        assert all(len(contents) == 1 for contents in copies.values())
    check_ledgers(world)
    keys = {name: world.identity(name).fingerprint for name in NAMES}
    assert keys == world.keys  # a party that has renewed its certificate is the same party
    for text in world.errors:
        assert not re.search(r"\br\d+\b", text), text
        assert not any(world.secret(name).hex() in text for name in NAMES)


def check_ledgers(world: World) -> None:
    if not all((world.sessions.folder / name / LEDGER_FILE).exists() for name in NAMES):
        return
    tables: dict[str, dict[Any, Any]] = {}
    told: dict[str, set[Any]] = {}
    for name in NAMES:
        tables[name], told[name] = {}, set()
        for key, rows in counts_of(world, name):
            if rows is not None:
                assert tables[name].setdefault(key, rows) == rows  # no count has two values
            told[name].add(key)
        with world.sessions.ledger(name) as ledger:
            assert len(list(dealings(ledger.entries()))) <= 1
    alice, bob = (tables[name] for name in NAMES)
    assert all(alice[key] == bob[key] for key in alice.keys() & bob.keys())
    for name, other in (NAMES, NAMES[::-1]):
        assert tables[name].keys() <= told[other]  # what one has learned, the other has noted before


def counts_of(world: World, name: str) -> Iterator[tuple[Any, Any]]:
    with world.sessions.ledger(name) as ledger:
        for entry in ledger.entries():
            content: Any = entry.content
            for node in content["nodes"] if content["kind"] == "counts" else ():
                path = frozenset(map(tuple, node["path"]))
                for column, rows in (node.get("counts") or node["cells"]).items():
                    yield (path, column, str(node.get("together"))), rows if "counts" in node else None


@pytest.mark.parametrize("operations", few(KEPT, 4))
def test_what_was_kept_leaves_both_nodes_with_one_model_and_no_second_release(operations: list[Any]) -> None:
    assert_one_model_after(operations)


@settings(max_examples=3, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(OPERATIONS, min_size=1, max_size=6))
def test_whatever_happens_both_nodes_end_with_one_model_and_no_second_release(operations: list[Any]) -> None:
    assert_one_model_after(operations)


@pytest.mark.parametrize(("name", "later"), few([*product(NAMES, (0, 3))], 3))
def test_a_copy_from_within_a_session_is_refused_if_the_other_has_heard_more_since(
    tmp_path: Path, name: str, later: int
) -> None:
    """Wherever it is made; where the party was killed at that very moment, it has forgotten nothing and goes on."""
    refused, moments = [], few(range(7, 36, 2), 3)
    for at in moments:
        world = World(Sessions(tmp_path / str(at), CASE, 'odds = "any"\n'))
        world.back_up_within(name, at, later)
        if all(RunState.OPEN in states.values() for states in world.states().values()):
            world.restore_backup(name)  # which asserts that it is refused if the other has learned more
            refused.append(world.refused)
            check(world)
    assert 3 * len(refused) >= len(moments)
    assert any(refused) == bool(later)


def test_a_memory_that_was_put_back_is_refused_before_anything_leaves(tmp_path: Path) -> None:
    """Even the first run, of which no end was ever signed: the ends are shown once it is on record."""
    world = World(Sessions(tmp_path, CASE, 'odds = "any"\n'))
    world.restore_backup("bob")  # the backup, of an empty folder
    world.kill(("bob",), 20)
    sent = len(world.sent["alice"])
    world.restore_backup("bob")
    assert world.refused == 1
    assert not any(isinstance(message, DisguisedPage | ClassCounts) for message in world.sent["alice"][sent:])
