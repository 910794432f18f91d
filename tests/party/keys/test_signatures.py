"""Signatures by the keys of certificates."""

from pathlib import Path

from party.keys.signatures import signatures
from tests.support.rpc import make_parties


def test_a_signature_is_good_for_its_statement_and_its_signer_alone(tmp_path: Path) -> None:
    made = make_parties(tmp_path)
    alice, bob = signatures(made.alice, made.pinned_bob), signatures(made.bob, made.pinned_alice)
    signature = alice.sign(b"a statement")
    assert bob.is_good(b"a statement", signature)
    assert not bob.is_good(b"another", signature)
    assert not alice.is_good(b"a statement", signature)  # as if it were Bob's
    for wrong in (b"", b"0", signature[:-1], signature + b"0"):
        assert not bob.is_good(b"a statement", wrong)
