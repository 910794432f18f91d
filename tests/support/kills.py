"""Rounds in which real parties are killed at random moments and started again, and must end with plain ID3's tree.

`scripts/kill` plays a hundred; a test plays a few. A round that fails names its seed.
"""

import random
import secrets
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from party.keys.keystore import load_secret
from party.models.tree_file import read_tree, tree_json
from party.records.journal import RunState, recorded_runs
from party.records.ledger import read_ledger
from party.records.tally import Dealings, dealings
from tests.support.forked import Forked
from tests.support.processes import Pair, make_pair, make_trusting
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
        """Kill as chance has it, then let the run end, and look at what it has left."""
        self.pair.edit("alice", 'listen = "127.0.0.1:0"', f'listen = "{_free_address()}"')
        listening = (self.pair.alice / "party.toml").read_text().split('listen = "', 1)[1].split('"', 1)[0]
        self.pair.edit("bob", '# address = "alice.example.org:7071"', f'address = "{listening}"')
        self._commands = {"alice": self.pair.serve_arguments(), "bob": self.pair.train_arguments(self._write_job())}
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
            for process in self._running.values():
                process.kill()
                process.wait()
        self._check()

    def _write_job(self) -> Path:
        return self.pair.write_job(counting=self.chance.choice(["oblivious_transfer", "paillier"]), omega="all")

    def _start(self, name: str) -> None:
        self._starts += 1
        with (self.pair.folder / f"{name}.err").open("a") as told:
            command = [*self._commands[name], "--progress", "none"]
            self._running[name] = Forked(command, stdout=subprocess.DEVNULL, stderr=told)

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

    def _check(self) -> None:
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


def _free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return f"127.0.0.1:{found.getsockname()[1]}"


def make_round(trusting: Path, folder: Path, seed: int) -> Round:
    """Make two parties of their own for one round; those of odd seeds reveal the tree alone."""
    kind = TreeRound if seed % 2 else Round
    return kind(easily_killed(make_pair(trusting, folder, table(ALICE), table(BOB))), random.Random(seed))


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
