from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from party.data import ColumnTreatment, Form
from party.data.texts import MISSING_MARKERS
from party.errors import ConfigError
from party.names import Address
from party.settings.party import Acceptance, ColumnSettings, DisguiseSettings, PartyConfig, read_party_config
from party.settings.toml import read_toml
from protocols.errors import InputError
from protocols.kinds import exact_number
from protocols.terms import ALL, OMEGA, Counting, Method
from protocols.two_party.inputs import Limits

PARTY = """\
name = "alice"
[data]
file = "data.csv"
id = "id"
class = "outcome"
[columns]
"*" = { max_values = 8, missing = "majority" }
age = { bins = "median-of-range" }
income = { bins = [10, 20.5, "30"] }
[disguise]
groups = 3
plain = ["city"]
[agree]
methods = ["hybrid", "smc"]
odds = "5/2"
omega = 3
smallest_key_bits = 3072
max_classes = 5
smallest_class = 25
smallest_test = 50
counting = ["oblivious_transfer"]
max_depth = 6
min_leaf = 8
[node]
listen = "[::1]:7071"
peer = "bob"
address = "bob.example.org:7071"
patience = 10
"""
LEAST = 'name = "alice"\n[data]\nfile = "visits.parquet"\nid = "id"\n'
AGREE = Acceptance(
    (Method.HYBRID, Method.SMC), Fraction(5, 2), 3, (Counting.OBLIVIOUS_TRANSFER,), 3072, 6, 8, Limits(5, 25, 50)
)


def party(folder: Path, text: str, key_floor: int = 2048) -> PartyConfig:
    path = folder / "party.toml"
    path.write_text(text)
    return read_party_config(path, key_floor)


