"""Rounds in which real parties are killed at random moments and started again, and must end with plain ID3's tree.

`scripts/kill` plays a hundred; a test plays a few. A round that fails names its seed. Others are killed at
each opening.
"""

import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any, cast

from party.keys.keystore import load_secret
from party.models.tree_file import read_tree, tree_json
from party.records.journal import RunState, recorded_runs
from party.records.json_codec import to_json
from party.records.ledger import _NAMES, read_ledger
from party.records.releases import released, spent_of
from party.records.run_entries import RunEntries, _said
from party.records.tally import Dealings, dealings
from protocols.facts import WindowsFact
from protocols.role import Fact
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.openings import OpenedFact
from tests.support.forked import DIES_AT_OPENINGS, Forked
from tests.support.processes import Pair, make_pair, make_trusting, wait_for
from tests.support.tic_tac_toe import ALICE, BOB, plain_tree, table

_LATEST = 3.0  # seconds after the start of a process
_MOST_KILLS = 3
_END_SECONDS = 90.0
_AGAIN = (3, 4)  # the peer was not there yet, or the run is paused


@dataclass
class Round:
    """One run of two processes that are killed now and then."""

    pair: Pair
    chance: random.Random
    kills: list[str] = field(default_factory=list)
    _running: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    _starts: int = 0

    def play(self) -> None:
        """Kill as chance has it, then let the run end."""
        self._prepare()
        try:
            for name in self._commands:
                self._start(name)
            for _ in range(self.chance.randint(1, _MOST_KILLS)):
                if self._ended(self.chance.uniform(0, _LATEST)):
                    break
                self._kill(self.chance.choice([("alice",), ("bob",), ("alice", "bob")]))
            while (code := self._running["bob"].wait(_END_SECONDS)) in _AGAIN and self._starts < 2 * _MOST_KILLS + 4:
                self._start("bob")
            assert code == 0, f"train ended with {code}: {(self.pair.folder / 'bob.err').read_text()}"
        finally:
            self._kill_all()

    def _prepare(self) -> None:
        self.pair.edit("alice", 'listen = "127.0.0.1:0"', f'listen = "{_free_address()}"')
        listening = (self.pair.alice / "party.toml").read_text().split('listen = "', 1)[1].split('"', 1)[0]
        self.pair.edit("bob", '# address = "alice.example.org:7071"', f'address = "{listening}"')
        self._commands = {"alice": self.pair.serve_arguments(), "bob": self.pair.train_arguments(self._write_job())}

    def _kill_all(self) -> None:
        for process in self._running.values():
            process.kill()
            process.wait()

    def _write_job(self) -> Path:
        return self.pair.write_job(counting=self.chance.choice(["oblivious_transfer", "paillier"]), omega="all")

    def _start(self, name: str, **environment: str) -> None:
        self._starts += 1
        with (self.pair.folder / f"{name}.err").open("a") as told:
            command = [*self._commands[name], "--progress", "none"]
            self._running[name] = Forked(
                command, stdout=subprocess.DEVNULL, stderr=told, env={**os.environ, **environment}
            )

    def _ended(self, seconds: float) -> bool:
        try:
            self._running["bob"].wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _kill(self, names: tuple[str, ...]) -> None:
        for name in names:
            self._running[name].kill()
        for name in names:
            self._running[name].wait()
            self.kills.append(name)
            self._start(name)

    def assert_right(self) -> None:
        """Look at what the run has left at both."""
        self._check_model(self.pair.bob / "model.json")
        assert (self.pair.alice / "model.json").read_bytes() == (self.pair.bob / "model.json").read_bytes()
        for folder in (self.pair.alice, self.pair.bob):
            told = (self.pair.folder / f"{folder.name}.err").read_text()
            assert "Traceback" not in told, told
            assert "internal error" not in told, told
            secret = load_secret(folder)
            assert recorded_runs(folder, secret)[-1].state is RunState.DONE
            with read_ledger(folder, secret) as ledger:
                (dealing,) = dealings(ledger.entries())
            self._check_told(dealing)

    def _check_told(self, dealing: Dealings) -> None:
        assert len(dealing.told.copies) == len(dealing.learned.copies) == 1

    def _check_model(self, model: Path) -> None:
        tree = read_tree(model)
        assert tree_json(tree) == tree_json(plain_tree(tree.schema))


class TreeRound(Round):
    """A run of which the tree alone is revealed: no level of it is opened otherwise the second time."""

    def _write_job(self) -> Path:
        return self.pair.write_job(
            method="smc", theta=None, omega=None, reveal="tree", most_bits=1000, test="0", max_depth=3, min_leaf=5
        )

    def _check_told(self, dealing: Dealings) -> None:
        tree = dict(read_tree(self.pair.bob / "model.json").walk())
        for side in (dealing.told, dealing.learned):
            assert not side.tables
            assert {len(path) for _, path, _ in side.opened} == {len(path.terms) for path in tree}
            assert len({path for _, path, _ in side.opened}) == len(tree)

    def _check_model(self, model: Path) -> None:
        tree = read_tree(model)
        assert tree.leaves() == plain_tree(tree.schema, tree.growth, Fraction(0)).leaves()


