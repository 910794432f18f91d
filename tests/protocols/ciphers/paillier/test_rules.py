"""What the sources of the package must not do, and what no `repr` may show."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import protocols.ciphers.paillier
from protocols.ciphers.draws import watched
from protocols.ciphers.paillier.encryption import Encryptor, FixedBase
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.paillier.packing import FreshCiphertext
from tests.protocols.ciphers.paillier.chance import Chance

PACKAGE = Path(protocols.ciphers.paillier.__file__).parent
ROOT = PACKAGE.parents[2]
PUBLIC_EXPONENTS = {"n"}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rsplit(".", 1)[-1], node


def exponents_shown(path: Path) -> list[str]:
    """List the exponents that a source gives to a power whose time shows them."""
    return [
        ast.unparse(call.args[1])
        for name, call in calls(path)
        if (name == "powmod" and ast.unparse(call.args[1]) not in PUBLIC_EXPONENTS) or (name == "pow")
    ]


def test_secret_exponents_never_reach_the_plain_power(tmp_path: Path) -> None:
    for path in sorted(PACKAGE.glob("*.py")):
        shown = exponents_shown(path)
        assert shown == (["exponent"] if path.name == "arithmetic.py" else [])
    source = tmp_path / "source.py"
    source.write_text("powmod(c, n, m)\npowmod_secret(c, p - 1, m)\npowmod(c, p - 1, m)\npow(c, d, m)\n")
    assert exponents_shown(source) == ["p - 1", "d"]
    users = {path.name for path in PACKAGE.glob("*.py") for name, _ in calls(path) if name == "powmod_secret"}
    assert users == {"keys.py", "encryption.py"}


def test_only_encryption_and_packing_make_fresh_ciphertexts() -> None:
    makers = {
        path.relative_to(ROOT).as_posix()
        for folder in ("protocols", "party")
        for path in (ROOT / folder).rglob("*.py")
        for name, _ in calls(path)
        if name == "FreshCiphertext"
    }
    assert makers == {"protocols/ciphers/paillier/encryption.py", "protocols/ciphers/paillier/packing.py"}


def test_representations_show_kind_and_size_only(key: PrivateKey, small_key: PrivateKey) -> None:
    encryptor = Encryptor(key, Chance(1))
    shown = {
        repr(key): "PrivateKey(512 bits)",
        repr(key.public_key): "PublicKey(512 bits)",
        repr(encryptor): "Encryptor(512 bits)",
        repr(watched(Chance(1))): "WatchedRandomness()",
        repr(FreshCiphertext(key.public_key.n)): "FreshCiphertext(512 bits)",
        repr(FixedBase(small_key.p + 2, small_key.p, 20)): "FixedBase(64-bit prime, 4 rows)",
    }
    assert list(shown) == list(shown.values())
    assert not any(re.search(r"\d{5}", text) for text in shown)
