"""The collector's server by TLS from files, and behind a proxy, whose word for who calls is taken alone."""

import http.client
import resource
import socket
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from party.keys.identity import make_identity
from party.settings.collector import CollectorSettings, read_collector_settings
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from tests.support.collecting import UNRELATED, add_links, answer_body, collector, write_survey_files
from tests.support.processes import cotally_here

RESPONDENTS = 100
PROXY, RESPONDENT = "127.0.0.1", "127.0.0.2"
needs_a_loopback_network = pytest.mark.skipif(
    sys.platform == "darwin", reason="this system has one loopback address only"
)


def write_pair(folder: Path) -> tuple[Path, Path]:
    """Write a certificate of this machine and its key."""
    identity, paths = make_identity("collector", ["127.0.0.1"]), (folder / "cert.pem", folder / "key.pem")
    paths[0].write_bytes(identity.pem)
    paths[1].write_bytes(identity.key_pem)
    return paths


def tls_survey(folder: Path) -> Path:
    write_pair(folder)
    server = 'certificate = "cert.pem"\nkey = "key.pem"\nrequests = 1000000'
    path = write_survey_files(folder, UNRELATED, server=server)
    path.write_text(path.read_text().replace("http://", "https://"))
    return path


def bodies_of(path: Path, number: int) -> tuple[CollectorSettings, list[bytes]]:
    settings = read_collector_settings(path)
    with open_store(settings.store, survey_digest(settings.questionnaire), make=True) as store:
        return settings, [
            answer_body(settings, code, f"{k % 2:02x}0000") for k, code in enumerate(add_links(store, number))
        ]


def test_answers_of_many_come_by_tls_under_the_certificate_of_the_files(tmp_path: Path) -> None:
    path = tls_survey(tmp_path)
    settings, bodies = bodies_of(path, RESPONDENTS)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with collector(path) as (_, address):

        def post(body: bytes) -> tuple[int, str | None]:
            connection = http.client.HTTPSConnection(address, timeout=60, context=trusting)
            try:
                connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                return reply.status, reply.headers["Strict-Transport-Security"]
            finally:
                connection.close()

        with ThreadPoolExecutor(16) as pool:
            assert set(pool.map(post, bodies)) == {(200, "max-age=31536000")}
        with pytest.raises(ssl.SSLCertVerificationError):
            _handshake(address, ssl.create_default_context())
        with pytest.raises((http.client.HTTPException, OSError)):
            call(address, "GET", "/", PROXY)
    with open_store(settings.store, survey_digest(settings.questionnaire)) as store:
        assert store.responses() == sorted(bytes([k % 2, 0, 0]) for k in range(RESPONDENTS))


@pytest.mark.skipif(sys.platform != "linux", reason="limits the files of another process")
def test_handshakes_that_never_begin_keep_nobody_out(tmp_path: Path) -> None:
    """More of them than the server may have files open: it would accept nobody until they are late."""
    path = tls_survey(tmp_path)
    _, (body,) = bodies_of(path, 1)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with collector(path) as (process, address), ExitStack() as stack:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (700, 700))
        host, _, port = address.rpartition(":")
        for _ in range(800):
            stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
        connection = http.client.HTTPSConnection(address, timeout=5, context=trusting)
        stack.callback(connection.close)
        connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
        assert connection.getresponse().status == 200


HOSTILE = {
    "nothing": b"",
    "no TLS": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "half a record": b"\x16\x03\x01\x02\x00\x01",
    "a record of nothing": b"\x16\x03\x01\x00\x00",
    "a record too long": b"\x16\x03\x01\xff\xff" + bytes(70_000),
    "an alert": b"\x15\x03\x01\x00\x02\x02\x28",
    "data first": b"\x17\x03\x03\x00\x05hello",
}


def test_hostile_bytes_in_place_of_a_handshake_leave_it_serving_and_silent(tmp_path: Path) -> None:
    path = tls_survey(tmp_path)
    _, (body,) = bodies_of(path, 1)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with collector(path) as (process, address):
        host, _, port = address.rpartition(":")
        for data in HOSTILE.values():
            for ending in (socket.SHUT_WR, socket.SHUT_RDWR):
                with socket.create_connection((host, int(port)), timeout=30) as line, suppress(OSError):
                    line.sendall(data)
                    line.shutdown(ending)
                    assert not line.recv(100).startswith(b"HTTP")
            with socket.create_connection((host, int(port)), timeout=30) as line:  # it hangs up after a handshake
                trusting.wrap_socket(line, server_hostname=host, suppress_ragged_eofs=True).unwrap()
        connection = http.client.HTTPSConnection(address, timeout=60, context=trusting)
        connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
        assert connection.getresponse().status == 200
        connection.close()
        process.terminate()
        assert process.wait() in (0, 143)
        assert process.stderr is not None
        said = [line for line in process.stderr.read().splitlines() if "SHA-256" not in line]
        assert said in ([], ["cotally: stopped by SIGTERM"])


