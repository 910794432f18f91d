"""Two real parties: folders made by `cotally init` and `cotally trust`, processes started by the command line.

What a run leaves in a folder (models, releases, factors, settings that a test changed) is seen by the next one. So
tests share no parties that run: each makes its own, which costs a copy of the keys (`make_pair`), or all files are put
back after it (`Pair.restored`).
"""

import csv
import io
import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TextIO
from unittest.mock import patch

from party.cli.main import command_parser, main
from party.settings.job import unused_keys
from protocols.errors import CotallyError
from protocols.terms import LEARNERS, Learner, fixed_terms
from tests.support.forked import Forked

BITS = 2048
_PARSER = cache(command_parser)
JOB = {
    "reveal": "counts", "splits": "values",
    "method": "hybrid", "theta": "2/3", "omega": "all", "counting": "oblivious_transfer",
    "class": "class", "seed": 1, "test": "1/5", "key_bits": BITS, "min_leaf": 1, "max_depth": "any",
}  # fmt: skip
QUIET = ("--progress", "none")
"""Who looks on waits until the machine has been measured."""
Table = tuple[Sequence[str], list[list[str]]]
"""The header without the id, and the rows."""


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    code: int
    out: str
    err: str


@dataclass
class Pair:
    """The folders of two parties; Alice listens, Bob calls."""

    folder: Path
    listening: str = ""
    jobs: int = field(default=0)

    @property
    def alice(self) -> Path:
        return self.folder / "alice"

    @property
    def bob(self) -> Path:
        return self.folder / "bob"

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Put all files back at the end: for parties of which one listens from test to test."""
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        folders = {parent for path in before for parent in path.parents}
        yield
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_dir():
                if path not in folders:
                    path.rmdir()
            elif path not in before:
                path.unlink(missing_ok=True)  # it may be one that is being written, and gets its name at this moment
        for path, content in before.items():
            if path.read_bytes() != content:
                path.write_bytes(content)

    def write_job(self, **changes: object) -> Path:
        """Write a job file of the usual terms that it has a use for, with changes; None leaves a key out."""
        self.jobs += 1
        path = self.folder / f"job-{self.jobs}.toml"
        fixed = fixed_terms(LEARNERS[Learner(str(changes.get("learner", Learner.TREE)))])
        terms = {key: value for key, value in {**JOB, **changes}.items() if value is not None and key not in fixed}
        lines = {key: f"{key} = {json.dumps(value)}\n" for key, value in terms.items()}
        path.write_text("".join(lines.values()))
        with suppress(CotallyError):  # of a job that cannot be read, nothing is known to be of no use
            unused = {*unused_keys(path)} - {*changes}
            path.write_text("".join(line for key, line in lines.items() if key not in unused))
        return path

    def edit(self, party: str, old: str, new: str) -> None:
        """Change a line of a party's settings."""
        path = self.folder / party / "party.toml"
        text = path.read_text()
        assert old in text, old
        path.write_text(text.replace(old, new))

    def train_arguments(self, job: Path, *more: str) -> list[str]:
        outputs = ["--model", str(self.bob / "model.json"), "--report", str(self.bob / "report.json"), "--overwrite"]
        return ["train", str(self.bob / "party.toml"), str(job), *outputs, *more]

    def train(self, job: Path, *more: str, seconds: float = 120) -> Ended:
        """Run Bob to the end."""
        return cotally(*self.train_arguments(job, *QUIET, *more), seconds=seconds)

    def train_here(self, job: Path, *more: str) -> Ended:
        """Run Bob to the end in this process: Alice has one of her own."""
        return cotally_here(*self.train_arguments(job, *QUIET, *more))

    def serve_arguments(self, *more: str) -> list[str]:
        return [
            "serve",
            str(self.alice / "party.toml"),
            "--model",
            str(self.alice / "model.json"),
            "--overwrite",
            *QUIET,
            *more,
        ]


def cotally(*arguments: str, seconds: float = 60, folder: Path | None = None) -> Ended:
    """Run the command to its end, in that folder or here."""
    with start(*arguments, cwd=folder) as process:
        try:
            return finish(process, seconds)
        finally:
            process.kill()


def cotally_here(*arguments: str | Path) -> Ended:
    """Run the command in this process, which spares the start of another and can be looked into."""
    out, err = io.StringIO(), io.StringIO()
    code = run_here(arguments, out, err)
    return Ended(code, out.getvalue(), err.getvalue())


