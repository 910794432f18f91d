"""What the benchmarks share: two real parties over a slow line, their costs, and one way to write results."""

import argparse
import json
import os
import platform
import resource
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from phe.paillier import PaillierPublicKey, generate_paillier_keypair

from party.demo.data import Halves
from party.demo.folders import config_path, write_job, write_parties
from party.demo.options import DemoOptions
from party.demo.processes import PartyProcess, free_port, run_together
from party.models.tree_file import read_tree
from party.records.run_file import TrainReport
from protocols.learning.tree import Tree
from protocols.terms import Counting, Method, Window

OPTIONS = DemoOptions(
    data="tic-tac-toe",
    rows=None,
    omegas=(1,),
    theta=Fraction(2, 3),
    key_bits=3072,
    test=Fraction(1, 5),
    seed=1,
    out=Path("unused"),
    ways=(Counting.OBLIVIOUS_TRANSFER,),
)


@dataclass(frozen=True)
class Line:
    """A network: delay one way in seconds, bits per second; zeros mean none."""

    delay: float = 0.0
    rate: float = 0.0


FAR = Line(delay=0.02, rate=1e8)


@dataclass(frozen=True)
class Run:
    """One run of two processes.

    Args:
        report: The trainer's.
        peak_memory_bytes: The most that either process has had.
        processor_seconds: Of both processes and their workers, from their start to their end.
        tree: The model.
    """

    report: TrainReport
    peak_memory_bytes: int
    processor_seconds: float
    tree: Tree

    @property
    def megabytes(self) -> float:
        """What crossed the line, both ways."""
        return (self.report.bytes_sent + self.report.bytes_received) / 1e6

    @property
    def memory_mib(self) -> float:
        return self.peak_memory_bytes / 2**20


def machine() -> dict[str, object]:
    model = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.machine()
    )
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def phe_seconds(key_bits: int, sample: int) -> float:
    """Return the time of one textbook encryption by `phe`."""
    key: PaillierPublicKey = generate_paillier_keypair(n_length=key_bits)[0]
    started = time.perf_counter()
    for bit in range(sample):
        key.raw_encrypt(bit % 2)
    return (time.perf_counter() - started) / sample


def measure_run(
    halves: Halves,
    method: Method,
    omega: Window,
    line: Line | None = None,
    prepare: Callable[[Path], None] | None = None,
    options: DemoOptions = OPTIONS,
) -> Run:
    """Let two processes make one run."""
    with tempfile.TemporaryDirectory() as folder:
        root, port = Path(folder), free_port()
        write_parties(root, halves, options, port)
        if prepare is not None:
            prepare(root)
        with slow_line(port, line) as entry:
            config = config_path(root, "alice")
            config.write_text(config.read_text().replace(f":{port}", f":{entry}"))
            job = write_job(root / "alice", "run", options.terms(method, omega, halves.class_name))
            before = children_seconds()
            with (
                PartyProcess(root / "bob") as bob,
                PartyProcess(root / "alice") as alice,
                _watched(alice, bob) as peaks,
            ):
                report = run_together(bob, alice, job, "model.json", lambda _: None)
        return Run(
            report,
            max(peaks.values()),
            children_seconds() - before,
            read_tree(root / "alice" / "model.json"),
        )


def children_seconds() -> float:
    """Return the processor time of all processes that we started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _watched(*processes: PartyProcess) -> Iterator[dict[int, int]]:
    """Sample the peak memory of processes, by a thread."""
    peaks: dict[int, int] = {}
    done = threading.Event()

    def sample() -> None:
        while not done.wait(0.2):
            for process in processes:
                peaks[process.pid] = max(peaks.get(process.pid, 0), _peak_memory(process.pid))

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    yield peaks
    done.set()
    thread.join()


def _peak_memory(pid: int) -> int:
    """Return the most memory that a process has had, in bytes (Linux)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


@contextmanager
def slow_line(port: int, line: Line | None) -> Iterator[int]:
    """Give a port that leads to `port` through a line with this delay and rate."""
    if line is None:
        yield port
        return
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_accept, args=(listener, port, line), daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def _accept(listener: socket.socket, port: int, line: Line) -> None:
    while True:
        try:
            near, _ = listener.accept()
        except OSError:
            return
        try:
            far = socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:  # who calls tries again
            near.close()
            continue
        for each in (near, far):  # or the kernel keeps small pieces back until what went before is acknowledged
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=_carry, args=(source, sink, line), daemon=True).start()


def _carry(source: socket.socket, sink: socket.socket, line: Line) -> None:
    """Move bytes one way: a piece leaves when the line is free, and arrives `delay` later."""
    pieces: list[tuple[float, bytes]] = []
    ready = threading.Condition()

    def deliver() -> None:
        while True:
            with ready:
                ready.wait_for(lambda: pieces)
                due, data = pieces.pop(0)
                ready.notify()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                sink.sendall(data) if data else sink.shutdown(socket.SHUT_WR)
            except OSError:
                return
            if not data:
                return

    threading.Thread(target=deliver, daemon=True).start()
    free = time.monotonic()
    while True:
        try:
            data = source.recv(16384)
        except OSError:
            data = b""
        free = max(free, time.monotonic()) + (8 * len(data) / line.rate if line.rate else 0.0)
        time.sleep(max(0.0, free - time.monotonic()))
        with ready:
            ready.wait_for(lambda: len(pieces) < 4096)
            pieces.append((free + line.delay, data))
            ready.notify()
        if not data:
            return


def make_parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the small form that the tests run")
    parser.add_argument("--out", type=Path, help="the results as JSON")
    return parser


def publish(rows: Sequence[Mapping[str, object]], out: Path | None) -> None:
    """Print a table, and write machine and rows as JSON."""
    heads = list(dict.fromkeys(key for row in rows for key in row if not isinstance(row[key], dict)))
    cells = [heads, *([_text(row.get(head)) for head in heads] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(heads))]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    if out is not None:
        out.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
