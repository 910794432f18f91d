"""Connections to the collector's server: many without a request, behind a proxy, and with TLS."""

import http.client
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

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
