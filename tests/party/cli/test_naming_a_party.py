"""A party is named by its folder, its settings or its name, everywhere alike."""

import shutil
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.settings.place import party_folder, settings_file
from tests.support.commands import parsers
from tests.support.processes import cotally_here

CALLS: dict[str, tuple[str, ...]] = {
    "align": ("align", "PARTY"),
    "cancel": ("cancel", "PARTY", "0123456789abcdef"),
    "check": ("check", "PARTY"),
    "doctor": ("doctor", "PARTY"),
    "keys": ("keys", "renew", "PARTY"),
    "ledger": ("ledger", "PARTY"),
    "pair": ("pair", "PARTY"),
    "plan": ("plan", "PARTY", "other.toml"),
    "predict": ("predict", "PARTY", "--with", "alice", "data.csv"),
    "report": ("report", "PARTY", "-o", "report.html"),
    "serve": ("serve", "PARTY"),
    "status": ("status", "PARTY"),
    "train": ("train", "PARTY", "other.toml"),
    "trust": ("trust", "PARTY", "alice/cert.pem"),
}


@pytest.fixture
def home(here: Path) -> Path:
    """The present folder, with the party bob in the folder `home`; what calls or listens fails at once."""
    (here / "bob").rename(here / "home")
    settings = here / "home" / "party.toml"
    kept = [line for line in settings.read_text().splitlines() if not line.startswith(("listen", "address"))]
    settings.write_text("\n".join([*kept, ""]))
    (here / "other.toml").write_text('method = "forest"\n')
    return here


def test_every_command_of_a_party_is_tried() -> None:
    """`predict` takes a model or a party."""
    assert {*CALLS} == {name for name, parser in parsers() if "party" in {a.dest for a in parser._actions}} | {
        "predict"
    }


@pytest.mark.parametrize("name", CALLS)
def test_a_party_is_named_in_three_ways_alike(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ends = []
    for number, party in enumerate(("home", "home/party.toml", "bob")):
        copy = shutil.copytree(home, home.parent / f"copy-{number}")
        monkeypatch.chdir(copy)
        ends.append(cotally_here(*(party if word == "PARTY" else word for word in CALLS[name])))
    assert ends[0].code in (0, 2)
    assert ends[0] == ends[1] == ends[2]
    assert "does not exist, and no party here" not in ends[0].err


def test_a_name_is_of_a_folder_here_or_of_settings_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, name in (("alice", "alice"), ("one", "bob"), ("two", "carol"), ("three", "carol")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "party.toml").write_text(f'name = "{name}"\n')
    (tmp_path / "two" / "settings.toml").write_text('name = "dora"\n')
    places = {"alice": "alice/party.toml", "bob": "one/party.toml", "one": "one/party.toml"}
    places |= {path: path for path in ("two/settings.toml", "absent/party.toml")}
    for named, found in places.items():
        assert settings_file(Path(named)) == Path(found)
        assert party_folder(Path(named)) == Path(found).parent
    with pytest.raises(
        ConfigError, match=r"several parties here are named carol: name the folder of one \(three, two\)"
    ):
        settings_file(Path("carol"))
    with pytest.raises(ConfigError, match=r"there is no party.toml here: name the party"):
        settings_file(Path("party.toml"))
    with pytest.raises(ConfigError, match=r"dora does not exist, and no party here has this name"):
        settings_file(Path("dora"))
    monkeypatch.chdir(tmp_path / "one")
    assert settings_file(Path("bob")) == Path("party.toml")
    (tmp_path / "one" / "party.toml").write_bytes(b"\xff = [")
    with pytest.raises(ConfigError, match="no party here has this name"):
        settings_file(Path("bob"))
