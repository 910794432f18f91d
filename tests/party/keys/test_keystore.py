import errno
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from keyring.core import load_keyring
from keyring.errors import KeyringLocked

from party.errors import ConfigError, IdentityError
from party.keys import keystore, sealing
from party.keys.coin_secret import FORMAT, CoinSecret, check_same, read_coin_secret, write_coin_secret
from party.keys.identity import load_identity
from party.keys.keystore import PAILLIER_FILE, SECRET_FILE, load_key, load_secret
from party.keys.passphrase import SHORTEST, SOURCES, asking, read_secret, write_secret
from party.keys.sealing import SEALED_FILE, SECRET_FILES, UNSEALED_FILE, seal_keys, unseal_keys
from tests.support.identities import create_identity, create_keys

BITS = 512
KEY_FILES = (SECRET_FILE, PAILLIER_FILE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_keys(tmp_path, BITS, floor_bits=BITS)
    return tmp_path


def spoil(folder: Path, name: str, old: bytes, new: bytes) -> None:
    path = folder / name
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def key_texts(folder: Path) -> list[str]:
    return [line.split()[1] for line in (folder / "paillier.key").read_text().splitlines()[1:]]


def test_two_parties_have_different_secrets(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        create_keys(folder, BITS, floor_bits=BITS)
    assert load_secret(folders[0]) != load_secret(folders[1])
    assert load_key(folders[0], BITS) != load_key(folders[1], BITS)


def test_on_a_full_disk_no_secret_is_made_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(IdentityError, match="secret cannot be written: No space left on device"):
            write_secret(tmp_path / "secret", b"x")
    assert not list(tmp_path.iterdir())
    write_secret(tmp_path / "secret", b"x")
    assert read_secret(tmp_path / "secret") == b"x"
    with pytest.raises(IdentityError, match="secret exists and is kept"):
        write_secret(tmp_path / "secret", b"y")
    assert read_secret(tmp_path / "secret") == b"x"


@pytest.mark.parametrize("bits", [BITS - 2, BITS + 1])
def test_a_key_below_the_floor_or_of_odd_length_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    def drawn(_bits: int) -> None:
        raise AssertionError("there is no end to drawing a key of odd length")

    monkeypatch.setattr(keystore, "_generate", drawn)
    with pytest.raises(IdentityError, match="512 or more"):
        create_keys(tmp_path, bits, floor_bits=BITS)
    assert not list(tmp_path.iterdir())


def test_a_secret_that_is_open_missing_or_damaged_is_refused_with_its_cure(tmp_path: Path) -> None:
    create_keys(tmp_path, BITS, floor_bits=BITS)
    readers: dict[str, Callable[[], object]] = {
        SECRET_FILE: lambda: load_secret(tmp_path),
        PAILLIER_FILE: lambda: load_key(tmp_path, BITS),
    }
    for name, reader in readers.items():
        path = tmp_path / name
        for mode in (0o640, 0o604, 0o620):
            path.chmod(mode)
            with pytest.raises(IdentityError, match=f"{name} is open to other users: run `chmod 600"):
                reader()
        path.chmod(0o600)
        whole = path.read_bytes()
        if name == SECRET_FILE:
            faults = [(secrets.token_bytes(size), r"secret\.key is not 32 bytes long") for size in (0, 31, 33)]
        else:
            faults = [(whole[:end], "is empty, cut short|is damaged") for end in range(0, len(whole), 41)]
            faults += [
                (whole[:-1], "is empty, cut short|is damaged"),
                (whole + b"more", "is empty, cut short or not a "),
            ]
            for old, new in (
                ("key/1", b"key/2"),
                ("\np ", b"\nr "),
                ("\nn ", b"\nn -"),
                ("\nn ", b"\nn g"),
                ("\np ", b"\np \xff"),
            ):
                assert old.encode() in whole
                faults.append((whole.replace(old.encode(), new, 1), "not a Paillier key"))
        for content, words in faults:
            path.write_bytes(content)
            with pytest.raises(IdentityError, match=words):
                reader()
        path.unlink()
        with pytest.raises(IdentityError, match=f"{name} does not exist: restore it"):
            reader()
        path.mkdir()
        with pytest.raises(IdentityError, match="is not a file"):
            reader()


def test_factors_that_do_not_give_the_modulus_are_refused_without_showing_them(folder: Path) -> None:
    texts = key_texts(folder)
    last = b"1" if texts[0].endswith("3") else b"3"
    spoil(folder, "paillier.key", texts[0].encode() + b"\n", texts[0][:-1].encode() + last + b"\n")
    with pytest.raises(IdentityError, match="factors do not give its modulus") as caught:
        load_key(folder, BITS)
    assert not any(text[:8] in str(caught.value) for text in texts)


def test_a_composite_factor_is_refused_without_showing_it(folder: Path) -> None:
    n, p, q = (int(text, 16) for text in key_texts(folder))
    composite = p + 2 if p % 3 == 1 else p + 4  # a multiple of 3
    lines = ["cotally-paillier-key/1", f"n {n * composite // p:x}", f"p {composite:x}", f"q {q:x}", ""]
    (folder / "paillier.key").write_text("\n".join(lines))
    with pytest.raises(IdentityError, match="not prime") as caught:
        load_key(folder, BITS)
    assert f"{q:x}"[:8] not in str(caught.value)


def test_created_keys_load_for_their_owner_alone_and_a_shorter_key_than_needed_is_refused(folder: Path) -> None:
    assert load_key(folder, BITS).bits == BITS
    assert len(load_secret(folder)) == 32
    assert {(folder / name).stat().st_mode & 0o777 for name in KEY_FILES} == {0o600}
    with pytest.raises(IdentityError, match="has 512 bits, this run needs 2048"):
        load_key(folder, 2048)


SECRET = CoinSecret("visits", b"k" * 32, {"columns": ["a", "b"], "theta": "4/5"})
A_NUMBER: Any = 7
A_LIST: Any = []
SPOILT: list[dict[str, object]] = [
    {"format": "cotally-coins/2"},
    {"key": "", "check": replace(SECRET, key=b"").check()},
    {"key": "6b" * 31, "check": replace(SECRET, key=b"k" * 31).check()},
    {"key": "6c" * 32},
    {"dataset": 7, "check": replace(SECRET, dataset=A_NUMBER).check()},
    {"released": [], "check": replace(SECRET, released=A_LIST).check()},
    {"dataset": "other"},
    {"dataset": "visits\ud800"},
    {"released": {"columns": ["a", "b"], "theta": "1/5"}},
    {"released": {"columns": ["b", "a"], "theta": "4/5"}},
    {"released": {"columns": ["a", "b"]}},
    {"released": {"columns": ["a", "b"], "theta": "4/5", "new": None}},
    {"check": SECRET.check()[:-1]},
]


def test_a_coin_secret_that_was_edited_is_refused_also_with_a_check_to_match(tmp_path: Path) -> None:
    path = tmp_path / "coins"
    write_coin_secret(path, SECRET)
    whole = json.loads(path.read_text())
    assert whole["format"] == FORMAT
    wrong = [{key: other} for key in whole for other in (None, 1, "00", {"theta": "4/5"})]
    lacking = [{key: value for key, value in whole.items() if key != lost} for lost in whole]
    edited = [json.dumps(fields).encode() for fields in [*lacking, *({**whole, **each} for each in SPOILT + wrong)]]
    for content in [b"", b"{}", b"\xff", b"[1]", b"12345678901234567890123456789012", *edited]:
        path.write_bytes(content)
        with pytest.raises(IdentityError, match="is damaged, or was not made by `cotally disguise`: restore it"):
            read_coin_secret(path)
        assert path.read_bytes() == content
    path.write_text(json.dumps(whole, sort_keys=True))
    assert read_coin_secret(path) == SECRET  # the layout of the file says nothing


def test_what_was_written_is_read_and_says_what_left(tmp_path: Path) -> None:
    write_coin_secret(tmp_path / "coins", SECRET)
    assert read_coin_secret(tmp_path / "coins") == SECRET
    path = Path("coins")
    check_same(path, SECRET, {"columns": ["a", "b"], "theta": "4/5"})
    with pytest.raises(ConfigError, match="released with theta 4/5 before"):
        check_same(path, SECRET, {"columns": ["a", "b"], "theta": "1/2"})
    # Such as one of baskets for a survey: a field that is not on record must not pass for one that has not changed.
    for fields in ({"columns": ["a", "b"]}, {"columns": ["a", "b"], "theta": "4/5", "records": "digest"}):
        with pytest.raises(IdentityError, match="is damaged, or was not made by"):
            check_same(Path("coins"), SECRET, fields)


SEAL_BITS, PHRASE = 512, "correct horse battery"
TYPED = SOURCES["passphrase"]


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scrypt be cheap: what it costs is no matter of these tests."""
    monkeypatch.setattr(sealing, "_COST", 1 << 10)


@pytest.fixture
def seal_folder(tmp_path: Path) -> Iterator[Path]:
    create_identity(tmp_path, "alice")
    create_keys(tmp_path, SEAL_BITS, floor_bits=SEAL_BITS)
    with asking(lambda _folder, _new: PHRASE):
        yield tmp_path


def seal_again(seal_folder: Path) -> None:
    seal_keys(seal_folder, TYPED)


def contents(seal_folder: Path) -> dict[str, bytes]:
    return {name: (seal_folder / name).read_bytes() for name in SECRET_FILES if (seal_folder / name).exists()}


def test_a_sealed_folder_gives_the_same_keys_and_holds_none_in_the_clear(seal_folder: Path) -> None:
    before = contents(seal_folder)
    known = load_identity(seal_folder).key_pem, load_secret(seal_folder), repr(load_key(seal_folder, SEAL_BITS))
    seal_keys(seal_folder, TYPED)
    assert contents(seal_folder) == {}
    assert (seal_folder / SEALED_FILE).stat().st_mode & 0o777 == 0o600
    assert (
        load_identity(seal_folder).key_pem,
        load_secret(seal_folder),
        repr(load_key(seal_folder, SEAL_BITS)),
    ) == known
    unseal_keys(seal_folder)
    assert contents(seal_folder) == before
    assert not (seal_folder / SEALED_FILE).exists()
    assert all((seal_folder / name).stat().st_mode & 0o777 == 0o600 for name in SECRET_FILES)


def test_a_process_is_asked_once_and_another_phrase_opens_nothing(seal_folder: Path) -> None:
    seal_keys(seal_folder, TYPED)
    sealing._opened_once.cache_clear()
    asked: list[bool] = []

    def answer(_: Path, new: bool) -> str:
        asked.append(new)
        return "incorrect horse" if len(asked) == 1 else PHRASE

    with asking(answer):
        with pytest.raises(IdentityError, match="does not open: the passphrase is another, or the file was changed"):
            load_secret(seal_folder)
        for _ in range(3):
            load_identity(seal_folder)
            load_secret(seal_folder)
    assert asked == [False, False]


def test_who_cannot_be_asked_hears_how_to_give_the_passphrase(seal_folder: Path) -> None:
    seal_keys(seal_folder, TYPED)
    sealing._opened_once.cache_clear()
    with asking(lambda _folder, _new: None), pytest.raises(IdentityError, match="COTALLY_PASSPHRASE_FILE"):
        load_identity(seal_folder)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o644])
def test_a_file_may_hold_the_passphrase_if_its_owner_alone_can_read_it(
    seal_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    seal_keys(seal_folder, TYPED)
    sealing._opened_once.cache_clear()
    file = tmp_path / "phrase"
    file.write_text(f"{PHRASE}\n")
    file.chmod(mode)
    monkeypatch.setenv("COTALLY_PASSPHRASE_FILE", str(file))
    with asking(lambda _folder, _new: None):
        if mode == 0o644:
            with pytest.raises(IdentityError, match="open to other users"):
                load_secret(seal_folder)
        else:
            assert len(load_secret(seal_folder)) == 32


def test_systemd_may_hand_the_passphrase_over(
    seal_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal_keys(seal_folder, TYPED)
    sealing._opened_once.cache_clear()
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "cotally.passphrase").write_text(PHRASE)
    (tmp_path / "credentials" / "cotally.passphrase").chmod(0o400)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "credentials"))
    with asking(lambda _folder, _new: None):
        assert len(load_secret(seal_folder)) == 32


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


@pytest.mark.parametrize(
    ("when", "again"), [("before it is forgotten", unseal_keys), ("after it is forgotten", seal_again)]
)
def test_a_passphrase_that_a_killed_process_has_left_in_the_keyring_is_forgotten_by_the_next_command(
    seal_folder: Path, ring: Path, when: str, again: Callable[[Path], None]
) -> None:
    secret = load_secret(seal_folder)
    seal_keys(seal_folder, SOURCES["keyring"])
    killed = subprocess.run([sys.executable, "-c", _KILLED_UNSEALING, str(seal_folder), when], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (json.loads(ring.read_text()) == {}) == (when == "after it is forgotten")
    assert load_secret(seal_folder) == secret
    again(seal_folder)
    assert json.loads(ring.read_text()) == {}
    assert not (seal_folder / UNSEALED_FILE).exists()
    assert load_secret(seal_folder) == secret


def test_where_the_keyring_cannot_forget_the_keys_are_there_and_what_to_do_is_said(
    seal_folder: Path, ring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = load_secret(seal_folder)
    seal_keys(seal_folder, SOURCES["keyring"])
    ring.chmod(0o600)
    with monkeypatch.context() as patch:
        patch.setattr("tests.support.keyring_in_a_file.FileKeyring.delete_password", _refuse)
        with pytest.raises(IdentityError, match=r"stays in the system's keyring .*keys unseal .* again"):
            unseal_keys(seal_folder)
    assert load_secret(seal_folder) == secret
    unseal_keys(seal_folder)
    assert json.loads(ring.read_text()) == {}
    with pytest.raises(IdentityError, match="is not sealed"):
        unseal_keys(seal_folder)


def _refuse(*_: object) -> None:
    raise KeyringLocked


def test_another_keyring_opens_nothing(seal_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyring.core._keyring_backend", load_keyring("tests.support.keyring_in_a_file.FileKeyring"))
    monkeypatch.setenv("COTALLY_TEST_KEYRING", str(tmp_path / "here"))
    seal_keys(seal_folder, SOURCES["keyring"])
    sealing._opened_once.cache_clear()
    assert len(load_secret(seal_folder)) == 32
    sealing._opened_once.cache_clear()
    monkeypatch.setenv("COTALLY_TEST_KEYRING", str(tmp_path / "elsewhere"))
    with pytest.raises(IdentityError, match="is sealed by a keyring that is not this one"):
        load_secret(seal_folder)


@pytest.mark.parametrize("phrase", ["", "x" * (SHORTEST - 1)])
def test_a_short_passphrase_seals_nothing(seal_folder: Path, phrase: str) -> None:
    before = contents(seal_folder)
    with asking(lambda _folder, _new: phrase), pytest.raises(IdentityError, match=f"{SHORTEST} characters or more"):
        seal_keys(seal_folder, TYPED)
    assert contents(seal_folder) == before
    assert not (seal_folder / SEALED_FILE).exists()


@pytest.mark.parametrize("field", ["format", "by", "id", "salt", "nonce", "content"])
def test_a_sealed_file_that_was_changed_is_refused(seal_folder: Path, field: str) -> None:
    seal_keys(seal_folder, TYPED)
    path = seal_folder / SEALED_FILE
    fields = json.loads(path.read_text())
    text = fields[field]
    fields[field] = text[:-4] + ("aaaa" if text[-4:] != "aaaa" else "bbbb")
    path.write_text(json.dumps(fields))
    with pytest.raises(IdentityError, match=r"damaged|does not open|in a way that"):
        load_secret(seal_folder)


@pytest.mark.parametrize(
    ("field", "other"), [("format", "cotally-sealed/2"), ("salt", "00" * 15), ("nonce", "00" * 13)]
)
def test_a_sealed_file_of_another_format_or_with_parts_of_another_length_is_not_tried(
    seal_folder: Path, field: str, other: str
) -> None:
    seal_keys(seal_folder, TYPED)
    path = seal_folder / SEALED_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), field: other}))
    with pytest.raises(IdentityError, match="is damaged, or no file of sealed keys"):
        load_secret(seal_folder)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format": "cotally-sealed/1"}', b"[" * 50_000])
def test_a_file_of_another_kind_is_refused(seal_folder: Path, content: bytes) -> None:
    seal_keys(seal_folder, TYPED)
    (seal_folder / SEALED_FILE).write_bytes(content)
    with pytest.raises(IdentityError, match="is damaged, or no file of sealed keys"):
        load_secret(seal_folder)


@pytest.mark.parametrize("left", SECRET_FILES)
def test_what_a_crash_has_left_both_ways_is_refused_and_either_command_ends_it(seal_folder: Path, left: str) -> None:
    before = contents(seal_folder)
    for end in (seal_again, unseal_keys):
        if not (seal_folder / SEALED_FILE).exists():
            seal_keys(seal_folder, TYPED)
        (seal_folder / left).write_bytes(before[left])
        (seal_folder / left).chmod(0o600)
        with pytest.raises(IdentityError, match=f"{left} lies beside sealed.keys: run `cotally keys seal"):
            sealing.read_party_secret(seal_folder, left)
        end(seal_folder)
    assert contents(seal_folder) == before


def test_a_secret_that_differs_from_the_sealed_one_is_not_lost(seal_folder: Path) -> None:
    seal_keys(seal_folder, TYPED)
    (seal_folder / "secret.key").write_bytes(bytes(32))
    (seal_folder / "secret.key").chmod(0o600)
    for command in (seal_again, unseal_keys):
        with pytest.raises(IdentityError, match=r"is not what sealed\.keys holds"):
            command(seal_folder)
    assert (seal_folder / "secret.key").read_bytes() == bytes(32)
    assert (seal_folder / SEALED_FILE).exists()


def test_what_is_sealed_is_not_sealed_again_and_what_is_not_is_not_unsealed(seal_folder: Path) -> None:
    with pytest.raises(IdentityError, match="is not sealed"):
        unseal_keys(seal_folder)
    seal_keys(seal_folder, TYPED)
    with pytest.raises(IdentityError, match="is sealed already"):
        seal_keys(seal_folder, TYPED)


def test_where_nobody_can_be_asked_to_seal_and_to_open_are_told_apart(seal_folder: Path) -> None:
    with asking(lambda *_: None), pytest.raises(IdentityError, match=r"to seal .* takes a new passphrase: run this at"):
        seal_keys(seal_folder, TYPED)
    seal_keys(seal_folder, TYPED)
    sealing._opened_once.cache_clear()
    with asking(lambda *_: None), pytest.raises(IdentityError, match="is sealed: run this at"):
        load_secret(seal_folder)


@pytest.mark.parametrize("fault", ["another phrase", "another secret"])
def test_no_secret_is_deleted_before_the_sealed_file_has_given_all_of_them_again(
    seal_folder: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    before, sealed = contents(seal_folder), sealing.sealed_bytes

    def spoilt(files: Mapping[str, bytes], phrase: str, by: str, number: bytes) -> bytes:
        if fault == "another phrase":
            return sealed(files, phrase.upper(), by, number)
        return sealed({**files, "secret.key": bytes(32)}, phrase, by, number)

    monkeypatch.setattr(sealing, "sealed_bytes", spoilt)
    with pytest.raises(IdentityError, match=r"does not open|is not what"):
        seal_keys(seal_folder, TYPED)
    assert contents(seal_folder) == before


def test_a_folder_without_all_secrets_is_not_sealed(seal_folder: Path) -> None:
    (seal_folder / "paillier.key").unlink()
    with pytest.raises(IdentityError, match="lacks some of"):
        seal_keys(seal_folder, TYPED)
    assert not (seal_folder / SEALED_FILE).exists()


def test_a_sealed_file_that_others_can_read_is_refused(seal_folder: Path) -> None:
    seal_keys(seal_folder, TYPED)
    (seal_folder / SEALED_FILE).chmod(0o640)
    with pytest.raises(IdentityError, match="open to other users"):
        load_secret(seal_folder)


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


def test_a_key_that_a_killed_process_has_left_half_written_is_reported_and_does_not_outlive_sealing(
    seal_folder: Path,
) -> None:
    before, secret = contents(seal_folder), load_secret(seal_folder)
    seal_keys(seal_folder, TYPED)
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(seal_folder), PHRASE], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = (path for path in seal_folder.iterdir() if path.name.startswith(".key.pem."))
    assert left.read_bytes() == before["key.pem"]
    with pytest.raises(IdentityError, match=r"lies beside sealed\.keys: run `cotally keys seal"):
        load_identity(seal_folder)
    seal_keys(seal_folder, TYPED)
    assert not left.exists()
    assert load_secret(seal_folder) == secret
    with pytest.raises(IdentityError, match="is sealed already"):
        seal_keys(seal_folder, TYPED)
