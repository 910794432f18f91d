"""What a party's own files are refused for, when they are made into what it brings to a session."""

from pathlib import Path

import pytest

from party.errors import ConfigError
from party.node.creation import create_party
from party.node.inputs import load_inputs
from party.settings.party import read_party_config
from protocols.two_party.inputs import PartyInputs

BITS = 512
SETTINGS = 'name = "alice"\n[data]\nfile = "t.csv"\nid = "id"\n[agree]\nsmallest_key_bits = 512\n'
ROWS = "id,age,sex\n" + "".join(f"p{row},{20 + row % 2},{'fm'[row % 2]}\n" for row in range(40))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made") / "alice"
    create_party(made, "alice", ["localhost"], BITS, {"party.toml": SETTINGS}, floor_bits=BITS)
    (made / "t.csv").write_text(ROWS)
    return made


def load(folder: Path, disguise: str, settings: str = SETTINGS) -> PartyInputs:
    (folder / "party.toml").write_text(f"{settings}{disguise}")
    return load_inputs(read_party_config(folder / "party.toml", BITS), BITS)


def test_each_column_has_a_coin_of_its_own_unless_groups_are_named(folder: Path) -> None:
    assert load(folder, "").groups == ((0,), (1,))
    assert load(folder, '[disguise]\nplain = ["age"]\n').groups == ((1,),)
    assert load(folder, "[disguise]\ngroups = 1\n").groups == ((0, 1),)


def test_groups_that_name_every_column_once_are_taken_as_they_are(folder: Path) -> None:
    assert load(folder, '[disguise]\ngroups = [["sex"], ["age"]]\n').groups == ((1,), (0,))
    assert load(folder, '[disguise]\ngroups = [["sex"]]\nplain = ["age"]\n').groups == ((1,),)


@pytest.mark.parametrize(
    "disguise",
    ['groups = [["agee", "sex"], ["age"]]', 'groups = [["age", "sex"]]\nplain = ["agee"]', 'plain = ["agee"]'],
)
def test_a_disguise_of_a_column_that_the_data_lack_is_refused(folder: Path, disguise: str) -> None:
    with pytest.raises(ConfigError, match=r"names the column 'agee', which is no attribute of t\.csv; did you mean"):
        load(folder, f"[disguise]\n{disguise}\n")


def test_a_column_in_no_group_is_refused_and_not_left_undisguised(folder: Path) -> None:
    with pytest.raises(ConfigError, match="disguise puts the column 'age' in no group; list it, or as plain"):
        load(folder, '[disguise]\ngroups = [["sex"]]\n')


def test_a_file_of_data_that_is_not_there_is_named_with_the_setting_that_names_it(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"party\.toml: \[data\] file: .*gone\.csv does not exist"):
        load(folder, "", SETTINGS.replace("t.csv", "gone.csv"))
