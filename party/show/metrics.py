"""What `serve --metrics` shows a monitoring system over HTTP (extra `metrics`): what a node does, and none of its data.

A label is a word of this program: the page names no party, run, column, value or person, whatever a peer sends.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from socket import SHUT_RDWR, socket
from threading import BoundedSemaphore, Timer
from typing import Any, Final

from party.errors import exit_code
from party.keys.certificates import Peer, utc_now
from party.names import LOOPBACK, Address
from party.records.ledger import entries_said
from party.transport.channel import Channel, Traffic
from protocols.errors import CotallyError, InputError, NotApprovedError
from protocols.role import Phase, Progress

WAITING: Final = "waiting"
MOST_CALLERS: Final = 8
CALL_SECONDS: Final = 10.0
"""How many connections are open at once, and how long in all: each takes a thread and a file of the node's."""
_NOT_APPROVED: Final = "approval"
_CODES: Final = (*map(str, range(6)), _NOT_APPROVED)
"""What a session may end with: the exit codes of SYMPTOMS.md, and that people have not approved its job."""
_NOTHING: Final = Traffic()
NumbersByLabel = tuple[str, str, str, Mapping[str, float]]
"""Name, what it is, the name of its label (or nothing), and the numbers by label."""


@dataclass(repr=False)
class Watched:
    """A node in numbers, which are taken when somebody asks.

    `since_contact` returns how many seconds ago the peer called; None if it has not.
    """

    folder: Path
    certificates: Callable[[], Sequence[Peer]]
    since_contact: Callable[[], float | None]
    _ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_CODES, 0), init=False)
    _phase: Phase | None = field(default=None, init=False)
    _traffic: tuple[int, int, Traffic] = field(default=(0, 0, _NOTHING), init=False)
    """Bytes sent and received in sessions that have ended, and those of the present one: changed at once."""

    def following(self, on_progress: Callable[[Progress], None]) -> Callable[[Progress], None]:
        """Return what takes note of the phase, and passes progress on."""

        def follow(progress: Progress) -> None:
            self._phase = progress.phase
            on_progress(progress)

        return follow

    @contextmanager
    def session(self, channel: Channel) -> Iterator[None]:
        """Count a session by how it ends; one that the node's own end cuts off counts as nothing."""
        self._traffic = (*self._bytes(), channel.traffic)
        try:
            yield
            self._ended["0"] += 1
        except NotApprovedError:
            self._ended[_NOT_APPROVED] += 1
            raise
        except Exception as error:
            self._ended[str(exit_code(error) if isinstance(error, CotallyError) else 1)] += 1
            raise
        finally:
            self._phase = None
            self._traffic = (*self._bytes(), _NOTHING)

    def _bytes(self) -> tuple[int, int]:
        sent, received, now = self._traffic
        return sent + now.bytes_sent, received + now.bytes_received

    def rows(self) -> Iterator[NumbersByLabel]:
        """Yield all numbers; what cannot be read now is left out."""
        what = "Sessions that have ended, by exit code, or as people have not approved the job"
        yield "cotally_sessions_total", what, "code", self._ended
        now = WAITING if self._phase is None else self._phase.name.lower()
        phases = [WAITING, *(each.name.lower() for each in Phase)]
        yield "cotally_phase", "1 for what the node is busy with", "phase", {each: each == now for each in phases}
        crossed = dict(zip(("sent", "received"), self._bytes(), strict=True))
        yield "cotally_bytes_total", "Bytes of messages", "direction", crossed
        if (since := self.since_contact()) is not None:
            yield "cotally_contact_age_seconds", "Seconds since the peer has called", "", {"": since}
        left = [(each.certificate.not_valid_after_utc - utc_now()) / timedelta(days=1) for each in self.certificates()]
        of = dict(zip(("own", "peer"), left, strict=True))
        yield "cotally_certificate_days", "Days until certificates expire", "of", of
        with suppress(InputError):
            yield "cotally_ledger_entries", "Entries of the ledger", "", {"": entries_said(self.folder)}


def metrics_line(address: Address) -> str:
    return f"Metrics are at http://{address}/metrics"


@contextmanager
def shown_over_http(watched: Watched, address: Address) -> Iterator[Address]:
    """Show the numbers at an address, without TLS or password, in the form that Prometheus reads, and yield where."""
    try:
        from prometheus_client import CollectorRegistry, Metric, start_http_server  # noqa: PLC0415  # an extra
        from prometheus_client.registry import Collector  # noqa: PLC0415
    except ImportError:
        raise InputError("metrics need prometheus-client: pip install '.[metrics]' in cotally's clone") from None

    class Page(Collector):
        def collect(self) -> Iterator[Metric]:
            for name, what, label, numbers in watched.rows():
                metric = Metric(name.removesuffix("_total"), what, "counter" if name.endswith("_total") else "gauge")
                for word, number in numbers.items():
                    metric.add_sample(name, {label: word} if label else {}, float(number))
                yield metric

    registry = CollectorRegistry()
    registry.register(Page())
    try:
        server, thread = start_http_server(address.port, address.host, registry)
    except OSError as error:
        reason = error.strerror or "the address is not usable"
        raise InputError(f"cannot show metrics at {address}: {reason}: name another by --metrics") from None
    _bound(server)
    where = Address(address.host, server.server_port)
    if where.host in LOOPBACK or where.host.startswith("127."):
        server.set_app(_asked_by_its_address(server.get_app(), where))
    try:
        yield where
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _asked_by_its_address(page: Any, where: Address) -> Callable[..., Any]:
    """Return a page that only who asks for this address sees: a website may let its own name lead to this machine."""
    names = {str(Address(host, where.port)) for host in ("localhost", where.host)}

    def answer(asked: Mapping[str, str], begin: Callable[..., object]) -> Any:
        name = asked.get("HTTP_HOST", "").lower()
        if not names.isdisjoint((name, f"{name}:80")):
            return page(asked, begin)
        begin("421 Misdirected Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"Ask for this page as http://{where}/metrics\n".encode()]

    return answer


def _bound(server: Any) -> None:  # of a class that its package makes
    """Let a server take few connections at once, each for a short time in all, and print nothing of how they end."""
    free, begin, serve = BoundedSemaphore(MOST_CALLERS), server.process_request, server.process_request_thread

    def begin_if_free(request: socket, caller: object) -> None:
        if not free.acquire(blocking=False):
            server.shutdown_request(request)
            return
        try:
            begin(request, caller)
        except RuntimeError:  # no thread is left
            free.release()
            raise

    def serve_until_cut(request: socket, caller: object) -> None:
        cut = Timer(CALL_SECONDS, _shut, [request])
        cut.daemon = True
        try:
            cut.start()
            serve(request, caller)
        finally:
            cut.cancel()
            free.release()

    server.process_request, server.process_request_thread = begin_if_free, serve_until_cut
    server.handle_error = lambda *_: None


def _shut(request: socket) -> None:
    with suppress(OSError):  # it has ended just now
        request.shutdown(SHUT_RDWR)
