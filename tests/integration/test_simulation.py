"""Lists of operations on two nodes, drawn at random or kept because they once found a fault (`tests/support/world.py`).

After each operation: every run is open, done, cancelled or aborted, and never done at one side and aborted at the
other; no data set has two copies, no count two values; a ledger holds all that the peer has learned; no error names a
record or a secret; whose certificate has expired meets nobody, and who has renewed it is the same party. In the end,
over a good line, both finish with the model that nothing had disturbed, and no mask of a transfer has served twice.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.node.session import Report
from party.records.journal import RunState
from party.records.ledger import LEDGER_FILE
from party.records.tally import dealings
from protocols.messages import ClassCounts, DisguisedPage
from tests.support.cases import correlated
from tests.support.examples import few
from tests.support.mask_recorder import ALONE, ONCE, MaskRecorder
from tests.support.parties import Case, make_terms
from tests.support.sessions import NAMES, Sessions
from tests.support.world import FAULTS, World

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


@pytest.mark.parametrize("operations", few(KEPT, 2))
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
    refused, moments = [], few(range(7, 36, 2), 2)
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
