import secrets

import numpy as np
import pytest

from protocols.ciphers.curve import ORDER
from protocols.ciphers.elgamal.cipher import MOST_COUNT, CurveKeyHolder
from protocols.ciphers.elgamal.encryption import CIPHERTEXT_BYTES, CurveEncryptor, read_pairs, write_pairs
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.elgamal.sealing import seal_pairs
from protocols.ciphers.elgamal.values import CurveSums, CurveValues
from protocols.ciphers.port import Reply, Shape
from protocols.errors import DeviationError, InputError
from tests.protocols.ciphers.elgamal.plain import as_bytes, times
from tests.protocols.ciphers.paillier.chance import Chance, Script

KEY = CurvePrivateKey(2)
HOLDER = CurveKeyHolder(KEY)
NOTHING = CurveSums(1).totals()


def ciphertext(message: int, r: int) -> CurveValues:
    return CurveValues.of(read_pairs(write_pairs(CurveEncryptor(KEY, Script([r])).encrypt([message]))))


def sealed(values: CurveValues, s: int) -> bytes:
    return write_pairs(seal_pairs(KEY.public_key, values, Script([s])))


def test_a_seal_is_the_one_worked_by_hand() -> None:
    """With x = 2, s = 5: (3G, 7G) becomes (8G, 17G), and with the number 4, (8G, 21G); nothing becomes (5G, 10G)."""
    one = ciphertext(1, 3)
    assert sealed(one, 5) == as_bytes(times(8)) + as_bytes(times(17))
    assert sealed(CurveValues(one.points, np.array([4])), 5) == as_bytes(times(8)) + as_bytes(times(21))
    assert sealed(NOTHING, 5) == as_bytes(times(5)) + as_bytes(times(10))


@pytest.mark.parametrize("r", [3, 77, ORDER - 9])
def test_sums_of_equal_counts_have_the_same_distribution_of_seals(r: int) -> None:
    """Draw for draw: what `s` makes of one sum, `s + r - r'` makes of another; as uniform as `s` is.

    So a sum of nothing with the number 1, a fresh ciphertext of 1 and one less 3 with 4 added cannot be told apart.
    """
    reference = sealed(ciphertext(1, 12), 1000)
    others = [
        (CurveValues(NOTHING.points, np.array([1])), 0),
        (ciphertext(1, r), r),
        (CurveValues(ciphertext(4, r).points, np.array([-3])), r),
    ]
    for values, randomness in others:
        assert sealed(values, (1000 + 12 - randomness) % ORDER) == reference


def test_each_item_is_sealed_with_chance_of_its_own() -> None:
    chance = Chance(3)
    items = CurveValues.join([NOTHING] * 4)
    page = write_pairs(seal_pairs(KEY.public_key, items, chance))
    assert chance.bounds == [ORDER] * 4
    parts = {page[start : start + CIPHERTEXT_BYTES] for start in range(0, len(page), CIPHERTEXT_BYTES)}
    assert len(parts) == 4


def test_a_source_that_fails_seals_nothing() -> None:
    with pytest.raises(InputError, match="randomness failed"):
        sealed(NOTHING, 0)
    with pytest.raises(InputError, match="repeated"):
        seal_pairs(KEY.public_key, CurveValues.join([NOTHING] * 2), Script([5, 5]))


@pytest.mark.parametrize("largest", [1, 40, 1023, 1024, 70_000])
def test_counts_are_told_from_nothing_to_all_and_not_beyond(largest: int) -> None:
    for count in (0, 1, largest // 2, largest):
        values = CurveValues(NOTHING.points, np.array([count]))
        assert HOLDER.counts(sealed(values, 9), [Shape(1, 1)], largest) == [count]
    for beyond in (largest + 1, -1, 2**40):
        values = CurveValues(NOTHING.points, np.array([beyond]))
        with pytest.raises(DeviationError):
            HOLDER.counts(sealed(values, 9), [Shape(1, 1)], largest)


def test_one_count_out_of_range_ends_all() -> None:
    values = CurveValues.join([CurveValues(NOTHING.points, np.array([count])) for count in (3, 1001)])
    page = write_pairs(seal_pairs(KEY.public_key, values, secrets))
    with pytest.raises(DeviationError):
        HOLDER.counts(page, [Shape(2, 1)], 1000)


def test_a_pair_of_other_points_is_no_count() -> None:
    """With x = 2: (5G, -5G) holds -15."""
    with pytest.raises(DeviationError):
        HOLDER.counts(as_bytes(times(5)) + as_bytes(times(ORDER - 5)), [Shape(1, 1)], 100_000)


def test_counts_too_large_to_look_up_and_two_columns_at_once_are_refused() -> None:
    assert HOLDER.public.slots(MOST_COUNT) == 1
    with pytest.raises(InputError, match="use cipher paillier"):
        HOLDER.public.slots(MOST_COUNT + 1)
    with pytest.raises(InputError, match="one column"):
        HOLDER.pack(np.zeros((3, 2), dtype=np.bool_), 3)
    with pytest.raises(InputError, match="one slot"):
        HOLDER.public.seal([Reply(NOTHING, slots=2)], 3, secrets)
