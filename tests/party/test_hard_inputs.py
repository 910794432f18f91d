"""Files that no program of ours wrote: whatever their bytes, each reader gives a value or an error for the screen."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.data.reader import read_frame
from party.keys.coin_secret import read_coin_secret
from party.keys.identity import create_identity, load_identity, load_peers
from party.keys.keystore import CURVE_FILE, PAILLIER_FILE, create_keys, load_keys
from party.models.any_file import model_json, read_model
from party.records.train_report import read_train_report
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.settings.survey import read_design
from party.settings.transactions import read_basket_design
from protocols.errors import CotallyError, InputError
from tests.party.survey.files import RELATED
from tests.support.models import small_model

PARTY = b"""name = "alice"
[data]
file = "data.csv"
id = "id"
class = "outcome"
smallest_value = 10
[columns]
"*" = { max_values = 4 }
age = { bins = "quantiles:4" }
height = { bins = [1, 2.5, "3"] }
[agree]
odds = 2
omega = 3
[node]
listen = "0.0.0.0:7071"
patience = 30
"""
JOB = b"""method = "hybrid"
class = "outcome"
theta = "11/20"
omega = 3
engine = "encrypted_coins"
test = "1/5"
seed = 1
key_bits = 3072
"""
CSV = b"id,age,city\np1,30,Oslo\np2,41,Bergen\n"
ODD_NUMBERS = [
    b"9" * 5000, b"0x" + b"f" * 5000, b"1e999999999", b"1e-999999999", b"1e99999999999999999999", b"nan", b"-inf",
    b"[1, 1e99999]", b"[0x" + b"f" * 5000 + b"]", b'"' + b"9" * 5000 + b'"', b'"quantiles:' + b"9" * 5000 + b'"',
]  # fmt: skip
Reader = Callable[[Path], object]


def _keys(path: Path) -> object:
    return load_keys(path.parent, 64)


def _cert(path: Path) -> object:
    return load_identity(path.parent)


def _peers(path: Path) -> object:
    return load_peers(path.parent.parent)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A party's folder with a file of every kind."""
    folder = tmp_path_factory.mktemp("party")
    create_identity(folder, "alice")
    create_keys(folder, 512, 512)
    bob = create_identity(folder / "bob", "bob")
    (folder / "peers").mkdir()
    (folder / "peers" / "bob.pem").write_bytes(bob.pem)
    (folder / "model.json").write_text(model_json(small_model()))
    for name, content in (("party.toml", PARTY), ("job.toml", JOB), ("design.toml", RELATED.encode()), ("t.csv", CSV)):
        (folder / name).write_bytes(content)
    (folder / "report.json").write_text("{}")
    return folder


READERS: dict[str, Reader] = {
    "party.toml": read_party_config,
    "job.toml": read_job,
    "design.toml": read_design,
    "t.csv": read_frame,
    "model.json": read_model,
    "report.json": read_train_report,
    "key.pem": _cert,
    "cert.pem": _cert,
    "peers/bob.pem": _peers,
    PAILLIER_FILE: _keys,
    CURVE_FILE: _keys,
}


def read(reader: Reader, path: Path, content: bytes) -> None:
    """Read these bytes in the place of a file, which is put back."""
    before = path.read_bytes()
    path.write_bytes(content)
    told = ""
    try:
        reader(path)
    except CotallyError as error:
        told = str(error)
    finally:
        path.write_bytes(before)
    assert "\n" not in told


def mutated(content: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """Replace a few pieces by others."""
    for start, length, piece in changes:
        place = start % (len(content) + 1)
        content = content[:place] + piece + content[place + length :]
    return content


CHANGES = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 8), st.binary(max_size=4)), min_size=1, max_size=4)
FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", READERS)
@FEW
@given(changes=CHANGES, any_bytes=st.binary(max_size=60))
def test_changed_and_arbitrary_bytes_are_read_or_refused(
    folder: Path, name: str, changes: list[tuple[int, int, bytes]], any_bytes: bytes
) -> None:
    for content in (mutated((folder / name).read_bytes(), changes), any_bytes):
        read(READERS[name], folder / name, content)


@FEW
@given(changes=st.lists(st.tuples(st.integers(0, 1 << 12), st.just(1), st.binary(min_size=1, max_size=1)), max_size=2))
def test_a_certificate_changed_under_its_armour_is_read_or_refused(
    folder: Path, changes: list[tuple[int, int, bytes]]
) -> None:
    der = load_peers(folder)["bob"].certificate.public_bytes(Encoding.DER)
    read(_peers, folder / "peers/bob.pem", armoured(mutated(der, changes)))


def armoured(der: bytes) -> bytes:
    return b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE-----\n"


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
    before = path.read_bytes()
    der = load_peers(folder)["bob"].certificate.public_bytes(Encoding.DER)
    assert old in der
    path.write_bytes(armoured(der.replace(old, new)))
    try:
        with pytest.raises(InputError, match=r"bob\.pem is not"):
            load_peers(folder)
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("name", ["party.toml", "job.toml", "design.toml"])
def test_odd_numbers_in_the_place_of_each_value_are_read_or_refused_in_one_line(folder: Path, name: str) -> None:
    lines = (folder / name).read_bytes().split(b"\n")
    for place, line in enumerate(lines):
        start = line.rfind(b"= ") + 2
        for number in ODD_NUMBERS if start > 1 else ():
            end = b" }" if line.endswith(b"}") else b""
            read(
                READERS[name],
                folder / name,
                b"\n".join([*lines[:place], line[:start] + number + end, *lines[place + 1 :]]),
            )


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
