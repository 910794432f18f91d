"""Connections to the collector's server: without a request, unread, with long heads, behind a proxy, with TLS."""

import asyncio
import http.client
import select
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from party.settings.collector import read_collector_settings
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from tests.support.collecting import UNRELATED, add_links, answer_body, collector, write_survey_files

MANY = 600
"""More connections than the server keeps."""
UNFINISHED = b"POST /answer HTTP/1.1\r\nHost: x\r\nX-More: "


def ready_survey(path: Path, number: int) -> list[bytes]:
    """Make the store; return the answers of some respondents."""
    settings = read_collector_settings(path)
    with open_store(settings.store, survey_digest(settings.questionnaire), make=True) as store:
        return [answer_body(settings, code, "000000") for code in add_links(store, number)]


def post(address: str, body: bytes) -> int:
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
        return connection.getresponse().status
    finally:
        connection.close()


@contextmanager
def unfinished_heads(address: str, number: int) -> Iterator[list[socket.socket]]:
    """Open connections that have sent half a head each."""
    host, _, port = address.rpartition(":")
    with ExitStack() as stack:
        lines = []
        for _ in range(number):
            line = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
            line.sendall(UNFINISHED)
            lines.append(line)
        yield lines


PLAIN = """
import socket, uvicorn
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})
line = socket.create_server(("127.0.0.1", 0), backlog=2048)
print("%s:%d" % line.getsockname()[:2], flush=True)
config = uvicorn.Config(app, http="h11", lifespan="off", ws="none", log_level="critical", limit_concurrency=512)
uvicorn.Server(config).run(sockets=[line])
"""


@contextmanager
def plain_server() -> Iterator[str]:
    """Run a server of the same library with the same limit, but its own way with connections."""
    with subprocess.Popen([sys.executable, "-c", PLAIN], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def test_heads_that_never_end_keep_nobody_out(tmp_path: Path) -> None:
    path = write_survey_files(tmp_path, UNRELATED)
    bodies = ready_survey(path, 3)
    with collector(path) as (_, address), unfinished_heads(address, MANY):
        assert [post(address, body) for body in bodies] == [200] * 3


def test_they_keep_everybody_out_of_a_server_that_waits_for_them() -> None:
    """The control: so the attack above is one."""
    with plain_server() as address, unfinished_heads(address, MANY):
        assert post(address, b"") == 503


def test_a_head_that_does_not_end_in_time_is_the_end_of_its_connection(tmp_path: Path) -> None:
    """While it sends a byte now and then, as slow attackers do; a finished request before it changes nothing."""
    path = write_survey_files(tmp_path, UNRELATED)
    ready_survey(path, 1)
    with collector(path) as (_, address), unfinished_heads(address, 2) as lines:
        lines[1].sendall(b"1\r\n\r\n")  # no content type: refused, and the connection stays
        lines[1].settimeout(60)
        assert lines[1].recv(12) == b"HTTP/1.1 400"
        lines[1].sendall(UNFINISHED)
        open_ones = list(lines)
        while open_ones:
            for line in list(open_ones):
                try:
                    line.sendall(b"x")
                    if select.select([line], [], [], 0.2)[0] and line.recv(65536) == b"":
                        open_ones.remove(line)
                except (BrokenPipeError, ConnectionResetError):
                    open_ones.remove(line)


def test_a_request_in_progress_is_not_cut_off_by_others(tmp_path: Path) -> None:
    path = write_survey_files(tmp_path, UNRELATED)
    (body,) = ready_survey(path, 1)
    with collector(path) as (_, address):
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=60) as line:
            line.sendall(
                b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n" % len(body)
            )
            with unfinished_heads(address, MANY):
                line.sendall(body)
                assert line.recv(12) == b"HTTP/1.1 200"


