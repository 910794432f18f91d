"""The code of a pairing, and what binds it to both certificates."""

from collections.abc import Callable

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given, settings
from hypothesis import strategies as st

from party.keys.certificates import general_name, self_signed, utc_now
from party.keys.pairing import CODE_DIGITS, Meeting, Pairing, new_code, read_spoken_code
from protocols.errors import InputError, PeerError
from tests.support.examples import at_most


def certificate(name: str) -> x509.Certificate:
    return self_signed(ec.generate_private_key(ec.SECP256R1()), name, [general_name("localhost")], utc_now())


ALICE, BOB, MALLORY = (certificate(name) for name in ("alice", "bob", "mallory"))
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


@settings(max_examples=at_most(40))
@given(
    st.binary(max_size=40) | st.binary(min_size=32, max_size=32).map(lambda rest: b"B" + rest), st.binary(max_size=9)
)
def test_whatever_comes_ends_as_one_error(point: bytes, sent: bytes) -> None:
    try:
        met = Pairing(CODE, BOB, calls=True).meet(point, sent)
    except PeerError:
        return
    with pytest.raises(PeerError):
        met.verify(bytes(32))


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
