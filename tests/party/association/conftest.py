"""A folder with baskets, a design and a copy, under a secret that is the same in every run."""

from pathlib import Path

import numpy as np
import pytest

from party.cli import main as cli
from party.keys import coin_secret

ITEMS = ("bread", "milk", "tea, black", "jam", "salt")

DESIGN = """\
kind = "cut-and-paste"
items = ["bread", "milk", "tea, black", "jam", "salt"]
cutoff = 3
supports = ["3/5", "2/5", "1/5"]
[rho]
0 = "1/10"
1 = "1/10"
2 = "1/5"
3 = "1/5"
"""


def lines(number: int = 400) -> list[str]:
    """Return baskets in which bread and milk go together."""
    chance = np.random.default_rng(3)
    kinds = ["bread,milk", "bread,milk,jam", '"tea, black"', "", "salt"]
    return [kinds[chance.integers(len(kinds))] for _ in range(number)]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coin_secret, "new_key", lambda: bytes(range(32)))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with `design.toml`, `baskets.csv`, and the copy `d.csv` made with the secret `coins`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "design.toml").write_text(DESIGN.replace('"3/5", "2/5", "1/5"', '"1", "1", "1"'))  # as in these baskets
    (tmp_path / "baskets.csv").write_text("\n".join(lines()) + "\n")
    assert cli.main(["disguise", "baskets.csv", "design.toml", "-o", "d.csv", "--secret", "coins"]) == 0
    return tmp_path
