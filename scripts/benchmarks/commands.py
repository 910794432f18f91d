#!/usr/bin/env python
"""What commands take: the demo by the clock, the start of commands in processor time, and room on the disk.

The start is the least of five. The disk is what a node's pinned packages and ours take, without compiled files.
Beside them is what `rehearse --data adult` says of a fifth level. The small form has no demo.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from _lab import children_seconds, make_parser, publish, say

TOP = Path(__file__).parents[2]
PROGRAM = str(Path(sys.executable).parent / "cotally")
STARTS = {"cotally": [PROGRAM], "train --help": [PROGRAM, "train", "--help"], "status": [PROGRAM, "status", "alice"]}
IMPORTS = [sys.executable, "-c", "import party.cli.train"]
FAST = ["--ways", "oblivious_transfer"]


def started(command: list[str], folder: Path, times: int) -> float:
    """Return the least processor time of a command."""
    took = []
    for _ in range(times):
        before = children_seconds()
        subprocess.run(command, cwd=folder, check=False, capture_output=True)
        took.append(children_seconds() - before)
    return min(took)


def demo(folder: Path, words: list[str]) -> float:
    """Return how long the demo takes, by the clock."""
    say(f"demo {' '.join(words)} ...")
    begun = time.perf_counter()
    subprocess.run([PROGRAM, "demo", *words, "--out", folder], check=True, capture_output=True)
    return time.perf_counter() - begun


def rehearse(folder: Path, data: str) -> dict[str, object]:
    """Return what four levels and five give, by the job that `init` writes."""
    subprocess.run([PROGRAM, "init", "alice", "--dir", folder], check=True, capture_output=True)
    command: list[str | Path] = [PROGRAM, "rehearse", folder, folder / "job.toml", "--data", data, "--json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    choices = {each["choice"]: each for each in said["choices"]}
    four, five = choices["the job as it is"], choices["max_depth = 5"]
    row: dict[str, object] = {"what": f"rehearse {data}"}
    return row | {
        f"{key}_of_{at}": each[key] for at, each in (("four", four), ("five", five)) for key in ("auc", "bits")
    }


def on_disk(files: Iterable[Path]) -> float:
    """Return the room that files take, in megabytes."""
    return sum(file.stat().st_blocks * 512 for file in files if file.is_file() and file.suffix != ".pyc") / 1e6


def packages() -> Iterable[Path]:
    """Return the files of what a node runs on."""
    for name in re.findall(r"^([\w.-]+)==", (TOP / "scripts/deploy/constraints.txt").read_text(), re.MULTILINE):
        for file in importlib.metadata.distribution(name).files or ():
            yield Path(str(file.locate()))
    for ours in ("party", "protocols"):
        yield from (TOP / ours).rglob("*")


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, words in {} if arguments.quick else {"demo, fast": FAST, "demo": []}.items():
            rows.append({"what": what, "seconds": demo(folder / what, words)})
        rows.append(rehearse(folder / "alice", "votes" if arguments.quick else "adult"))
        times = 1 if arguments.quick else 5
        for what, command in {**STARTS, "imports of train": IMPORTS}.items():
            rows.append({"what": what, "processor": started(command, folder, times)})
    rows.append({"what": "a node's packages", "megabytes": on_disk(packages())})
    publish(rows, arguments.out)


if __name__ == "__main__":
    main()
