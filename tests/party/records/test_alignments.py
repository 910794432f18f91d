"""Who is common is kept for one list and one peer, and an edited file is not obeyed."""

from pathlib import Path

import pytest

from party.errors import ConfigError
from party.records.alignments import ALIGNMENTS_FILE, keep_alignment, kept_people

KEY = bytes(32)
LISTS = (b"ours", b"theirs")


def test_people_are_found_again_for_the_list_and_the_peer_that_were_compared(tmp_path: Path) -> None:
    assert kept_people(tmp_path, KEY, "d", "bob", b"ours") is None
    keep_alignment(tmp_path, KEY, "d", "bob", LISTS, ["p2", "é"])
    keep_alignment(tmp_path, KEY, "e", "bob", LISTS, ["p9"])
    assert kept_people(tmp_path, KEY, "d", "bob", b"ours") == ["p2", "é"]
    for dataset, peer, own in (
        ("f", "bob", b"ours"),
        ("d", "carol", b"ours"),
        ("d", None, b"ours"),
        ("d", "bob", b"x"),
    ):
        assert kept_people(tmp_path, KEY, dataset, peer, own) is None
    assert (tmp_path / ALIGNMENTS_FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "change", [("p2", "p3"), ("cotally-alignments/1", "cotally-alignments/2"), ("{", "["), ("", "")]
)
def test_an_edited_file_or_one_of_another_secret_is_refused(tmp_path: Path, change: tuple[str, str]) -> None:
    keep_alignment(tmp_path, KEY, "d", "bob", LISTS, ["p2"])
    path = tmp_path / ALIGNMENTS_FILE
    path.write_text(path.read_text().replace(*change))
    key = KEY if change[0] else bytes([1]) * 32
    with pytest.raises(ConfigError, match="remove it and align again"):
        kept_people(tmp_path, key, "d", "bob", b"ours")