WITH_LIMITS = """
import re, secrets
from pathlib import Path
from party.names import Address
from party.settings.collector import ServerSettings
from party.survey.web.connections import ConnectionLimits
from party.survey.web.server import run_server
PAGE = b"x" * 200_000
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"200000")]})
    await send({"type": "http.response.body", "body": PAGE})
settings = ServerSettings(Address("127.0.0.1", 0), "http://x/", None, None, (), 60, 1)
limits = ConnectionLimits(head_seconds=600, head_bytes=16384, read_seconds=READ_SECONDS, at_once=8)
run_server(app, settings, lambda address: print(address, flush=True), cut=lambda why: print(why.value, flush=True),
           limits=limits)
"""
"""A server of large pages, on which heads have time, and readers so much of it."""
ASKING = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@contextmanager
def server_of_pages(read_seconds: float) -> Iterator[tuple[tuple[str, int], subprocess.Popen[str]]]:
    """Run the server of large pages, for a minute at most; its process prints why it cuts."""
    words = [sys.executable, "-c", WITH_LIMITS.replace("READ_SECONDS", str(read_seconds))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        end = threading.Timer(60, process.kill)
        end.start()
        try:
            host, _, port = said(process).rpartition(":")
            yield (host, int(port)), process
        finally:
            end.cancel()
            process.kill()


def ask_and_read_nothing(line: socket.socket) -> None:
    """Ask for more pages in one connection than all buffers between hold."""
    line.sendall(ASKING * 100)


def said(process: subprocess.Popen[str]) -> str:
    """Return the next line that it prints; nothing if it ends."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def received(line: socket.socket) -> int:
    """Return how many bytes there are to read before the connection's end."""
    total = 0
    try:
        while part := line.recv(1 << 20):
            total += len(part)
    except ConnectionResetError:
        pass
    return total


def read_page(where: tuple[str, int]) -> int:
    connection = http.client.HTTPConnection(*where, timeout=60)
    try:
        connection.request("GET", "/")
        return len(connection.getresponse().read())
    finally:
        connection.close()


def test_who_reads_nothing_is_cut_off_and_others_are_served() -> None:
    with server_of_pages(0.05) as (where, process), ExitStack() as stack:
        lines = [stack.enter_context(socket.create_connection(where, timeout=5)) for _ in range(7)]
        for line in lines:
            ask_and_read_nothing(line)
        assert [said(process) for _ in lines] == ["unread"] * 7
        assert read_page(where) == 200_000
        assert all(received(line) < 100 * 200_000 for line in lines)


def test_who_reads_in_time_gets_all_that_it_asked_for() -> None:
    """The control: the same calls, and buffers as full, of one that reads."""
    with server_of_pages(600) as (where, _), socket.create_connection(where, timeout=60) as line:
        ask_and_read_nothing(line)
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert received(line) > 101 * 200_000  # with heads


def test_readers_that_wait_make_room_for_others() -> None:
    """More than the server keeps, each with ten minutes to read."""
    with server_of_pages(600) as (where, process), ExitStack() as stack:
        for _ in range(20):
            ask_and_read_nothing(stack.enter_context(socket.create_connection(where, timeout=60)))
            assert read_page(where) == 200_000
        assert said(process) == "unread"


def head_of(size: int) -> bytes:
    return b"GET / HTTP/1.1\r\nHost: x\r\nX-More: " + b"x" * (size - 38) + b"\r\n\r\n"


def status_of(where: tuple[str, int], head: bytes) -> bytes:
    """Send a head wholly, in spite of an answer that comes meanwhile, and return the status line of that answer."""
    with socket.create_connection(where, timeout=60) as line, line.makefile("rb") as answers:
        line.sendall(head)
        return answers.readline().strip()


def test_a_head_is_as_long_as_a_limit_and_one_of_a_megabyte_is_refused() -> None:
    with server_of_pages(600) as (where, process):
        assert status_of(where, head_of(16384)) == b"HTTP/1.1 200 OK"
        for size in (40_000, 200_000, 1_000_000):  # the first two may come in one piece, which ends the head
            assert status_of(where, head_of(size)) == b"HTTP/1.1 431 Request Header Fields Too Large"
            assert said(process) == "long head"
        assert read_page(where) == 200_000


def test_what_is_relied_on_of_the_library_is_there() -> None:
    """No release promises these names of its class: raise the upper bound in pyproject.toml only beside this test."""
    fields = {"client", "conn", "connections", "cycle", "loop", "transport"}
    methods = {"handle_events", "on_response_complete", *dir(asyncio.Protocol)}

    async def nothing(_scope: object, _receive: object, _send: object) -> None: ...

    plain = H11Protocol(uvicorn.Config(nothing), ServerState(), {}, asyncio.new_event_loop())
    assert fields <= set(vars(plain))
    assert methods <= set(dir(H11Protocol))
    needs = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]["collect"]
    assert [each.partition(",<")[2] for each in needs if each.startswith("uvicorn")] == ["0.55"]
