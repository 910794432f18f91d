import os
from pathlib import Path

import pytest

from party.files import check_writable, read_bytes, write_atomically
from protocols.errors import InputError


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
