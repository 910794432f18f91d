"""Signatures by the keys of certificates."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519

from party.keys.certificates import utc_now
from party.keys.signatures import signatures
from tests.support.rpc import make_parties


def test_a_signature_is_theirs_for_its_statement_and_its_signer_alone(tmp_path: Path) -> None:
    made = make_parties(tmp_path)
    alice, bob = signatures(made.alice, made.pinned_bob), signatures(made.bob, made.pinned_alice)
    signature = alice.sign(b"a statement")
    assert bob.is_theirs(b"a statement", signature)
    assert not bob.is_theirs(b"another", signature)
    assert not alice.is_theirs(b"a statement", signature)  # as if it were Bob's
    assert alice.is_ours(b"a statement", signature)
    assert not bob.is_ours(b"a statement", signature)
    for wrong in (b"", b"0", signature[:-1], signature + b"0"):
        assert not bob.is_theirs(b"a statement", wrong)


def test_under_a_certificate_over_another_kind_of_key_no_signature_is_theirs(tmp_path: Path) -> None:
    made, key, name = make_parties(tmp_path), ed25519.Ed25519PrivateKey.generate(), x509.Name([])
    start, end = utc_now(), utc_now() + timedelta(days=1)
    other = x509.CertificateBuilder(name, name, key.public_key(), 1, start, end).sign(key, None)
    bob = signatures(made.bob, replace(made.pinned_alice, certificate=other))
    assert not bob.is_theirs(b"a statement", signatures(made.alice, made.pinned_bob).sign(b"a statement"))
    assert not bob.is_theirs(b"a statement", key.sign(b"a statement"))
