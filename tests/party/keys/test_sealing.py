"""Secrets in a sealed file: what opens it, what does not, and that none is lost on the way."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from keyring.core import load_keyring
from keyring.errors import KeyringLocked

from party.errors import IdentityError
from party.keys import sealing
from party.keys.identity import load_identity
from party.keys.keystore import load_key, load_secret
from party.keys.passphrase import SHORTEST, SOURCES, ask_nobody, asking
from party.keys.sealing import SEALED_FILE, SECRET_FILES, UNSEALED_FILE, seal_keys, unseal_keys
from tests.support.identities import create_identity, create_keys

BITS, PHRASE = 512, "correct horse battery"
TYPED = SOURCES["passphrase"]


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scrypt be cheap: what it costs is no matter of these tests."""
    monkeypatch.setattr(sealing, "_COST", 1 << 10)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    create_identity(tmp_path, "alice")
    create_keys(tmp_path, BITS, floor_bits=BITS)
    with asking(lambda _folder, _new: PHRASE):
        yield tmp_path


def seal_again(folder: Path) -> None:
    seal_keys(folder, TYPED)


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SECRET_FILES if (folder / name).exists()}


def test_a_sealed_folder_gives_the_same_keys_and_holds_none_in_the_clear(folder: Path) -> None:
    before = contents(folder)
    known = load_identity(folder).key_pem, load_secret(folder), repr(load_key(folder, BITS))
    seal_keys(folder, TYPED)
    assert contents(folder) == {}
    assert (folder / SEALED_FILE).stat().st_mode & 0o777 == 0o600
    assert (load_identity(folder).key_pem, load_secret(folder), repr(load_key(folder, BITS))) == known
    unseal_keys(folder)
    assert contents(folder) == before
    assert not (folder / SEALED_FILE).exists()
    assert all((folder / name).stat().st_mode & 0o777 == 0o600 for name in SECRET_FILES)


def test_a_process_is_asked_once_and_another_phrase_opens_nothing(folder: Path) -> None:
    seal_keys(folder, TYPED)
    sealing._opened_once.cache_clear()
    asked: list[bool] = []

    def answer(_: Path, new: bool) -> str:
        asked.append(new)
        return "incorrect horse" if len(asked) == 1 else PHRASE

    with asking(answer):
        with pytest.raises(IdentityError, match="does not open: the passphrase is another, or the file was changed"):
            load_secret(folder)
        for _ in range(3):
            load_identity(folder)
            load_secret(folder)
    assert asked == [False, False]


def test_who_cannot_be_asked_is_told_how_to_give_the_passphrase(folder: Path) -> None:
    seal_keys(folder, TYPED)
    sealing._opened_once.cache_clear()
    with asking(lambda _folder, _new: None), pytest.raises(IdentityError, match="COTALLY_PASSPHRASE_FILE"):
        load_identity(folder)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o644])
def test_a_file_may_hold_the_passphrase_if_its_owner_alone_can_read_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    seal_keys(folder, TYPED)
    sealing._opened_once.cache_clear()
    file = tmp_path / "phrase"
    file.write_text(f"{PHRASE}\n")
    file.chmod(mode)
    monkeypatch.setenv("COTALLY_PASSPHRASE_FILE", str(file))
    with asking(lambda _folder, _new: None):
        if mode == 0o644:
            with pytest.raises(IdentityError, match="open to other users"):
                load_secret(folder)
        else:
            assert len(load_secret(folder)) == 32


def test_systemd_may_hand_the_passphrase_over(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seal_keys(folder, TYPED)
    sealing._opened_once.cache_clear()
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "cotally.passphrase").write_text(PHRASE)
    (tmp_path / "credentials" / "cotally.passphrase").chmod(0o400)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "credentials"))
    with asking(lambda _folder, _new: None):
        assert len(load_secret(folder)) == 32


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a keyring that every process of this test has."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.support.keyring_in_a_file.FileKeyring")
    monkeypatch.setattr("keyring.core._keyring_backend", load_keyring("tests.support.keyring_in_a_file.FileKeyring"))
    monkeypatch.setenv("COTALLY_TEST_KEYRING", str(tmp_path / "ring"))
    return tmp_path / "ring"