def swap(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def test_every_setting_is_read_or_has_its_default(tmp_path: Path) -> None:
    config = party(tmp_path, PARTY)
    assert (config.name, config.folder) == ("alice", tmp_path)
    assert (config.data.file, config.data.ids.names) == (tmp_path / "data.csv", ("id",))
    assert (config.data.dataset, config.data.class_column) == ("data", "outcome")
    assert config.columns.named["age"] == ColumnTreatment(bins="median-of-range")
    assert config.columns.others == ColumnTreatment(max_values=8, missing="majority")
    assert config.columns.named["income"].bins == (Decimal(10), Decimal("20.5"), Decimal(30))
    assert config.disguise == DisguiseSettings(3, ("city",))
    assert config.agree == AGREE
    assert config.need_listen() == Address("::1", 7071)
    assert str(config.need_listen()) == "[::1]:7071"
    assert config.need_address() == Address("bob.example.org", 7071)
    assert (config.need_peer(), config.node.patience) == ("bob", 10)
    config = party(tmp_path, LEAST)
    assert config.data.dataset == "visits"
    assert config.data.class_column is None
    assert (config.data.form, config.data.ignore) == (Form(), ())
    assert config.columns == ColumnSettings({}, ColumnTreatment())
    assert config.disguise == DisguiseSettings(None, ())
    assert config.agree == Acceptance(
        (Method.HYBRID, Method.SMC, Method.RANDOMIZED), Fraction(2), ALL, tuple(Counting), 3072, None, 5
    )
    assert config.agree.limits == Limits(max_classes=20, smallest_class=10, smallest_test=30)
    assert config.node.patience == 30
    for key in ("peer", "listen", "address"):
        config = party(tmp_path, LEAST)
        with pytest.raises(ConfigError, match=rf"party\.toml: \[node\] {key}: is missing: (name|write) "):
            getattr(config, f"need_{key}")()
    declared = 'class = "outcome"\nseparator = "\\t"\nencoding = "cp1252"\nmissing = ["", "-9"]'
    config = party(tmp_path, swap(PARTY, 'class = "outcome"', declared))
    assert config.data.form == Form("\t", "cp1252", (*MISSING_MARKERS, "", "-9"))
    config = party(tmp_path, swap(PARTY, "age = { ", 'age = { not_missing = ["NA"], '))
    assert config.columns.named["age"].not_missing == ("NA",)
    config = party(tmp_path, swap(PARTY, "groups = 3", 'groups = [["age", "income"], ["zip"]]'))
    assert config.disguise.groups == (("age", "income"), ("zip",))


def test_a_bad_setting_is_named_with_file_key_and_legal_range(tmp_path: Path) -> None:
    for old, new, problem in [
        ("[data]", "data = 1\n[columns.zip]", "data: must be a table"),
        ('file = "data.csv"', 'file = "a\\u0000.csv"', "[data] file: holds a control character"),
        ('file = "data.csv"', 'file = "data.csv"\ndataset = "a\\nb"', "[data] dataset: holds a control character"),
        ('class = "outcome"', 'class = "outcome"\nmissing = ["?", "?"]', "[data] missing: lists a text twice"),
        ('class = "outcome"', 'class = "outcome"\nignore = ["age"]', "[columns] age: needs no treatment"),
        ('{ bins = "median-of-range" }', '"median-of-range"', "[columns] age: must be a table"),
        ("[10, 20.5", "[true, 20.5", "[columns.income] bins: edge 1 must be a number"),
        ("[10, 20.5", "[10, inf", "[columns] income: the edges of bins must be decimal numbers"),
        ("groups = 3", "groups = [[]]", "[disguise] groups: must be an integer from 1 to 8, or a list"),
        ("groups = 3", "groups = [[1]]", "[disguise] groups: must be an integer from 1 to 8, or a list"),
        ("groups = 3", 'groups = ["age"]', "[disguise] groups: must be an integer from 1 to 8, or a list"),
        ("groups = 3", 'groups = [["a"], ["a"]]', "[disguise] groups: column 'a' is in two groups"),
        ("groups = 3", 'groups = [["city"]]', "[disguise] plain: column 'city' is in a group too"),
        ("= 3072", "= 2047", "[agree] smallest_key_bits: must be an integer from 2048 to 16384"),
        ('"bob.example.org:7071"', '"bob.example.org:65536"', "[node] address: must be host and port"),
        ('"bob.example.org:7071"', '"bob.example.org:+7071"', "[node] address: must be host and port"),
        ('"bob.example.org:7071"', '"bob.example.org/x:7071"', "[node] address: must be host and port"),
        ('"bob.example.org:7071"', '"::1:7071"', "[node] address: must be host and port"),
        ('"bob.example.org:7071"', '":7071"', "[node] address: must be host and port"),
        ('"bob.example.org:7071"', '"bob:7a"', "[node] address: must be host and port"),
        ('"bob.example.org:7071"', '"bob:٣"', "[node] address: must be host and port"),
        (
            "[node]",
            '[compute]\non = "dask://host:1"\nworkers = 2\n[node]',
            "[compute] workers: counts processes of this machine",
        ),
        ("patience = 10", "patience =", "is not TOML"),
    ]:
        with pytest.raises(ConfigError) as caught:
            party(tmp_path, swap(PARTY, old, new))
        assert str(caught.value).startswith(str(tmp_path / "party.toml"))
        assert problem in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_as_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "party.toml"
    with pytest.raises(ConfigError, match=r"holds no party\.toml, so it is no party's folder: name another, or make"):
        read_party_config(tmp_path)
    with pytest.raises(ConfigError, match="does not exist"):
        read_party_config(tmp_path / "absent.toml")
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        read_party_config(path)
    path.write_text("a = " + "[" * 100_000)
    with pytest.raises(ConfigError, match="nested deeper"):
        read_party_config(path)
    path.write_bytes(b"#" * (1 << 20) + b"#")
    with pytest.raises(ConfigError, match="more than 1048576 bytes"):
        read_party_config(path)


TOO_LARGE = ["9" * 4301, "-" + "9" * 5000, str(1 << 63), "1e41", "-1e-41", "1e999999999", "1e" + "9" * 5000]


def test_numbers_and_keys_have_limits(tmp_path: Path) -> None:
    for where in ("x = {}", "x = [1, [{}]]", "[a]\nb = {{c = {}}}"):
        for number in TOO_LARGE:
            path = tmp_path / "party.toml"
            path.write_text(where.format(number) + "\n")
            with pytest.raises(ConfigError, match=r"party\.toml holds a number too large or too small for any setting"):
                read_toml(path, None)
    path = tmp_path / "party.toml"
    path.write_text(f"a = {(1 << 63) - 1}\nb = -{1 << 63}\nc = 1e40\nd = 1e-40\n")
    assert read_toml(path, None).names == ("a", "b", "c", "d")
    for part in ("a", '"a"', "'a'", r'"\""', "a-b_1 ", '"" \t'):
        for line in ("{}b = 1", "[{}b]", "x = {{ {}b = 1 }}"):
            for parts in (32, 2000, 40_000):
                path = tmp_path / "party.toml"
                path.write_text(line.format(f"{part}." * parts) + "\n")
                with pytest.raises(
                    ConfigError, match=r"^\S*party\.toml has a key of more than 32 parts, and no setting has"
                ):
                    read_toml(path, None)
    path = tmp_path / "party.toml"
    path.write_text("a." * 31 + 'b = "' + "1." * 20 + '"\n')
    assert read_toml(path, None).names == ("a",)
    for content in ("x = " + "[" * 9000, "x = " + "{a = " * 9000, "x = " + "[" * 480 + "]" * 480):
        path = tmp_path / "party.toml"
        path.write_text(content)
        with pytest.raises(ConfigError, match=r"^\S*party\.toml is (nested deeper than any setting|not TOML)"):
            read_toml(path, None)
    plain = party(tmp_path, PARTY)
    plain.path.write_bytes(b"\xef\xbb\xbf" + PARTY.replace("\n", "\r\n").encode())
    assert read_party_config(plain.path) == plain


def test_a_word_that_names_no_number_is_refused() -> None:
    for word in ("0", "65536", "-1", "3.0", "٣"):
        with pytest.raises(InputError, match="must be an integer from 1 to 65535"):
            OMEGA.parse(word)
    for text in ("1/2/3", "½", "1_0", " 1", "1e400", "nan", "", "1" * 41):
        assert exact_number(text) is None
