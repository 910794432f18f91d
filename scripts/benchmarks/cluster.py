#!/usr/bin/env python
"""A run on Dask beside the same run on the pool of this machine: time, and whether both give the same model.

Each party has a scheduler and as many workers of its own as its pool has processes, all on this machine. Counts are
made by dot products, of which workers encrypt, and by oblivious transfer, of which blocks of records are tasks and
threads the pool; the tree is plain ID3's. `of_pool` must be at most 1.3 where workers encrypt.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from _lab import OPTIONS, Run, make_parser, measure_run, publish, say
from growth import generate

from party.demo.data import PARTIES
from protocols.terms import ALL, Counting, Method

ROOT = Path(__file__).parent.parent.parent
START_SECONDS = 60


@contextmanager
def running(workers: int) -> Iterator[str]:
    """Give the address of a cluster of this machine with this many workers of a thread each."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "scheduler.json"

        def start(kind: str, *more: str) -> None:
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(file)]
            command += ["--host", "127.0.0.1", "--no-dashboard", *more]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=folder, env=environment)
            stack.callback(process.wait)
            stack.callback(process.kill)

        start("scheduler", "--port", "0")
        for _ in range(workers):
            start("worker", "--nthreads", "1", "--no-nanny")
        yield _address(file)


def _address(file: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while not (file.is_file() and file.read_text().endswith("}")):
        if time.monotonic() > deadline:
            raise SystemExit("Dask's scheduler does not start: pip install '.[cluster]'")
        time.sleep(0.1)
    return str(json.loads(file.read_text())["address"]).replace("tcp://", "dask://")


def use(setting: dict[str, str]) -> Callable[[Path], None]:
    """Return what writes each party's line of `[compute]`."""

    def write(root: Path) -> None:
        for party, line in setting.items():
            path = root / party / "party.toml"
            path.write_text(f"{path.read_text()}\n[compute]\n{line}\n")

    return write


def measure(records: int, workers: int, key_bits: int, counting: Counting) -> list[dict[str, object]]:
    options = replace(OPTIONS, ways=(counting,), key_bits=key_bits, max_depth=2)
    halves = generate(records, 10)

    def run(prepare: Callable[[Path], None]) -> Run:
        return measure_run(halves, Method.SMC, ALL, prepare=prepare, options=options)

    say(f"{records} records, {counting.value}, pool ...")
    pool = run(use(dict.fromkeys(PARTIES, f"workers = {workers}")))
    say(f"{records} records, {counting.value}, Dask ...")
    with ExitStack() as stack:
        addresses = {party: stack.enter_context(running(workers)) for party in PARTIES}
        dask = run(use({party: f'on = "{address}"' for party, address in addresses.items()}))
    return [
        {
            "on": name,
            "counting": counting.value,
            "records": records,
            "workers": workers,
            "seconds": each.report.seconds,
            "of_pool": each.report.seconds / pool.report.seconds,
            "megabytes": each.megabytes,
            "memory_mib": each.memory_mib,
            "same_model": each.tree == pool.tree,
        }
        for name, each in (("pool", pool), ("Dask", dask))
    ]


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--records", type=int, default=10**4, help="of the generated table (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="of each party (default: %(default)s)")
    arguments = parser.parse_args()
    records, key_bits = (300, 2048) if arguments.quick else (arguments.records, 3072)
    workers = 1 if arguments.quick else arguments.workers
    rows = [row for counting in Counting for row in measure(records, workers, key_bits, counting)]
    publish(rows, arguments.out)
    sys.exit(not all(row["same_model"] for row in rows))


if __name__ == "__main__":
    main()
