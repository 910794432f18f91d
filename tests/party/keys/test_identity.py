"""Identities: what is made, what is refused, and that each fault is named."""

import dataclasses
import errno
import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from party.errors import IdentityError
from party.keys.certificates import (
    HEAD_START,
    LIFETIME,
    fingerprint,
    general_name,
    parse_certificate,
    self_signed,
    utc_now,
)
from party.keys.identity import Identity, is_signed_by, load_identity, load_peers, trust
from party.keys.pairing import CODE_DIGITS, Meeting, Pairing, new_code, read_spoken_code
from protocols.errors import InputError, PeerError
from tests.support.identities import create_identity
from tests.support.rpc import make_parties

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
BOTH = (ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH)


def at_noon() -> datetime:
    return NOW


def create(directory: Path, name: str, *hosts: str) -> Identity:
    return create_identity(directory, name, hosts or ("localhost", "127.0.0.1"), clock=at_noon)


def certificate(
    key: ec.EllipticCurvePrivateKey,
    *,
    name: str = "mallory",
    signer: ec.EllipticCurvePrivateKey | None = None,
    usages: tuple[x509.ObjectIdentifier, ...] | None = BOTH,
    hosts: tuple[str, ...] | None = ("localhost",),
    others: tuple[x509.GeneralName, ...] = (),
    common_names: int = 1,
    beside: tuple[x509.NameAttribute[str], ...] = (),
    signs_others: bool | None = None,
) -> bytes:
    subject = x509.Name([*[x509.NameAttribute(NameOID.COMMON_NAME, name)] * common_names, *beside])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW)
        .not_valid_after(NOW + timedelta(days=1))
    )
    if usages is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    if hosts is not None:
        names = x509.SubjectAlternativeName([*map(x509.DNSName, hosts), *others])
        builder = builder.add_extension(names, critical=False)
    if signs_others is not None:
        usage = x509.KeyUsage(True, False, False, False, False, signs_others, False, False, False)
        builder = builder.add_extension(usage, critical=True)
    return builder.sign(signer or key, hashes.SHA256()).public_bytes(Encoding.PEM)


