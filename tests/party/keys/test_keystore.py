import errno
import os
import secrets
from pathlib import Path

import pytest

from party.errors import IdentityError
from party.keys import keystore
from party.keys.keystore import PAILLIER_FILE, SECRET_FILE, load_key, load_secret
from party.keys.passphrase import read_secret, write_secret
from tests.support.identities import create_keys

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


def test_created_keys_load_and_have_the_asked_length(folder: Path) -> None:
    assert load_key(folder, BITS).bits == BITS
    assert len(load_secret(folder)) == 32


def test_two_parties_have_different_secrets(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        create_keys(folder, BITS, floor_bits=BITS)
    assert load_secret(folders[0]) != load_secret(folders[1])
    assert load_key(folders[0], BITS) != load_key(folders[1], BITS)


def test_only_the_owner_can_read_the_secrets(folder: Path) -> None:
    assert {(folder / name).stat().st_mode & 0o777 for name in KEY_FILES} == {0o600}


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


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
@pytest.mark.parametrize("name", KEY_FILES)
def test_a_secret_open_to_others_is_refused(folder: Path, name: str, mode: int) -> None:
    (folder / name).chmod(mode)
    with pytest.raises(IdentityError, match=f"{name} is open to other users: run `chmod 600"):
        load_secret(folder) if name == "secret.key" else load_key(folder, BITS)


@pytest.mark.parametrize("name", KEY_FILES)
def test_a_missing_secret_names_file_and_cure(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(IdentityError, match=f"{name} does not exist: restore it"):
        load_secret(folder) if name == "secret.key" else load_key(folder, BITS)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_coin_secret_of_another_length_is_refused(folder: Path, size: int) -> None:
    (folder / "secret.key").write_bytes(secrets.token_bytes(size))
    (folder / "secret.key").chmod(0o600)
    with pytest.raises(IdentityError, match=r"secret\.key is not 32 bytes long"):
        load_secret(folder)


def test_a_paillier_key_cut_anywhere_is_refused_and_none_of_it_shown(folder: Path) -> None:
    path = folder / "paillier.key"
    whole = path.read_bytes()
    for end in [*range(0, len(whole), 41), len(whole) - 1]:
        path.write_bytes(whole[:end])
        with pytest.raises(IdentityError, match=r"paillier\.key (is empty, cut short|is damaged)"):
            load_key(folder, BITS)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"key/1", b"key/2"), (b"\np ", b"\nr "), (b"\nn ", b"\nn -"), (b"\nn ", b"\nn g"), (b"\np ", b"\np \xff")],
)
def test_a_file_that_is_no_paillier_key_is_refused(folder: Path, old: bytes, new: bytes) -> None:
    spoil(folder, "paillier.key", old, new)
    with pytest.raises(IdentityError, match="not a Paillier key"):
        load_key(folder, BITS)


def test_a_key_with_more_behind_it_is_refused(folder: Path) -> None:
    with (folder / "paillier.key").open("ab") as file:
        file.write(b"more")
    with pytest.raises(IdentityError, match=r"paillier\.key is empty, cut short or not a "):
        load_key(folder, BITS)


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


def test_a_key_shorter_than_the_run_needs_is_refused(folder: Path) -> None:
    with pytest.raises(IdentityError, match="has 512 bits, this run needs 2048"):
        load_key(folder, 2048)


def test_a_folder_in_place_of_a_key_is_refused(folder: Path) -> None:
    (folder / "secret.key").unlink()
    (folder / "secret.key").mkdir()
    with pytest.raises(IdentityError, match="is not a file"):
        load_secret(folder)