def run_here(arguments: Sequence[str | Path], out: TextIO, err: TextIO) -> int:
    """Run the command in this process and return its exit code; its words are declared once for all tests."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with redirect_stdout(out), redirect_stderr(err), patch("party.cli.main.command_parser", _PARSER):
            return main([str(argument) for argument in arguments])
    except SystemExit as end:
        return int(str(end.code))
    finally:
        signal.signal(signal.SIGTERM, handler)


def start(*arguments: str, **how: Any) -> subprocess.Popen[str]:
    """Start the command and go on; `how` is of `subprocess.Popen`."""
    return Forked(arguments, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how)


def finish(process: subprocess.Popen[str], seconds: float = 60) -> Ended:
    """Wait for a process that was started."""
    out, err = process.communicate(timeout=seconds)
    return Ended(process.returncode, out, err)


def until_growing(process: subprocess.Popen[str]) -> None:
    """Read what a party says until the tree is being grown: copies and coins are there, and some counts."""
    assert process.stderr is not None
    assert any("growing the tree" in line for line in process.stderr)


def write_table(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a CSV file whose first column is the id, ascending."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *header])
        writer.writerows([f"p{number:06}", *row] for number, row in enumerate(rows))


def make_trusting(folder: Path) -> Path:
    """Make Alice and Bob, who trust each other and have no data, by the command, for `make_pair` to copy."""
    made = [cotally_here("init", name, "--dir", folder / name, "--key-bits", str(BITS)) for name in ("alice", "bob")]
    for own, other in (("alice", "bob"), ("bob", "alice")):
        made.append(cotally_here("trust", folder / own, folder / other / "cert.pem"))
    for ended in made:
        assert ended.code == 0, ended.err
    return folder


def make_pair(trusting: Path, folder: Path, alice: Table, bob: Table) -> Pair:
    """Give the parties of that folder their tables, in a new folder; the old one stays as it is.

    No party starts workers: these have tests of their own, and take as long to start as the party itself.
    """
    pair = Pair(Path(shutil.copytree(trusting, folder)))
    for name, peer, (header, rows) in (("alice", "bob", alice), ("bob", "alice", bob)):
        pair.edit(name, "min_leaf = 5", "min_leaf = 1")  # the papers' tree
        pair.edit(name, "most_runs = 1", 'most_runs = "any"')
        pair.edit(name, "exact_counts = false", "exact_counts = true")
        pair.edit(name, 'most_bits = "n/50"', 'most_bits = "any"')
        pair.edit(name, "workers = 0", "workers = 1")
        pair.edit(name, "silence = 3600", "silence = 60")  # a run that hangs ends within a minute
        write_table(folder / name / "data.csv", header, rows)
        if "class" in header:
            pair.edit(name, '# class = "outcome"', 'class = "class"')
        pair.edit(name, f'# peer = "{peer}"', f'peer = "{peer}"')
    pair.edit("alice", 'listen = "0.0.0.0:7071"', 'listen = "127.0.0.1:0"')
    return pair


@contextmanager
def serving(pair: Pair, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Let Alice listen, and tell Bob where; end her if she still runs."""
    process = start(*pair.serve_arguments(*more))
    try:
        assert process.stderr is not None
        told = ""
        while not (found := re.search(r"listens on (\S+)", told)) and (line := process.stderr.readline()):
            told += line
        assert found, told
        old = f'address = "{pair.listening}"' if pair.listening else '# address = "alice.example.org:7071"'
        pair.listening = found[1]
        pair.edit("bob", old, f'address = "{pair.listening}"')
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def wait_for(condition: "object", seconds: float = 30) -> None:
    """Wait until a callable is true."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def assert_one_line(ended: Ended, code: int, *words: str) -> None:
    """Make sure that a command ended with one line of error, in which these words are."""
    assert ended.code == code, ended.err
    assert ended.err.startswith("cotally: ")
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err
    assert not ended.out
    for word in words:
        assert word in ended.err


def assert_one_error(ended: Ended, code: int, *words: str) -> None:
    """Make sure that a command ended with one line of error, in which these words are; it may have said more before."""
    assert ended.code == code, ended.err
    lines = [line for line in ended.err.splitlines() if re.match("cotally: (?!note: )", line)]
    assert len(lines) == 1, ended.err
    assert "Traceback" not in ended.err
    for word in words:
        assert word in lines[0], lines[0]
