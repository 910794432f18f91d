"""Numbers of a node over HTTP, in the form that Prometheus reads (extra `metrics`), for few callers at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, socket
from threading import BoundedSemaphore, Timer
from typing import Any, Final

from party.names import LOOPBACK, Address
from protocols.errors import InputError

MOST_CALLERS: Final = 8
CALL_SECONDS: Final = 10.0
"""How many connections are open at once, and how long in all: each takes a thread and a file of the node's."""
NumbersByLabel = tuple[str, str, str, Mapping[str, float]]
"""Name, what it is, the name of its label (or nothing), and the numbers by label."""


@contextmanager
def shown_over_http(rows: Callable[[], Iterable[NumbersByLabel]], address: Address) -> Iterator[Address]:
    """Show these numbers at an address, without TLS or password, in the form that Prometheus reads, and yield where."""
    try:
        from prometheus_client import CollectorRegistry, Metric, start_http_server  # noqa: PLC0415  # an extra
        from prometheus_client.registry import Collector  # noqa: PLC0415
    except ImportError:
        raise InputError("metrics need prometheus-client: pip install '.[metrics]' in cotally's clone") from None

    class Page(Collector):
        def collect(self) -> Iterator[Metric]:
            for name, what, label, numbers in rows():
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
        raise InputError(f"cannot show metrics at {address}: {reason}: name another address for metrics") from None
    _limit(server)
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


def _limit(server: Any) -> None:  # of a class that its package makes
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
