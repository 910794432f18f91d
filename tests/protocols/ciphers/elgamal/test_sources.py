"""What the sources of the package must not do, and what no `repr` may show."""

import re
import secrets
from pathlib import Path

import protocols.ciphers.elgamal
from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.encryption import CurveEncryptor, FreshPairs
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.elgamal.point_table import GENERATOR, table_of
from protocols.ciphers.elgamal.values import CurveSums
from tests.protocols.ciphers.paillier.test_rules import calls

PACKAGE = Path(protocols.ciphers.elgamal.__file__).parent
ROOT = PACKAGE.parents[2]


def test_only_encryption_and_sealing_make_fresh_pairs() -> None:
    makers = {
        path.relative_to(PACKAGE).as_posix()
        for folder in ("protocols", "party")
        for path in (ROOT / folder).rglob("*.py")
        for name, _ in calls(path)
        if name == "FreshPairs"
    }
    assert makers == {"encryption.py", "sealing.py"}


def test_the_secret_never_reaches_a_multiplication_whose_time_shows_it() -> None:
    text = "".join(path.read_text() for path in (*PACKAGE.glob("*.py"), PACKAGE.parent / "curve.py"))
    assert "tweak_mul" not in text
    assert "secp256k1_ecdh" in text


def test_representations_show_kind_and_size_only() -> None:
    key = CurvePrivateKey(2**200 + 12345)
    holder, fresh = CurveKeyHolder(key), CurveEncryptor(key, secrets).encrypt([1])
    shown = {
        repr(key): "CurvePrivateKey(secp256k1)",
        repr(key.public_key): "CurvePublicKey(secp256k1)",
        repr(holder): "CurveKeyHolder(secp256k1)",
        repr(holder.public): "CurveCiphertexts(secp256k1)",
        repr(holder.encryption(secrets)): "CurveEncryptor(secp256k1)",
        repr(fresh): "FreshPairs(1)",
        repr(CurveSums(3).totals()): "<CurveValues 3>",
        repr(table_of(GENERATOR)): "PointTable(524288 bytes)",
        repr(FreshPairs(b"")): "FreshPairs(0)",
    }
    assert list(shown) == list(shown.values())
    assert not any(re.search(r"12345", text) for text in shown)