def key_pem(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_a_new_identity_says_who_and_where_and_for_how_long(tmp_path: Path) -> None:
    made = create(tmp_path / "deep" / "alice", "alice", "localhost", "node.example.org", "127.0.0.1", "::1")
    assert made.name == "alice"
    assert made.hosts == ("localhost", "node.example.org", "127.0.0.1", "::1")
    cert = made.certificate
    assert cert.not_valid_before_utc == NOW - HEAD_START
    assert cert.not_valid_after_utc == NOW + LIFETIME
    assert not cert.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert set(cert.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == set(BOTH)
    usage = cert.extensions.get_extension_for_class(x509.KeyUsage)
    assert usage.critical
    assert usage.value.digital_signature
    assert not usage.value.key_cert_sign
    assert isinstance(made.key.curve, ec.SECP256R1)
    loaded = load_identity(tmp_path / "deep" / "alice", clock=at_noon)
    assert loaded.key_pem == made.key_pem
    assert loaded.certificate == cert


def test_two_identities_have_two_private_keys_and_no_repr_shows_one(tmp_path: Path) -> None:
    create(tmp_path / "alice", "alice")
    assert (tmp_path / "alice").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "alice" / "key.pem").stat().st_mode & 0o777 == 0o600
    assert create(tmp_path / "a", "alice").key_pem != create(tmp_path / "b", "alice").key_pem
    assert repr(create(tmp_path, "alice")) == "<Identity alice>"


def test_a_fingerprint_is_the_sha_256_of_the_public_key_in_groups_of_four(tmp_path: Path) -> None:
    made = create(tmp_path, "alice")
    groups = fingerprint(made.certificate).split(" ")
    assert [len(group) for group in groups] == [4] * 16
    spki = made.certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert bytes.fromhex("".join(groups)) == hashlib.sha256(spki).digest()
    assert made.fingerprint == fingerprint(made.certificate)


def test_a_party_name_is_a_plain_word_and_a_host_a_dns_name_or_an_ip_address(tmp_path: Path) -> None:
    for name in ("", "a" * 41, "a b", "../a", "ä", "alice\n", "a.b", "a/b"):
        with pytest.raises(IdentityError, match="1 to 40 letters, digits, - or _"):
            create(tmp_path, name)
    assert create(tmp_path, "Az_0-9" + "a" * 34).name.startswith("Az")
    for host in ("", "a b", "-a", "a..b", "a" * 64, "127.0.0.1:80", ".".join(["a" * 50] * 6), "*.org"):
        with pytest.raises(IdentityError, match="is no host: name it by its DNS name or an IP address"):
            create(tmp_path, "alice", "localhost", host)
    with pytest.raises(IdentityError, match="at least one DNS name or IP address"):
        create_identity(tmp_path, "alice", [])


def make_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


Spoil = Callable[[Path], object]
OTHER = ec.generate_private_key(ec.SECP256R1())
FAULTS: dict[str, tuple[Spoil, str]] = {
    "no key": (lambda d: (d / "key.pem").unlink(), r"key\.pem does not exist"),
    "no certificate": (lambda d: (d / "cert.pem").unlink(), r"cert\.pem is missing"),
    "a key for all": (lambda d: (d / "key.pem").chmod(0o644), r"key\.pem is open to other users"),
    "a key for the group": (lambda d: (d / "key.pem").chmod(0o640), r"key\.pem is open to other users"),
    "a directory for a key": (lambda d: make_a_directory(d / "key.pem"), "is not a file"),
    "an empty key": (lambda d: (d / "key.pem").write_bytes(b""), r"key\.pem is not a private key"),
    "another kind of key": (
        lambda d: (d / "key.pem").write_bytes(key_pem(ed25519.Ed25519PrivateKey.generate())),
        "not an elliptic-curve key",
    ),
    "another key": (lambda d: (d / "key.pem").write_bytes(key_pem(OTHER)), r"key\.pem is not the key of .*cert\.pem"),
    "no PEM": (lambda d: (d / "cert.pem").write_bytes(b"x"), r"cert\.pem is not a certificate"),
    "two certificates": (
        lambda d: (d / "cert.pem").write_bytes((d / "cert.pem").read_bytes() * 2),
        "must hold one certificate",
    ),
}


@pytest.mark.parametrize(("spoil", "text"), FAULTS.values(), ids=list(FAULTS))
def test_each_fault_of_a_file_is_named(tmp_path: Path, spoil: Spoil, text: str) -> None:
    create(tmp_path, "alice")
    spoil(tmp_path)
    with pytest.raises(IdentityError, match=text):
        load_identity(tmp_path, clock=at_noon)


@pytest.mark.parametrize("place", [".", "peers"])
def test_keys_are_not_read_where_others_could_put_theirs(alice: Path, bob: Path, place: str) -> None:
    trust(alice, bob / "cert.pem", clock=at_noon)
    (alice / place).chmod(0o770)
    with pytest.raises(InputError, match="others can write to"):
        load_identity(alice, clock=at_noon) if place == "." else load_peers(alice)


NO_HOST = "must be for hosts by their DNS names, without wildcards, and IP addresses"
CERTIFICATES: dict[str, tuple[bytes, str]] = {
    "no client use": (certificate(OTHER, usages=(BOTH[1],)), "extended key usage"),
    "no server use": (certificate(OTHER, usages=(BOTH[0],)), "extended key usage"),
    "no use": (certificate(OTHER, usages=None), "does not say what it is for"),
    "no hosts": (certificate(OTHER, hosts=None), "does not say what it is for, or for which hosts"),
    "a name with a slash": (certificate(OTHER, name="../x"), "does not name a party"),
    "power to sign others": (
        certificate(OTHER, signs_others=True),
        "may sign others, which would pass for it: use one",
    ),
    "power not spoken of": (certificate(OTHER), "may sign others, which would pass for it: use one made by `cotally"),
    "no name": (certificate(OTHER, common_names=0), "does not name a party"),
    "two names": (certificate(OTHER, common_names=2), "does not name a party"),
    "a second name": (
        certificate(OTHER, beside=(x509.NameAttribute(NameOID.ORGANIZATION_NAME, "alice"),)),
        "names somebody else beside mallory",
    ),
    "a name of another kind": (
        certificate(OTHER, beside=(x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "mallory"),)),
        "names somebody else beside mallory",
    ),
    "a wildcard": (certificate(OTHER, hosts=("localhost", "*.example.org"), signs_others=False), NO_HOST),
    "any host": (certificate(OTHER, hosts=("*",), signs_others=False), NO_HOST),
    "a host that clears the screen": (certificate(OTHER, hosts=("a\x1b[2J",), signs_others=False), NO_HOST),
    "hosts of which there is none": (certificate(OTHER, hosts=(), signs_others=False), NO_HOST),
    "a host and an address of mail": (
        certificate(OTHER, others=(x509.RFC822Name("a@example.org"),), signs_others=False),
        NO_HOST,
    ),
    "a private key beside it": (certificate(OTHER) + key_pem(OTHER), "holds a private key, which only its owner may"),
    "a private key": (key_pem(OTHER), "holds a private key, which only its owner may have: name cert.pem instead"),
    "another's signature": (
        certificate(OTHER, signer=ec.generate_private_key(ec.SECP256R1())),
        "not signed by its own key",
    ),
}


