"""Somebody has a copy of a party's folder, as from a stolen disk or a backup: what it opens, sealed and not.

And what somebody learns whom a party has not pinned: at the port of a node, and at the address that `doctor` calls.
"""

import base64
import contextlib
import json
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from keyring.core import load_keyring

from party.errors import IdentityError
from party.keys import sealing
from party.keys.certificates import Peer, about, parse_certificate
from party.keys.identity import Identity, load_identity, load_peers
from party.keys.keystore import load_secret
from party.keys.passphrase import write_secret
from party.keys.sealing import read_party_secret
from party.transport.grpc.probe import own_release, probe
from party.transport.grpc.server import NodeServer
from tests.integration.test_rpc_identity import OPEN
from tests.support.examples import few
from tests.support.identities import create_identity
from tests.support.processes import Pair, cotally_here, finish, make_pair, serving
from tests.support.rpc import WIRE_VERSION, stub

PHRASE = "nine small grey herons"
CHEAP = 1 << 10
ROWS = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(200)]


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scrypt be cheap in this process: what a guess costs is no matter of these tests."""
    monkeypatch.setattr(sealing, "_COST", CHEAP)


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    return make_pair(trusting, tmp_path / "parties", (["a", "class"], ROWS), (["c"], [[row[0]] for row in ROWS]))


def write_phrase(folder: Path) -> Path:
    path = folder / "phrase"
    path.write_text(PHRASE + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def phrase(tmp_path: Path) -> Path:
    return write_phrase(tmp_path)


@pytest.fixture(scope="session")
def sealed(trusting: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two parties of which Bob is sealed: to copy, never to run in."""
    place = tmp_path_factory.mktemp("sealed")
    pair = make_pair(trusting, place / "parties", (["a", "class"], ROWS), (["c"], [[row[0]] for row in ROWS]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sealing, "_COST", CHEAP)
        patched.setenv("COTALLY_PASSPHRASE_FILE", str(write_phrase(place)))
        ended = cotally_here("keys", "seal", str(pair.bob))
    assert ended.code == 0, ended.err
    return pair.folder


def holds(folder: Path, secret: bytes) -> bool:
    """Tell whether a secret can be read from any file, in one of the ways in which bytes are written."""
    looks = {secret, secret.hex().encode(), secret.hex().upper().encode(), base64.b64encode(secret)[:-4]}
    return any(look in path.read_bytes() for path in folder.rglob("*") if path.is_file() for look in looks)


def key_number(own: Identity) -> bytes:
    return own.key.private_numbers().private_value.to_bytes(32, "big")


def test_files_without_the_passphrase_show_no_secret_and_connect_nobody(
    pair: Pair, phrase: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, coins = load_identity(pair.bob), load_secret(pair.bob)
    stolen = tmp_path / "stolen before"
    shutil.copytree(pair.bob, stolen)
    assert holds(stolen, coins)  # from files in the clear all is had
    assert key_number(load_identity(stolen)) == key_number(bob)
    monkeypatch.setenv("COTALLY_PASSPHRASE_FILE", str(phrase))
    sealed = cotally_here("keys", "seal", str(pair.bob))
    assert sealed.code == 0, sealed.err
    with serving(pair) as alice:
        trained = pair.train_here(pair.write_job(omega=1))
        assert trained.code == 0, trained.err  # for its owner the sealed folder works, ledger and journal too
        alice.terminate()
        finish(alice)
    stolen = tmp_path / "stolen after"
    shutil.copytree(pair.bob, stolen)
    assert not holds(stolen, coins)
    assert not holds(stolen, key_number(bob))
    assert b"PRIVATE KEY" not in b"".join(path.read_bytes() for path in stolen.rglob("*") if path.is_file())

    pem = (stolen / "cert.pem").read_bytes()
    thief = Identity(*about(parse_certificate(pem, "stolen"), "stolen"), key=ec.generate_private_key(ec.SECP256R1()))
    own, peers = load_identity(pair.alice), load_peers(pair.alice)
    pinned = Peer(own.name, own.fingerprint, own.hosts, own.certificate)
    with NodeServer.listen(own, peers.values(), "127.0.0.1:0") as server:
        with stub(thief, pinned, server.address) as node, pytest.raises(grpc.RpcError):
            node.Open(OPEN, timeout=5)
        with stub(replace(thief, key=bob.key), pinned, server.address) as node:
            assert node.Open(OPEN, timeout=5).version == WIRE_VERSION


@pytest.mark.parametrize(
    ("command", "given"), few(list(product(["train", "serve", "check", "doctor", "ledger"], ["none", "wrong"])), 3)
)
def test_no_command_goes_on_without_the_passphrase_and_each_says_so_in_one_line(
    sealed: Path, tmp_path: Path, phrase: Path, monkeypatch: pytest.MonkeyPatch, command: str, given: str
) -> None:
    pair = Pair(Path(shutil.copytree(sealed, tmp_path / "parties")))
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:9"')
    if given == "wrong":
        phrase.write_text("nine small grey storks")
        monkeypatch.setenv("COTALLY_PASSPHRASE_FILE", str(phrase))
    settings = str(pair.bob / "party.toml")
    words = {"train": [settings, str(pair.write_job())], "ledger": ["show", settings]}.get(command, [settings])
    ended = cotally_here(command, *words)
    lines = [line for line in ended.err.splitlines() if not line.startswith("cotally: note: ")]
    assert ended.code == 2, ended.err
    assert len(lines) == 1, ended.err
    assert ("COTALLY_PASSPHRASE_FILE" if given == "none" else "the passphrase is another") in lines[0]


def test_a_party_that_is_made_sealed_has_never_had_a_key_in_the_clear(
    tmp_path: Path, phrase: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COTALLY_PASSPHRASE_FILE", str(phrase))
    folder = tmp_path / "carol"
    made = cotally_here("init", "carol", "--dir", str(folder), "--key-bits", "2048", "--seal", "passphrase")
    assert made.code == 0, made.err
    of_jobs = {path.name for path in folder.glob("job*.toml")}
    assert {path.name for path in folder.iterdir()} - of_jobs == {"cert.pem", "party.toml", "sealed.keys"}
    assert load_pem_private_key(load_identity(folder).key_pem, None)
    renewed = cotally_here("keys", "renew", str(folder))
    assert renewed.code == 0, renewed.err


def test_the_systems_keyring_opens_a_folder_and_without_it_nothing_does(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyring.core._keyring_backend", load_keyring("tests.support.keyring_in_a_file.FileKeyring"))
    monkeypatch.setenv("COTALLY_TEST_KEYRING", str(tmp_path / "keyring.json"))
    coins = load_secret(pair.bob)
    assert cotally_here("keys", "seal", str(pair.bob), "--by", "keyring").code == 0
    assert not holds(pair.bob, coins)
    assert cotally_here("check", str(pair.bob / "party.toml")).code == 0
    (tmp_path / "keyring.json").rename(tmp_path / "another machine")
    sealing._opened_once.cache_clear()
    refused = cotally_here("check", str(pair.bob / "party.toml"))
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "is sealed by a keyring that is not this one" in refused.err
    (tmp_path / "another machine").rename(tmp_path / "keyring.json")
    copied = (pair.bob / "sealed.keys").read_bytes()
    assert list(json.loads((tmp_path / "keyring.json").read_text())), "the control: until then it holds the passphrase"
    assert cotally_here("keys", "unseal", str(pair.bob)).code == 0
    assert load_secret(pair.bob) == coins
    assert json.loads((tmp_path / "keyring.json").read_text()) == {}
    write_secret(tmp_path / "sealed.keys", copied)
    with pytest.raises(IdentityError, match="a keyring that is not this one"):
        read_party_secret(tmp_path, "secret.key")


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


def presenting(who: Identity | None, folder: Path) -> ssl.SSLContext:
    """Return what speaks TLS to anybody, with this certificate or none."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    if who is not None:
        context.load_cert_chain(*written(who, folder))
    return context


def written(who: Identity, folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "stranger.pem", folder / "stranger.key"
    certificate.write_bytes(who.pem)
    key.write_bytes(who.key_pem)
    return certificate, key


def heard(address: str, context: ssl.SSLContext) -> tuple[bytes | None, bytes]:
    """Call a node as gRPC does; return the certificate and all bytes that it lets be read."""
    host, port = address.rsplit(":", 1)
    read, shown = b"", None
    with (
        contextlib.suppress(ssl.SSLError, ConnectionError, TimeoutError),
        socket.create_connection((host, int(port)), 5) as raw,
        context.wrap_socket(raw) as line,
    ):
        shown = line.getpeercert(binary_form=True)
        line.sendall(PREFACE)
        while more := line.recv(1 << 12):
            read += more
    return shown, read


@pytest.mark.parametrize("stranger", ["with a certificate of its own", "with none"])
def test_a_stranger_at_the_port_sees_the_certificate_and_reads_nothing(
    pair: Pair, tmp_path: Path, stranger: str
) -> None:
    """The control is the pinned peer: it hears release, clock and its name, and reads what the server begins with."""
    alice, bob = load_identity(pair.alice), load_identity(pair.bob)
    carol = create_identity(tmp_path / "carol", "carol") if "own" in stranger else None
    with NodeServer.listen(alice, load_peers(pair.alice).values(), "127.0.0.1:0") as server:
        sight = probe(bob, load_peers(pair.bob)["alice"], server.address, 5)
        assert (sight.release, sight.caller) == (own_release(), "bob")
        assert heard(server.address, presenting(bob, tmp_path))[1]
        shown, read = heard(server.address, presenting(carol, tmp_path))
    assert shown in (None, alice.certificate.public_bytes(Encoding.DER))
    assert read == b""


@contextlib.contextmanager
def impostor(who: Identity, folder: Path, callers: Path) -> Iterator[tuple[str, list[bytes | None], list[bytes]]]:
    """Listen where the peer should, and keep the certificates and the bytes that come."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*written(who, folder))
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(callers)
    context.set_alpn_protocols(["h2"])
    shown: list[bytes | None] = []
    read: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as port:

        def listen() -> None:
            while True:
                try:
                    raw, _ = port.accept()
                except OSError:
                    return
                raw.settimeout(5)
                with raw, contextlib.suppress(OSError), context.wrap_socket(raw, server_side=True) as line:
                    shown.append(line.getpeercert(binary_form=True))
                    read.append(line.recv(1 << 12))

        threading.Thread(target=listen, daemon=True).start()
        yield f"127.0.0.1:{port.getsockname()[1]}", shown, read
        port.shutdown(socket.SHUT_RDWR)


def test_who_answers_in_the_peers_place_hears_of_doctor_at_most_our_certificate(pair: Pair, tmp_path: Path) -> None:
    carol = create_identity(tmp_path / "carol", "carol")
    bob = load_identity(pair.bob)
    ours = bob.certificate.public_bytes(Encoding.DER)
    with impostor(carol, tmp_path, pair.bob / "cert.pem") as (address, shown, read):
        (tmp_path / "control").mkdir()
        heard(address, presenting(bob, tmp_path / "control"))
        assert shown == [ours]  # the control: who speaks to it without looking is read
        assert read == [PREFACE]
        pair.edit("bob", '# address = "alice.example.org:7071"', f'address = "{address}"')
        ended = cotally_here("doctor", str(pair.bob / "party.toml"))
    assert ended.code != 0
    assert set(shown[1:]) <= {None, ours}
    assert b"".join(read[1:]) == b""