def _handshake(address: str, context: ssl.SSLContext) -> None:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as line:
        context.wrap_socket(line, server_hostname=host).close()


@pytest.mark.parametrize("fault", ["no key", "another key", "a locked key", "no certificate"])
def test_a_certificate_that_cannot_be_used_is_one_line(tmp_path: Path, fault: str) -> None:
    path = tls_survey(tmp_path)
    bodies_of(path, 1)
    other = tmp_path / "other"
    other.mkdir()
    _, key = write_pair(other)
    if fault == "no key":
        (tmp_path / "key.pem").unlink()
    elif fault == "another key":
        key.replace(tmp_path / "key.pem")
    elif fault == "a locked key":
        locked = load_pem_private_key((tmp_path / "key.pem").read_bytes(), None).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")
        )
        (tmp_path / "key.pem").write_bytes(locked)
    else:
        (tmp_path / "cert.pem").write_bytes(b"-----BEGIN CERTIFICATE-----\n")
    done = cotally_here("survey", "serve", path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err


@pytest.fixture
def proxied(tmp_path: Path) -> tuple[Path, list[bytes]]:
    """A survey behind a proxy, with two calls per caller."""
    path = write_survey_files(tmp_path, UNRELATED, server=f'proxy = ["{PROXY}"]\nrequests = 2')
    path.write_text(path.read_text().replace('address = "http://', 'address = "https://'))
    return path, bodies_of(path, 8)[1]


def call(address: str, method: str, target: str, source: str, body: bytes = b"", **said: str) -> tuple[int, str]:
    """Call from an address of this machine, with what a proxy says; return the status and where it leads."""
    names = {"forwarded": "X-Forwarded-For", "scheme": "X-Forwarded-Proto"}
    headers = {"Content-Type": "application/json", **{names[name]: value for name, value in said.items()}}
    connection = http.client.HTTPConnection(address, timeout=60, source_address=(source, 0))
    try:
        connection.request(method, target, body, headers)
        reply = connection.getresponse()
        return reply.status, reply.headers.get("Location", "")
    finally:
        connection.close()


def statuses(address: str, bodies: list[bytes], source: str, said: list[str]) -> list[int]:
    return [
        call(address, "POST", "/answer", source, body, forwarded=text)[0]
        for body, text in zip(bodies, said, strict=True)
    ]


def test_callers_behind_the_proxy_are_told_apart_by_its_word(proxied: tuple[Path, list[bytes]]) -> None:
    path, bodies = proxied
    with collector(path) as (_, address):
        assert statuses(address, bodies[:3], PROXY, ["203.0.113.1"] * 3) == [200, 200, 429]
        assert statuses(address, bodies[3:5], PROXY, ["203.0.113.2", "203.0.113.3"]) == [200, 200]


def test_who_names_others_before_the_proxy_names_the_caller_is_limited_all_the_same(
    proxied: tuple[Path, list[bytes]],
) -> None:
    path, bodies = proxied
    said = [f"198.51.100.{k}, 203.0.113.1" for k in range(3)]  # the proxy adds the last
    with collector(path) as (_, address):
        assert statuses(address, bodies[:3], PROXY, said) == [200, 200, 429]


@needs_a_loopback_network
def test_the_word_of_anybody_else_is_not_taken(proxied: tuple[Path, list[bytes]]) -> None:
    path, bodies = proxied
    with collector(path) as (_, address):
        assert statuses(address, bodies[:3], RESPONDENT, [f"203.0.113.{k}" for k in range(3)]) == [200, 200, 429]
        assert statuses(address, bodies[3:4], PROXY, ["203.0.113.1"]) == [200]


def test_without_a_declared_proxy_nobodys_word_is_taken(tmp_path: Path) -> None:
    path = write_survey_files(tmp_path, UNRELATED, server="requests = 2")
    _, bodies = bodies_of(path, 3)
    with collector(path) as (_, address):
        assert statuses(address, bodies, PROXY, [f"203.0.113.{k}" for k in range(3)]) == [200, 200, 429]


@needs_a_loopback_network
def test_the_scheme_is_the_proxys_word_too(proxied: tuple[Path, list[bytes]]) -> None:
    path, _ = proxied
    with collector(path) as (_, address):
        leads = [call(address, "GET", "/form/", source, scheme="https") for source in (PROXY, RESPONDENT)]
    assert leads == [(307, f"https://{address}/form"), (307, f"http://{address}/form")]