def test_each_fault_of_a_certificate_is_named_ours_and_a_peers(alice: Path, tmp_path: Path) -> None:
    for pem, text in CERTIFICATES.values():
        (tmp_path / "peer.pem").write_bytes(pem)
        with pytest.raises(IdentityError, match=text):
            trust(alice, tmp_path / "peer.pem", clock=at_noon)
    (alice / "key.pem").write_bytes(key_pem(OTHER))
    for pem, text in CERTIFICATES.values():
        (alice / "cert.pem").write_bytes(pem)
        with pytest.raises(IdentityError, match=text):
            load_identity(alice, clock=at_noon)


def test_dates_are_kept_to_the_second(alice: Path) -> None:
    first, last, second = NOW - HEAD_START, NOW + LIFETIME, timedelta(seconds=1)
    for moment in (first, last):
        load_identity(alice, clock=lambda moment=moment: moment)  # type: ignore[misc]
    for moment, text in (
        (first - second, "is not valid before 2026-05-04 11:00 UTC"),
        (last + second, "expired on 2028-05-03 12:00 UTC"),
    ):
        with pytest.raises(IdentityError, match=text):
            load_identity(alice, clock=lambda moment=moment: moment)  # type: ignore[misc]


@pytest.fixture
def alice(tmp_path: Path) -> Path:
    create(tmp_path / "alice", "alice")
    return tmp_path / "alice"


@pytest.fixture
def bob(tmp_path: Path) -> Path:
    create(tmp_path / "bob", "bob")
    return tmp_path / "bob"


def test_a_trusted_peer_is_among_the_peers(alice: Path, bob: Path) -> None:
    assert load_peers(alice) == {}
    peer = trust(alice, bob / "cert.pem", clock=at_noon)
    assert load_peers(alice) == {"bob": peer}
    assert peer.pem == (bob / "cert.pem").read_bytes() == (alice / "peers" / "bob.pem").read_bytes()
    assert peer.fingerprint == load_identity(bob, clock=at_noon).fingerprint
    assert trust(alice, bob / "cert.pem", clock=at_noon) == peer  # the same again is no change


def test_another_key_of_a_pinned_name_is_refused_and_the_way_is_named(alice: Path, bob: Path, tmp_path: Path) -> None:
    pinned = trust(alice, bob / "cert.pem", clock=at_noon)
    create(tmp_path / "new", "bob")
    with pytest.raises(IdentityError, match=r"another key of bob is pinned; to replace it, remove .*bob\.pem"):
        trust(alice, tmp_path / "new" / "cert.pem", clock=at_noon)
    assert load_peers(alice) == {"bob": pinned}


def test_our_own_certificate_and_our_own_name_are_refused(alice: Path, tmp_path: Path) -> None:
    with pytest.raises(IdentityError, match="is our own certificate"):
        trust(alice, alice / "cert.pem", clock=at_noon)
    for name in ("alice", "Alice"):
        create(tmp_path / name / "other", name)
        with pytest.raises(IdentityError, match="both parties are called alice"):
            trust(alice, tmp_path / name / "other" / "cert.pem", clock=at_noon)
    assert load_peers(alice) == {}


def test_a_certificate_out_of_its_dates_is_not_trusted_and_a_pinned_one_that_expires_is_named(
    alice: Path, tmp_path: Path, bob: Path
) -> None:
    create_identity(tmp_path / "old", "bob", clock=lambda: NOW - 2 * LIFETIME)
    with pytest.raises(IdentityError, match=r"cert\.pem expired on"):
        trust(alice, tmp_path / "old" / "cert.pem", clock=at_noon)
    peer = trust(alice, bob / "cert.pem", clock=at_noon)
    peer.check_dates(NOW + LIFETIME)
    with pytest.raises(IdentityError, match="the certificate of bob expired"):
        peer.check_dates(NOW + LIFETIME + timedelta(days=1))