@dataclass
class OpeningRound(Round):
    """A run of which parties are killed at each opening, when they have heard it and put nothing down.

    Where one is, the other one remembers what was opened; where both are, it is opened again.
    """

    terms: dict[str, object] = field(default_factory=dict)
    turns: tuple[tuple[str, ...], ...] = (("bob", "alice"),)

    def play(self) -> None:
        """Kill the side that hears of an opening for the first time and has its turn, until both have the model."""
        self._prepare()
        for victims in islice(cycle(self.turns), 40):
            try:
                for name in self._commands:
                    self._start(name, **({DIES_AT_OPENINGS: str(self._heard(name))} if name in victims else {}))
                wait_for(partial(self._are_over, victims), 60)
                with suppress(subprocess.TimeoutExpired):
                    for name in victims:
                        self._running[name].wait(1)
                if self._running["bob"].poll() == 0:
                    break
            finally:
                self._kill_all()

    def _are_over(self, victims: tuple[str, ...]) -> bool:
        ended = [name for name, process in self._running.items() if process.poll() is not None]
        return "bob" in ended or any(name in ended for name in victims)

    def _heard(self, name: str) -> Path:
        file = self.pair.folder / f"{name}.heard"
        file.touch()
        return file

    def _write_job(self) -> Path:
        return self.pair.write_job(**self.terms)

    def assert_right(self) -> None:
        """Look at what the run has left at both."""
        heard = [[*map(json.loads, self._heard(name).read_text().splitlines())] for name in ("alice", "bob")]
        assert {name for name, lines in zip(("alice", "bob"), heard, strict=True) if lines} == {*chain(*self.turns)}
        assert (self.pair.alice / "model.json").read_bytes() == (self.pair.bob / "model.json").read_bytes()
        noted = list[Any]()
        for folder in (self.pair.alice, self.pair.bob):
            secret = load_secret(folder)
            assert [each.state for each in recorded_runs(folder, secret)] == [RunState.DONE]
            with read_ledger(folder, secret) as ledger:
                noted += [each.content for each in ledger.entries()]
                assert [len(spent_of(each)) for each in released(ledger.entries()).values()] == [1]
                (dealing,) = dealings(ledger.entries())
            if self.terms["most_bits"] is not None:
                tree = read_tree(folder / "model.json")
                allowance = Allowance(tree.schema, tree.growth.max_depth, cast("int | None", self.terms["omega"]))
                assert list(dealing.on_record.values()) == [allowance.spent(tree)] < [dealing.bits]
        for kind, content in (*heard[0], *heard[1]):
            alike = [each for each in noted if each["kind"] == kind and _about(each) == _about(content)]
            assert alike
            assert all(each[name] == value for each in alike for name, value in content.items())


def _about(content: Mapping[str, Any]) -> list[object]:
    """Return which question an opening answers; None for one that nobody knows the answer of."""
    if "nodes" in content:
        return [[node["path"] for node in content["nodes"] if "window" in node]]
    return [content.get(name) for name in ("what", "paths", "consequents")] if content.get("are") else []


def die_at_openings(heard: Path) -> None:
    """Kill this process when it has heard what was opened and is not in this file, before anything is put down."""
    keep = RunEntries.note

    def note(pages: RunEntries, fact: Fact) -> None:
        opened = isinstance(fact, OpenedFact) and fact.values is not None
        if opened or (isinstance(fact, WindowsFact) and fact.windows is not None):
            said = _said(fact, pages)
            told = {name: each for name, each in to_json(said).items() if name not in {"dataset", "run"}}
            line = json.dumps([_NAMES[type(said)], told], sort_keys=True)
            if line not in heard.read_text().splitlines():
                with heard.open("a") as file:
                    file.write(line + "\n")
                os.kill(os.getpid(), signal.SIGKILL)
        keep(pages, fact)

    setattr(RunEntries, "note", note)  # noqa: B010  # mypy takes a method's place for a method


def _free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return f"127.0.0.1:{found.getsockname()[1]}"


def make_round(trusting: Path, folder: Path, seed: int) -> Round:
    """Make two parties of their own for one round; those of odd seeds reveal the tree alone."""
    kind = TreeRound if seed % 2 else Round
    return kind(easily_killed(make_pair(trusting, folder, table(ALICE), table(BOB))), random.Random(seed))


def make_opening_round(
    trusting: Path, folder: Path, terms: dict[str, object], turns: tuple[tuple[str, ...], ...]
) -> OpeningRound:
    """Make two parties of their own for a round that kills them at its openings."""
    pair = easily_killed(make_pair(trusting, folder, table(ALICE), table(BOB)))
    for party in ("alice", "bob") if "noise" in terms else ():
        pair.edit(party, 'epsilon = "any"', 'epsilon = "1"')
    return OpeningRound(pair, random.Random(1), terms=terms, turns=turns)


def easily_killed(pair: Pair) -> Pair:
    """Let two parties start quickly, and wait for each other less long."""
    for party in ("alice", "bob"):
        pair.edit(party, "patience = 30", "patience = 10")
    return pair


def main(rounds: int, first_seed: int) -> int:
    """Play rounds, and say of each how it went; return the exit code, or raise what a round has found."""
    kills = 0
    with tempfile.TemporaryDirectory() as place:
        trusting = make_trusting(Path(place) / "trusting")
        for seed in range(first_seed, first_seed + rounds):
            one = make_round(trusting, Path(place) / str(seed), seed)
            try:
                one.play()
                one.assert_right()
            except BaseException:
                sys.stderr.write(f"seed {seed}, killed {', '.join(one.kills) or 'nobody'}:\n")
                raise
            kills += len(one.kills)
            sys.stdout.write(f"seed {seed}: killed {', '.join(one.kills) or 'nobody'}, and the tree is plain ID3's\n")
            sys.stdout.flush()
    sys.stdout.write(f"{rounds} rounds, {kills} kills\n")
    return 0


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:3]]
    sys.exit(main(words[0] if words else 100, words[1] if len(words) > 1 else secrets.randbelow(10**6)))