_KILLED_UNSEALING = """
import os, signal, sys
from pathlib import Path
from party.keys import sealing
sealing._COST = 1 << 10
kill = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "before it is forgotten":
    sealing.forget_passphrase = kill
else:
    unlink = Path.unlink
    Path.unlink = lambda path, *_, **more: kill() if path.name == "unsealed.keys" else unlink(path, *_, **more)
sealing.unseal_keys(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("when", ["before it is forgotten", "after it is forgotten"])
@pytest.mark.parametrize("again", [unseal_keys, seal_again])
def test_a_passphrase_that_a_killed_process_has_left_in_the_keyring_is_forgotten_by_the_next_command(
    folder: Path, ring: Path, when: str, again: Callable[[Path], None]
) -> None:
    secret = load_secret(folder)
    seal_keys(folder, SOURCES["keyring"])
    killed = subprocess.run([sys.executable, "-c", _KILLED_UNSEALING, str(folder), when], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (json.loads(ring.read_text()) == {}) == (when == "after it is forgotten")
    assert load_secret(folder) == secret
    again(folder)
    assert json.loads(ring.read_text()) == {}
    assert not (folder / UNSEALED_FILE).exists()
    assert load_secret(folder) == secret


def test_where_the_keyring_cannot_forget_the_keys_are_there_and_what_to_do_is_said(
    folder: Path, ring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = load_secret(folder)
    seal_keys(folder, SOURCES["keyring"])
    ring.chmod(0o600)
    with monkeypatch.context() as patch:
        patch.setattr("tests.support.keyring_in_a_file.FileKeyring.delete_password", _refuse)
        with pytest.raises(IdentityError, match=r"stays in the system's keyring .*keys unseal .* again"):
            unseal_keys(folder)
    assert load_secret(folder) == secret
    unseal_keys(folder)
    assert json.loads(ring.read_text()) == {}
    with pytest.raises(IdentityError, match="is not sealed"):
        unseal_keys(folder)


def _refuse(*_: object) -> None:
    raise KeyringLocked


def test_another_keyring_opens_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyring.core._keyring_backend", load_keyring("tests.support.keyring_in_a_file.FileKeyring"))
    monkeypatch.setenv("COTALLY_TEST_KEYRING", str(tmp_path / "here"))
    seal_keys(folder, SOURCES["keyring"])
    sealing._opened_once.cache_clear()
    assert len(load_secret(folder)) == 32
    sealing._opened_once.cache_clear()
    monkeypatch.setenv("COTALLY_TEST_KEYRING", str(tmp_path / "elsewhere"))
    with pytest.raises(IdentityError, match="is sealed by a keyring that is not this one"):
        load_secret(folder)


@pytest.mark.parametrize("phrase", ["", "x" * (SHORTEST - 1)])
def test_a_short_passphrase_seals_nothing(folder: Path, phrase: str) -> None:
    before = contents(folder)
    with asking(lambda _folder, _new: phrase), pytest.raises(IdentityError, match=f"{SHORTEST} characters or more"):
        seal_keys(folder, TYPED)
    assert contents(folder) == before
    assert not (folder / SEALED_FILE).exists()


@pytest.mark.parametrize("field", ["format", "by", "id", "salt", "nonce", "content"])
def test_a_sealed_file_that_was_changed_is_refused(folder: Path, field: str) -> None:
    seal_keys(folder, TYPED)
    path = folder / SEALED_FILE
    fields = json.loads(path.read_text())
    text = fields[field]
    fields[field] = text[:-4] + ("aaaa" if text[-4:] != "aaaa" else "bbbb")
    path.write_text(json.dumps(fields))
    with pytest.raises(IdentityError, match=r"damaged|does not open|in a way that"):
        load_secret(folder)


@pytest.mark.parametrize(
    ("field", "other"), [("format", "cotally-sealed/2"), ("salt", "00" * 15), ("nonce", "00" * 13)]
)
def test_a_sealed_file_of_another_format_or_with_parts_of_another_length_is_not_tried(
    folder: Path, field: str, other: str
) -> None:
    seal_keys(folder, TYPED)
    path = folder / SEALED_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), field: other}))
    with pytest.raises(IdentityError, match="is damaged, or no file of sealed keys"):
        load_secret(folder)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format": "cotally-sealed/1"}', b"[" * 50_000])
def test_a_file_of_another_kind_is_refused(folder: Path, content: bytes) -> None:
    seal_keys(folder, TYPED)
    (folder / SEALED_FILE).write_bytes(content)
    with pytest.raises(IdentityError, match="is damaged, or no file of sealed keys"):
        load_secret(folder)


@pytest.mark.parametrize("left", SECRET_FILES)
def test_what_a_crash_has_left_both_ways_is_refused_and_either_command_ends_it(folder: Path, left: str) -> None:
    before = contents(folder)
    for end in (seal_again, unseal_keys):
        if not (folder / SEALED_FILE).exists():
            seal_keys(folder, TYPED)
        (folder / left).write_bytes(before[left])
        (folder / left).chmod(0o600)
        with pytest.raises(IdentityError, match=f"{left} lies beside sealed.keys: run `cotally keys seal"):
            sealing.read_party_secret(folder, left)
        end(folder)
    assert contents(folder) == before


def test_a_secret_that_differs_from_the_sealed_one_is_not_lost(folder: Path) -> None:
    seal_keys(folder, TYPED)
    (folder / "secret.key").write_bytes(bytes(32))
    (folder / "secret.key").chmod(0o600)
    for command in (seal_again, unseal_keys):
        with pytest.raises(IdentityError, match=r"is not what sealed\.keys holds"):
            command(folder)
    assert (folder / "secret.key").read_bytes() == bytes(32)
    assert (folder / SEALED_FILE).exists()


def test_what_is_sealed_is_not_sealed_again_and_what_is_not_is_not_unsealed(folder: Path) -> None:
    with pytest.raises(IdentityError, match="is not sealed"):
        unseal_keys(folder)
    seal_keys(folder, TYPED)
    with pytest.raises(IdentityError, match="is sealed already"):
        seal_keys(folder, TYPED)


def test_where_nobody_can_be_asked_to_seal_and_to_open_are_told_apart(folder: Path) -> None:
    with asking(ask_nobody), pytest.raises(IdentityError, match=r"to seal .* takes a new passphrase: run this at"):
        seal_keys(folder, TYPED)
    seal_keys(folder, TYPED)
    sealing._opened_once.cache_clear()
    with asking(ask_nobody), pytest.raises(IdentityError, match="is sealed: run this at"):
        load_secret(folder)


@pytest.mark.parametrize("fault", ["another phrase", "another secret"])
def test_no_secret_is_deleted_before_the_sealed_file_has_given_all_of_them_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    before, sealed = contents(folder), sealing.sealed_bytes

    def spoilt(files: Mapping[str, bytes], phrase: str, by: str, number: bytes) -> bytes:
        if fault == "another phrase":
            return sealed(files, phrase.upper(), by, number)
        return sealed({**files, "secret.key": bytes(32)}, phrase, by, number)

    monkeypatch.setattr(sealing, "sealed_bytes", spoilt)
    with pytest.raises(IdentityError, match=r"does not open|is not what"):
        seal_keys(folder, TYPED)
    assert contents(folder) == before


def test_a_folder_without_all_secrets_is_not_sealed(folder: Path) -> None:
    (folder / "paillier.key").unlink()
    with pytest.raises(IdentityError, match="lacks some of"):
        seal_keys(folder, TYPED)
    assert not (folder / SEALED_FILE).exists()


def test_a_sealed_file_that_others_can_read_is_refused(folder: Path) -> None:
    seal_keys(folder, TYPED)
    (folder / SEALED_FILE).chmod(0o640)
    with pytest.raises(IdentityError, match="open to other users"):
        load_secret(folder)


_KILLED = """
import os, signal, sys
from pathlib import Path
from party.keys import sealing
from party.keys.passphrase import asking
sealing._COST = 1 << 10
Path.hardlink_to = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with asking(lambda *_: sys.argv[2]):
    sealing.unseal_keys(Path(sys.argv[1]))
"""


def test_a_key_that_a_killed_process_has_left_half_written_is_told_of_and_does_not_outlive_sealing(
    folder: Path,
) -> None:
    before, secret = contents(folder), load_secret(folder)
    seal_keys(folder, TYPED)
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(folder), PHRASE], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = (path for path in folder.iterdir() if path.name.startswith(".key.pem."))
    assert left.read_bytes() == before["key.pem"]
    with pytest.raises(IdentityError, match=r"lies beside sealed\.keys: run `cotally keys seal"):
        load_identity(folder)
    seal_keys(folder, TYPED)
    assert not left.exists()
    assert load_secret(folder) == secret
    with pytest.raises(IdentityError, match="is sealed already"):
        seal_keys(folder, TYPED)
