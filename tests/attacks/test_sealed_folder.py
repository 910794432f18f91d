"""Somebody has a copy of a party's folder, as from a stolen disk or a backup: what it opens, sealed and not."""

import base64
import json
import shutil
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from party.errors import IdentityError
from party.keys.certificates import Peer, about, parse_certificate
from party.keys.identity import Identity, load_identity, load_peers
from party.keys.keystore import load_secret
from party.keys.passphrase import write_secret
from party.keys.sealing import read_party_secret
from party.transport.grpc.server import NodeServer
from party.transport.grpc.status import WIRE_VERSION
from tests.integration.test_rpc_identity import OPEN
from tests.support.processes import Pair, cotally, cotally_here, finish, make_pair, serving
from tests.support.rpc import stub

PHRASE = "nine small grey herons"
ROWS = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(200)]


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


def test_files_without_the_passphrase_tell_no_secret_and_connect_nobody(
    pair: Pair, phrase: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, coins = load_identity(pair.bob), load_secret(pair.bob)
    stolen = tmp_path / "stolen before"
    shutil.copytree(pair.bob, stolen)
    assert holds(stolen, coins)  # from files in the clear all is had
    assert key_number(load_identity(stolen)) == key_number(bob)
    monkeypatch.setenv("COTALLY_PASSPHRASE_FILE", str(phrase))
    sealed = cotally("keys", "seal", str(pair.bob))
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


@pytest.mark.parametrize("given", ["none", "wrong"])
@pytest.mark.parametrize("command", ["train", "serve", "check", "doctor", "ledger"])
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
    made = cotally("init", "carol", "--dir", str(folder), "--key-bits", "2048", "--seal", "passphrase")
    assert made.code == 0, made.err
    assert sorted(path.name for path in folder.iterdir()) == ["cert.pem", "party.toml", "sealed.keys"]
    assert load_pem_private_key(load_identity(folder).key_pem, None)
    renewed = cotally("keys", "renew", str(folder))
    assert renewed.code == 0, renewed.err


def test_the_systems_keyring_opens_a_folder_and_without_it_nothing_does(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.support.keyring_in_a_file.FileKeyring")
    monkeypatch.setenv("COTALLY_TEST_KEYRING", str(tmp_path / "keyring.json"))
    coins = load_secret(pair.bob)
    assert cotally("keys", "seal", str(pair.bob), "--by", "keyring").code == 0
    assert not holds(pair.bob, coins)
    assert cotally("check", str(pair.bob / "party.toml")).code == 0
    (tmp_path / "keyring.json").rename(tmp_path / "another machine")
    refused = cotally("check", str(pair.bob / "party.toml"))
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "is sealed by a keyring that is not this one" in refused.err
    (tmp_path / "another machine").rename(tmp_path / "keyring.json")
    copied = (pair.bob / "sealed.keys").read_bytes()
    assert list(json.loads((tmp_path / "keyring.json").read_text())), "the control: until then it holds the passphrase"
    assert cotally("keys", "unseal", str(pair.bob)).code == 0
    assert load_secret(pair.bob) == coins
    assert json.loads((tmp_path / "keyring.json").read_text()) == {}
    write_secret(tmp_path / "sealed.keys", copied)
    with pytest.raises(IdentityError, match="a keyring that is not this one"):
        read_party_secret(tmp_path, "secret.key")
