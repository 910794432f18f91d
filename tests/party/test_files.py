import errno
import fcntl
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from party.files import (
    PRIVATE_FILES,
    check_own_folder,
    check_party_folder,
    check_target,
    check_writable,
    is_locked,
    is_there,
    kept_apart,
    locked_folder,
    read_bytes,
    resolved,
    write_atomically,
    write_new,
)
from party.keys.coin_secret import read_coin_secret
from party.keys.identity import load_peers
from party.models.any_file import read_model
from party.records.run_file import read_train_report
from party.settings.transactions import read_basket_design
from protocols.errors import CotallyError, InputError
from tests.support.identities import create_identity
from tests.support.parsed_files import armoured
from tests.support.parsers import every_parser


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, "é")
    assert read_bytes(path, 2) == "é".encode()
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_new_file_has_the_mode_of_a_plainly_created_one(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_atomically(tmp_path / "file", "x")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_cannot_be_written_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"folder cannot be written: it is a folder"):
        write_atomically(tmp_path / "folder", "x")
    with pytest.raises(InputError, match=r"file cannot be written: No such file"):
        write_atomically(tmp_path / "absent" / "file", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_a_file_that_is_too_long_or_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    with pytest.raises(InputError, match="file has more than 2 bytes"):
        read_bytes(tmp_path / "file", 2)
    with pytest.raises(InputError, match="is not a file"):
        read_bytes(tmp_path, 2)
    with pytest.raises(InputError, match="absent does not exist"):
        read_bytes(tmp_path / "absent", 2)
    with pytest.raises(InputError, match="is not a file"):
        read_bytes(Path(os.devnull), 2)
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        read_bytes(tmp_path / ("x" * 5000), 2)


def test_a_place_is_checked_before_the_work(tmp_path: Path) -> None:
    check_writable(tmp_path / "file")
    with pytest.raises(InputError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        check_writable(tmp_path / "absent" / "file")
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        check_writable(tmp_path / ("x" * 300))


def test_an_output_destroys_nothing_that_is_read(tmp_path: Path) -> None:
    read, other = tmp_path / "read", tmp_path / "other"
    for path in (read, other):
        path.write_text(path.name)
    (tmp_path / "link").symlink_to(read)
    for path in (tmp_path / "new", other):
        check_target(path, (read,))
    for path in (read, tmp_path / "link", tmp_path / "." / "read"):
        with pytest.raises(InputError, match="is read by this command: write to another file"):
            check_target(path, (other, read))
    with pytest.raises(InputError, match="/dev/null cannot be written: it is not a regular file"):
        check_target(Path("/dev/null"), ())


def full(_handle: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_new_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            write_new(path, b"x", 0o600)
    assert not list(tmp_path.iterdir())
    write_new(path, b"x", 0o640)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"x", 0o640)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_no_new_file_takes_the_place_of_another_or_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("file", "link"):
        with pytest.raises(FileExistsError):
            write_new(tmp_path / name, b"x", 0o600)
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "link"]


def test_a_new_file_has_its_name_when_it_is_whole_and_no_sooner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    sync = os.fsync

    def watch(handle: int) -> None:
        seen.append((tmp_path / "file").exists())
        sync(handle)

    monkeypatch.setattr(os, "fsync", watch)
    write_new(tmp_path / "file", b"x", 0o600)
    assert seen == [False, True]  # the content, then the folder's entry
    (tmp_path / "file").unlink()
    seen.clear()
    write_atomically(tmp_path / "file", b"x")
    assert seen == [False, True]


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
def test_a_file_system_without_hard_links_gets_new_files_too_and_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def no_links(_path: Path, _target: Path) -> None:
        raise OSError(number, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    write_new(tmp_path / "file", b"x", 0o600)
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "file", b"y", 0o600)
    assert (tmp_path / "file").read_bytes() == b"x"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_an_error_of_the_disk_is_not_taken_for_a_file_system_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_path: Path, _target: Path) -> None:
        raise OSError(errno.EIO, "the disk fails")

    monkeypatch.setattr(Path, "hardlink_to", fails)
    with pytest.raises(OSError, match="the disk fails"):
        write_new(tmp_path / "file", b"x", 0o600)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_synced_at_all_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, fails: bool
) -> None:
    sync = os.fsync

    def folders_fail(handle: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):  # noqa: PTH112
            raise OSError(number, "not a folder")
        sync(handle)

    monkeypatch.setattr(os, "fsync", folders_fail)
    if fails:
        with pytest.raises(InputError, match="file cannot be written: not a folder"):
            write_atomically(tmp_path / "file", "x")
    else:
        write_atomically(tmp_path / "file", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_name_or_path_that_cannot_be_is_named(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    write_atomically(path, "x")
    path.unlink()
    write_new(path, b"x", 0o600)
    assert is_there(path)
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(InputError, match="circle cannot be used: "):
        resolved(tmp_path / "circle")
    with pytest.raises(InputError, match="xxx cannot be used: File name too long"):
        is_there(tmp_path / ("x" * 300))
    (tmp_path / "link").symlink_to("file")
    assert resolved(tmp_path / "link") == resolved(tmp_path / "x" / ".." / "file")
    assert not is_there(tmp_path / "file")


def test_an_output_stands_apart_from_others_under_the_first_free_name(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    assert kept_apart(path) == path
    path.write_text("one")
    assert kept_apart(path) == tmp_path / "model-2.json"
    (tmp_path / "model-2.json").write_text("two")
    assert kept_apart(path) == tmp_path / "model-3.json"
    assert kept_apart(path, lambda there: there.read_text() == "two") == tmp_path / "model-2.json"


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(0o755)
    check_own_folder(tmp_path)
    tmp_path.chmod(mode)
    for check in (check_own_folder, check_party_folder):
        with pytest.raises(InputError, match=r"others can write to .*: take that from them \(`chmod go-w"):
            check(tmp_path)


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_party_folder(tmp_path)
    if os.geteuid() == 0:
        os.chown(tmp_path, 4711, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
    for check in (check_own_folder, check_party_folder):
        with pytest.raises(InputError, match="belongs to another user, who can change what is in it"):
            check(tmp_path)


@pytest.mark.parametrize("pattern", PRIVATE_FILES)
def test_a_party_folder_in_which_others_can_read_a_secret_is_refused(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / pattern.replace("*", "one")
    path.touch(0o600)
    (tmp_path / "cert.pem").touch(0o644)
    check_party_folder(tmp_path)
    for mode in (0o640, 0o604):
        path.chmod(mode)
        with pytest.raises(InputError, match=f"{path.name} is open to other users: run `chmod 600"):
            check_party_folder(tmp_path)


def test_the_folder_of_an_older_release_is_refused_by_name(tmp_path: Path) -> None:
    check_party_folder(tmp_path)
    (tmp_path / "releases.json").write_text('{"format": "cotally-releases/2"}')
    with pytest.raises(InputError, match=r"is of cotally 0\.1: run `cotally upgrade "):
        check_party_folder(tmp_path)
    check_party_folder(tmp_path, older=True)


def test_two_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with locked_folder(tmp_path):
        assert is_locked(tmp_path)
        with pytest.raises(InputError, match="another `cotally` process is working in"):
            locked_folder(tmp_path).__enter__()
    assert not is_locked(tmp_path)
    with locked_folder(tmp_path) as held:
        assert held.folder == tmp_path


def test_a_folder_is_held_whatever_is_deleted_in_it(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    with locked_folder(tmp_path):
        for path in tmp_path.iterdir():
            path.unlink()
        assert is_locked(tmp_path)
        with pytest.raises(InputError, match="another `cotally` process is working in"):
            locked_folder(tmp_path).__enter__()
    with pytest.raises(InputError, match="cannot be opened: No such file"):
        locked_folder(tmp_path / "none").__enter__()


def test_a_folder_that_was_moved_away_or_replaced_is_not_taken_for_the_one_that_is_held(tmp_path: Path) -> None:
    folder = tmp_path / "alice"
    folder.mkdir()
    with locked_folder(folder) as held:
        folder.rename(tmp_path / "moved")
        with pytest.raises(InputError, match="alice was moved or replaced while `cotally` works in it: start again"):
            _ = held.folder
        with pytest.raises(InputError, match="another `cotally` process is working in"):
            locked_folder(tmp_path / "moved").__enter__()
        folder.mkdir()
        with locked_folder(folder) as other:
            with pytest.raises(InputError, match="was moved or replaced"):
                _ = held.folder
            assert other.folder == folder


def test_a_folder_on_a_file_system_that_cannot_lock_is_not_called_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(_handle: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(InputError, match=r"cannot be locked \(No locks available\): use a folder on a disk of this"):
        locked_folder(tmp_path).__enter__()


ODD_NUMBERS = [
    b"9" * 5000, b"0x" + b"f" * 5000, b"1e999999999", b"1e-999999999", b"1e99999999999999999999", b"nan", b"-inf",
    b"[1, 1e99999]", b"[0x" + b"f" * 5000 + b"]", b'"' + b"9" * 5000 + b'"', b'"quantiles:' + b"9" * 5000 + b'"',
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A party's folder in which a peer is pinned."""
    create_identity(tmp_path, "alice")
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers" / "bob.pem").write_bytes(create_identity(tmp_path / "bob", "bob").pem)
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\x2a\x86\x48\xce\x3d\x02\x01", b"\x2a\x86\x48\xce\x3d\x02\x02"),  # a key of a kind unheard of
        (b"\x2a\x86\x48\xce\x3d\x03\x01\x07", b"\x2a\x86\x48\xce\x3d\x03\x01\x3a"),  # a curve unheard of
        (b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x22"),  # a version unheard of
        (b"\x06\x03\x55\x1d\x25", b"\x06\x03\x55\x1d\x11"),  # the same extension twice
    ],
    ids=["key", "curve", "version", "extension"],
)
def test_an_odd_certificate_is_bad_input(folder: Path, old: bytes, new: bytes) -> None:
    path = folder / "peers/bob.pem"
    der = load_peers(folder)["bob"].certificate.public_bytes(Encoding.DER)
    assert old in der
    path.write_bytes(armoured(der.replace(old, new)))
    with pytest.raises(InputError, match=r"bob\.pem is not"):
        load_peers(folder)


def test_odd_numbers_in_the_place_of_each_value_are_read_or_refused_in_one_line() -> None:
    with every_parser() as parsers:
        for name in ["party.toml", "job.toml", "design.toml", "survey.toml", "baskets.toml"]:
            parser = parsers[name]
            lines = parser.examples[0].split(b"\n")
            taken = []
            for place, line in enumerate(lines):
                start = line.rfind(b"= ") + 2
                for number in ODD_NUMBERS if start > 1 else ():
                    end = b" }" if line.endswith(b"}") else b""
                    taken.append(
                        parser.takes(b"\n".join([*lines[:place], line[:start] + number + end, *lines[place + 1 :]]))
                    )
            assert taken.count(False) > len(taken) / 2  # most are refused, in one line each


def test_secrets_and_designs_of_other_kinds_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (
        b"", b"\xff" * 99, b"[" * 50_000, b"9" * 5000, b"a = " + b"[" * 50_000, b"a = 1e99999999999999999999",
    ):  # fmt: skip
        path.write_bytes(content)
        path.chmod(0o600)
        for reader in (read_basket_design, read_coin_secret, read_model, read_train_report):
            with pytest.raises(CotallyError):
                reader(path)
