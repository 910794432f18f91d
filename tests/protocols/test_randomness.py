"""Coins come from here: exact, keyed, without a float."""

import hashlib
import hmac
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.randomness import canonical, keyed_digest, keyed_uniforms, public_order


@given(st.lists(st.binary(max_size=3), max_size=3), st.lists(st.binary(max_size=3), max_size=3))
def test_two_splits_never_join_to_the_same_bytes(one: list[bytes], other: list[bytes]) -> None:
    assert (canonical(*one) == canonical(*other)) == (one == other)


@given(st.binary(max_size=150), st.lists(st.binary(max_size=150), max_size=3))
def test_many_under_one_key_are_what_each_is_alone(key: bytes, labels: list[bytes]) -> None:
    """Keys longer than a block of the hash are hashed first (RFC 2104)."""
    alone = [int.from_bytes(hmac.digest(key, canonical(label, bytes(4)), "sha256"), "big") % 1000 for label in labels]
    assert list(keyed_uniforms(key, labels, 1000)) == alone


def test_fields_are_canonical_and_digests_keyed() -> None:
    assert canonical(b"ab", b"") == b"\0\0\0\0\0\0\0\2ab\0\0\0\0\0\0\0\0"
    assert canonical() == b""
    expected = hmac.new(b"key", canonical(b"a", b"bc"), hashlib.sha256).digest()
    assert keyed_digest(b"key", b"a", b"bc") == expected
    for bound in (1, 2, 20, 63 * 20, 10**9, 2**128):
        block = hmac.new(b"key", canonical(b"label", b"\0\0\0\0"), hashlib.sha256).digest()
        assert list(keyed_uniforms(b"key", [b"label"], bound)) == [int.from_bytes(block, "big") % bound]
    for bound in (0, -1, 2**128 + 1):
        with pytest.raises(InputError, match=r"between 1 and 2\*\*128"):
            list(keyed_uniforms(b"key", [b"label"], bound))


@pytest.mark.parametrize("bound", range(1, 17))
def test_over_all_blocks_every_integer_comes_equally_often(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With blocks of 8 bits: 256 blocks, of which those past the last multiple of the bound are drawn again."""
    monkeypatch.setattr("protocols.randomness._BLOCK_BITS", 8)
    again = b"\0"
    drawn: Counter[int] = Counter()
    rejected = 0
    for block in range(256):
        asked: list[bytes] = []

        def digest(message: bytes, block: int = block, asked: list[bytes] = asked) -> bytes:
            asked.append(message[-4:])
            return bytes([block]) if message.endswith(bytes(4)) else again

        monkeypatch.setattr("protocols.randomness._digest_under", lambda _key, digest=digest: digest)
        (value,) = keyed_uniforms(b"", [b""], bound)
        assert asked == [n.to_bytes(4, "big") for n in range(len(asked))]
        if len(asked) == 1:
            drawn[value] += 1
        else:
            assert value == 0
            rejected += 1
    assert drawn == dict.fromkeys(range(bound), 256 // bound)
    assert rejected == 256 % bound


def test_the_public_order_depends_on_the_seed_alone() -> None:
    orders = [public_order(seed, 50) for seed in (0, 1, 2, 12)]
    assert all(sorted(order) == list(range(50)) for order in orders)
    assert all(one != other for one, other in pairwise(orders))
    assert public_order(1, 50) == orders[1]

    # Both parties, and later versions, must split alike.
    def place(index: int) -> bytes:
        return hashlib.sha256(b"\0\0\0\0\0\0\0\00217" + (8).to_bytes(8, "big") + index.to_bytes(8, "big")).digest()

    assert list(public_order(17, 9)) == sorted(range(9), key=place)