def test_a_renewed_certificate_is_over_the_same_key_and_of_the_same_name(alice: Path, bob: Path) -> None:
    peer, key = trust(alice, bob / "cert.pem", clock=at_noon), load_identity(bob, clock=at_noon).key
    renewed = parse_certificate(certificate(key, name="bob", signs_others=False), "it")
    assert peer.renewed_as(renewed).certificate == renewed
    for other in (
        certificate(OTHER, name="bob", signs_others=False),
        certificate(key, name="carol", signs_others=False),
    ):
        with pytest.raises(IdentityError, match="is over another key than the one that we trust"):
            peer.renewed_as(parse_certificate(other, "it"))


@pytest.mark.parametrize("signs_others", [True, None])
def test_a_peer_whose_certificate_may_sign_others_is_not_called(
    alice: Path, bob: Path, signs_others: bool | None
) -> None:
    peer = trust(alice, bob / "cert.pem", clock=at_noon)
    peer.check_signs_no_other()
    pem = certificate(OTHER, signs_others=signs_others)
    with pytest.raises(IdentityError, match="the certificate of bob may sign others"):
        dataclasses.replace(peer, certificate=parse_certificate(pem, "it")).check_signs_no_other()


def test_trust_needs_a_sound_identity_and_a_pinned_file_its_name(alice: Path, bob: Path) -> None:
    (alice / "key.pem").unlink()
    with pytest.raises(IdentityError, match=r"key\.pem does not exist"):
        trust(alice, bob / "cert.pem", clock=at_noon)
    (alice / "peers").mkdir()
    (alice / "peers" / "carol.pem").write_bytes((bob / "cert.pem").read_bytes())
    with pytest.raises(IdentityError, match=r"carol\.pem is the certificate of bob"):
        load_peers(alice)


def test_the_clock_is_the_time_of_day_unless_another_is_given(tmp_path: Path) -> None:
    made = create_identity(tmp_path, "alice")
    assert abs(made.certificate.not_valid_before_utc - (datetime.now(UTC) - HEAD_START)) < timedelta(minutes=1)
    assert load_identity(tmp_path).fingerprint == made.fingerprint
    assert dataclasses.is_dataclass(made)


