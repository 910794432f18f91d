"""What makes an id, and what alignments may ask, in a party's settings."""

from fractions import Fraction
from pathlib import Path

import pytest

from party.data.ids import LAST, REFUSE
from party.errors import ConfigError
from party.settings.party import PartyConfig, read_party_config
from protocols.identifiers import USUAL_FORM, Spelling


def config(folder: Path, data: str = 'id = "id"', agree: str = "") -> PartyConfig:
    path = folder / "party.toml"
    path.write_text(f'name = "alice"\n[data]\nfile = "t.csv"\n{data}\n[agree]\n{agree}\n')
    return read_party_config(path)


def test_ids_columns_and_spellings_can_be_declared(tmp_path: Path) -> None:
    ids = config(tmp_path).data.ids
    assert (ids.names, ids.form, ids.repeated) == (("id",), USUAL_FORM, REFUSE)
    bounds = config(tmp_path).agree.alignments
    assert (bounds.least_overlap, bounds.most_ids, bounds.most_alignments) == (Fraction(1, 10), 1_000_000, 3)
    data = 'id = ["name", "birth"]\nid_alike = ["zeros", "case"]\nrepeated = "last"'
    found = config(tmp_path, data, 'least_overlap = "1/2"\nmost_ids = 5\nmost_alignments = 0')
    ids, bounds = found.data.ids, found.agree.alignments
    assert (ids.names, ids.form.columns, ids.repeated) == (("name", "birth"), 2, LAST)
    assert ids.form.alike == {Spelling.CASE, Spelling.ZEROS}
    assert (bounds.least_overlap, bounds.most_ids, bounds.most_alignments) == (Fraction(1, 2), 5, 0)


@pytest.mark.parametrize(
    ("data", "agree", "named"),
    [
        ("id = []", "", "id"),
        ("id = 3", "", "id"),
        ('id = ["a", "a"]', "", "id"),
        ('id = "id"\nid_alike = ["sound"]', "", "id_alike"),
        ('id = "id"\nrepeated = "all"', "", "repeated"),
        ('id = ["a", "b"]\nignore = ["b"]', "", "ignore"),
        ('id = ["a", "b"]\nclass = "b"', "", "class"),
        ('id = "id"\nitems = "id"', "", "items"),
        ('id = "id"\nitems = "bought"\nrepeated = "last"', "", "repeated"),
    ],
)
def test_what_is_out_of_range_is_named(tmp_path: Path, data: str, agree: str, named: str) -> None:
    with pytest.raises(ConfigError, match=rf"\[(data|agree)\] {named}: "):
        config(tmp_path, data, agree)
