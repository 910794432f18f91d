"""What a new party's folder is refused for, before anything is written."""

from pathlib import Path

import pytest

from party.errors import ConfigError, IdentityError
from party.node.creation import create_party
from party.node.inputs import pinned_peer
from party.settings.party import read_party_config


def test_keys_are_made_as_agreed_and_never_over_others(tmp_path: Path) -> None:
    for bits in (2047, 16385):
        with pytest.raises(IdentityError, match="the key must have 2048 to 16384 bits"):
            create_party(tmp_path / "alice", "alice", ["localhost"], bits, {}, floor_bits=2048)
        assert not (tmp_path / "alice").exists()
    (tmp_path / "party.toml").write_text("mine")
    with pytest.raises(IdentityError, match=r"party\.toml exists and is kept"):
        create_party(tmp_path, "alice", ["localhost"], 2048, {"party.toml": ""}, floor_bits=2048)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("party.toml", "mine")]
    path = tmp_path / "party.toml"
    path.write_text('name = "alice"\n[data]\nfile = "t.csv"\nid = "id"\n[node]\npeer = "bob"\n')
    with pytest.raises(ConfigError, match="the certificate of bob is not trusted yet"):
        pinned_peer(read_party_config(path))
