import pytest

from protocols.ciphers.curve import ORDER
from protocols.ciphers.elgamal.keys import CurvePrivateKey, check_peer_key
from protocols.errors import InputError, PeerError
from tests.protocols.ciphers.elgamal.plain import as_bytes, times
from tests.protocols.ciphers.test_curve import HOSTILE

OURS = CurvePrivateKey(5).public_key
THEIRS = as_bytes(times(7))


def test_the_public_key_is_the_multiple_of_the_generator() -> None:
    assert OURS.point == as_bytes(times(5))
    assert CurvePrivateKey(ORDER - 1).public_key.point == as_bytes(times(ORDER - 1))


@pytest.mark.parametrize("secret", [0, ORDER, -1, ORDER + 5])
def test_a_number_out_of_range_is_no_private_key(secret: int) -> None:
    with pytest.raises(InputError, match="below the order"):
        CurvePrivateKey(secret)


def test_any_other_point_is_let_in_as_the_peers_key() -> None:
    assert check_peer_key(THEIRS, OURS).point == THEIRS


@pytest.mark.parametrize("data", [*HOSTILE.values(), b"", THEIRS * 2], ids=[*HOSTILE, "nothing", "two points"])
def test_bytes_that_are_no_point_are_no_key(data: bytes) -> None:
    with pytest.raises(PeerError, match="point of the curve"):
        check_peer_key(data, OURS)


@pytest.mark.parametrize("secret", [5, ORDER - 5])
def test_our_own_key_and_its_mirror_image_are_not_the_peers(secret: int) -> None:
    with pytest.raises(PeerError, match="ours"):
        check_peer_key(as_bytes(times(secret)), OURS)


def test_fingerprints_differ_and_can_be_read_aloud() -> None:
    fingerprint = OURS.fingerprint()
    assert fingerprint != check_peer_key(THEIRS, OURS).fingerprint()
    assert [len(part) for part in fingerprint.split(" ")] == [4] * 16
