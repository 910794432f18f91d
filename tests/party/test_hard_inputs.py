"""Files that no program of ours wrote, and the odd ones among them: a value, or an error for the screen."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from party.keys.coin_secret import read_coin_secret
from party.keys.identity import load_identity, load_peers
from party.models.any_file import read_model
from party.records.run_file import read_train_report
from party.settings.transactions import read_basket_design
from protocols.errors import CotallyError, InputError
from tests.support.identities import create_identity
from tests.support.parsed_files import armoured
from tests.support.parsers import every_parser

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


@pytest.mark.parametrize("name", ["party.toml", "job.toml", "design.toml", "survey.toml", "baskets.toml"])
def test_odd_numbers_in_the_place_of_each_value_are_read_or_refused_in_one_line(name: str) -> None:
    with every_parser() as parsers:
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
        b"",
        b"\xff" * 99,
        b"[" * 50_000,
        b"9" * 5000,
        b"a = " + b"[" * 50_000,
        b"a = 1e99999999999999999999",
    ):
        path.write_bytes(content)
        path.chmod(0o600)
        for reader in (read_basket_design, read_coin_secret, read_model, read_train_report):
            with pytest.raises(CotallyError):
                reader(path)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_refused(folder: Path, mode: int) -> None:
    for place, reader in ((folder, load_identity), (folder / "peers", lambda _: load_peers(folder))):
        usual = place.stat().st_mode
        place.chmod(mode)
        try:
            with pytest.raises(InputError, match=r"others can write to .*chmod go-w"):
                reader(place)
        finally:
            place.chmod(usual)
