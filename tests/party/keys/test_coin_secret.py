"""The secret file of coins: it is read as it was made, and what has left under it leaves again, and nothing else."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from party.errors import ConfigError, IdentityError
from party.keys.coin_secret import FORMAT, CoinSecret, check_same, read_coin_secret, write_coin_secret

SECRET = CoinSecret("visits", b"k" * 32, {"columns": "digest", "theta": "4/5"})
A_NUMBER: Any = 7
A_LIST: Any = []


@pytest.mark.parametrize(
    "spoilt",
    [
        {"format": "cotally-coins/2"},
        {"key": "", "check": replace(SECRET, key=b"").check()},
        {"key": "6b" * 31, "check": replace(SECRET, key=b"k" * 31).check()},
        {"dataset": 7, "check": replace(SECRET, dataset=A_NUMBER).check()},
        {"released": [], "check": replace(SECRET, released=A_LIST).check()},
        {"dataset": "other"},
        {"released": {"columns": "digest", "theta": "1/5"}},
        {"check": SECRET.check()[:-1]},
    ],
)
def test_an_edited_file_is_refused_also_with_a_check_to_match(tmp_path: Path, spoilt: dict[str, object]) -> None:
    path = tmp_path / "coins"
    write_coin_secret(path, SECRET)
    whole = json.loads(path.read_text())
    assert whole["format"] == FORMAT
    path.write_text(json.dumps({**whole, **spoilt}))
    with pytest.raises(IdentityError, match="is damaged, or was not made by `cotally disguise`: restore it"):
        read_coin_secret(path)


def test_what_was_written_is_read_and_says_what_left(tmp_path: Path) -> None:
    write_coin_secret(tmp_path / "coins", SECRET)
    assert read_coin_secret(tmp_path / "coins") == SECRET
    path = Path("coins")
    check_same(path, SECRET, {"columns": "digest", "theta": "4/5"})
    with pytest.raises(ConfigError, match="released with theta 4/5 before"):
        check_same(path, SECRET, {"columns": "digest", "theta": "1/2"})
    # Such as one of baskets for a survey: a field that is not on record must not pass for one that has not changed.
    for fields in ({"columns": "digest"}, {"columns": "digest", "theta": "4/5", "records": "digest"}):
        with pytest.raises(IdentityError, match="is damaged, or was not made by"):
            check_same(Path("coins"), SECRET, fields)