def test_a_certificate_that_could_not_be_written_can_be_trusted_later(
    alice: Path, bob: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(IdentityError, match=r"bob\.pem cannot be written: No space left"):
            trust(alice, bob / "cert.pem")
    assert not list((alice / "peers").iterdir())
    assert trust(alice, bob / "cert.pem").name == "bob"


def test_a_signature_is_theirs_for_its_statement_and_its_signer_alone(tmp_path: Path) -> None:
    made = make_parties(tmp_path)
    signature = made.alice.sign(b"a statement")
    for certificate in (made.alice.certificate, made.pinned_alice.certificate):
        assert is_signed_by(certificate, b"a statement", signature)
        assert not is_signed_by(certificate, b"another", signature)
        for wrong in (b"", b"0", signature[:-1], signature + b"0"):
            assert not is_signed_by(certificate, b"a statement", wrong)
    assert not is_signed_by(made.pinned_bob.certificate, b"a statement", signature)


def test_under_a_certificate_over_another_kind_of_key_no_signature_is_theirs(tmp_path: Path) -> None:
    made, key, name = make_parties(tmp_path), ed25519.Ed25519PrivateKey.generate(), x509.Name([])
    start, end = utc_now(), utc_now() + timedelta(days=1)
    other = x509.CertificateBuilder(name, name, key.public_key(), 1, start, end).sign(key, None)
    for signature in (made.alice.sign(b"a statement"), key.sign(b"a statement")):
        assert not is_signed_by(other, b"a statement", signature)


def pairing_certificate(name: str) -> x509.Certificate:
    return self_signed(ec.generate_private_key(ec.SECP256R1()), name, [general_name("localhost")], utc_now())


ALICE, BOB, MALLORY = (pairing_certificate(name) for name in ("alice", "bob", "mallory"))
CODE = read_spoken_code(new_code(lambda _: 12_345_678))


def der(made: x509.Certificate) -> bytes:
    return made.public_bytes(Encoding.DER)


def meet(caller: Pairing, listener: Pairing) -> tuple[Meeting, Meeting]:
    return (caller.meet(listener.point, listener.certificate), listener.meet(caller.point, caller.certificate))


def test_who_has_the_code_gets_the_certificate() -> None:
    bob, alice = meet(Pairing(CODE, BOB, calls=True), Pairing(CODE, ALICE, calls=False))
    assert alice.verify(bob.proof) == BOB
    assert bob.verify(alice.proof) == ALICE
    bob, alice = meet(Pairing(CODE, BOB, calls=True), Pairing("123456789", ALICE, calls=False))
    for side, other in ((alice, bob), (bob, alice)):
        with pytest.raises(PeerError, match="has another code"):
            side.verify(other.proof)


@pytest.mark.parametrize("whose", ["the caller's", "the listener's", "both"])
def test_a_certificate_that_is_changed_on_the_way_is_seen_by_both(whose: str) -> None:
    caller, listener = Pairing(CODE, BOB, calls=True), Pairing(CODE, ALICE, calls=False)
    false = der(MALLORY)
    bob = caller.meet(listener.point, listener.certificate if whose == "the caller's" else false)
    alice = listener.meet(caller.point, caller.certificate if whose == "the listener's" else false)
    for side, other in ((alice, bob), (bob, alice)):
        with pytest.raises(PeerError, match="somebody changes what is sent"):
            side.verify(other.proof)


def test_a_point_is_ours_to_judge_and_a_proof_good_in_one_direction_and_attempt() -> None:
    caller = Pairing(CODE, BOB, calls=True)
    first = Pairing(CODE, ALICE, calls=False)
    bob, alice = meet(caller, first)
    with pytest.raises(PeerError):
        bob.verify(bob.proof)  # reflected
    again = Pairing(CODE, ALICE, calls=False).meet(caller.point, caller.certificate)
    with pytest.raises(PeerError):
        again.verify(bob.proof)  # replayed to a listener that draws afresh
    assert alice.verify(bob.proof) == BOB
    for point in (caller.point, b"B" + caller.point[1:]):
        with pytest.raises(PeerError, match="does not begin as a pairing does"):
            Pairing(CODE, BOB, calls=True).meet(caller.point, der(ALICE))
        with pytest.raises(PeerError, match="does not begin as a pairing does"):
            Pairing(CODE, BOB, calls=True).meet(point[:1] + bytes(32), der(ALICE))
    # The library reads the first 32 bytes, and would take one point in many forms.
    point = Pairing(CODE, BOB, calls=True).point
    for changed in (point + b"x", point + bytes(1 << 16), point[:-1]):
        with pytest.raises(PeerError, match="does not begin as a pairing does"):
            Pairing(CODE, ALICE, calls=False).meet(changed, der(BOB))


@pytest.mark.parametrize("length", [0, 8193, 1 << 20])
def test_what_is_no_certificate_by_its_length_is_refused_before_anything_is_worked_out(length: int) -> None:
    listener, caller = Pairing(CODE, ALICE, calls=False), Pairing(CODE, BOB, calls=True)
    with pytest.raises(PeerError, match="does not begin as a pairing does"):
        listener.meet(caller.point, bytes(length))


# The code as people say it


def check_of(digits: str) -> str:
    """The recurrence of the standard, written the other way round: the product is carried."""
    product = 10
    for digit in digits:
        total = (int(digit) + product) % 10
        product = (2 * (total or 10)) % 11
    return str((11 - product) % 10)


CHANGES: dict[str, Callable[[str, int], str]] = {
    "a wrong digit": lambda code, at: code[:at] + str((int(code[at]) + 3) % 10) + code[at + 1 :],
    "a digit too few": lambda code, at: code[:at] + code[at + 1 :],
    "a letter": lambda code, at: code[:at] + "O" + code[at + 1 :],
}


def test_one_guess_in_a_hundred_million_is_right_and_codes_are_read_as_people_write_them() -> None:
    bounds: list[int] = []

    def draw(bound: int) -> int:
        bounds.append(bound)
        return 0

    assert new_code(draw) == "000 000 003"
    assert bounds == [10**CODE_DIGITS] == [100_000_000]
    spoken = new_code(lambda _: 7_004_217)
    for text in (spoken, spoken.replace(" ", ""), spoken.replace(" ", "-"), f"  {spoken}\n"):
        assert read_spoken_code(text) == spoken.replace(" ", "")
    code = read_spoken_code(new_code(lambda _: 7_004_217))
    for zero in ("\u0660", "\uff10"):
        other = "".join(chr(ord(zero) + int(digit)) for digit in code[:-1])
        assert int(other) == int(code[:-1])
        with pytest.raises(InputError, match="the code has 9 digits"):
            read_spoken_code(other + code[-1])
    # The standard's own example: 0794 has the check digit 5.
    assert new_code(lambda _: 794)[-1] == check_of("00000794")
    assert check_of("0794") == "5"
    for case in CHANGES.values():
        code = read_spoken_code(new_code(lambda _: 31_415_926))
        for at in range(len(code)):
            with pytest.raises(InputError, match="code"):
                read_spoken_code(case(code, at))
