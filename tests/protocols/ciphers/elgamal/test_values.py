import pickle
import secrets

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.ciphers.curve import are_finite, negate_points
from protocols.ciphers.elgamal import values as module
from protocols.ciphers.elgamal.encryption import CurveEncryptor, read_pairs, write_pairs
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.elgamal.values import CurveSums, CurveValues
from protocols.errors import InputError

ENCRYPTOR = CurveEncryptor(CurvePrivateKey(12345), secrets)


def values(*messages: int) -> CurveValues:
    return CurveValues.of(read_pairs(write_pairs(ENCRYPTOR.encrypt(messages))))


def minus(given_values: CurveValues) -> CurveValues:
    return CurveValues(negate_points(given_values.points), -given_values.numbers)


def test_a_ciphertext_and_its_negative_meet_at_infinity_and_keep_their_number() -> None:
    one = CurveValues(values(1, 1).points, np.array([3, 4]))
    sums = CurveSums(3)
    sums.add(one, np.array([0, 2]))
    sums.add(CurveValues(negate_points(one.points), np.array([4, 9])), np.array([0, 1]))
    totals = sums.totals()
    assert are_finite(totals.points).tolist() == [[False] * 2, [True] * 2, [True] * 2]
    assert totals.numbers.tolist() == [7, 9, 4]


def test_one_half_may_be_at_infinity_alone() -> None:
    """A hostile key holder may send ciphertexts whose first halves cancel."""
    pair = values(1, 5)
    pair.points[1, 0] = negate_points(pair.points[0, 0][None])[0]
    sums = CurveSums(1)
    sums.add(pair, np.array([0, 0]))
    assert are_finite(sums.totals().points).tolist() == [[False, True]]


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=20))
def test_sums_are_the_same_however_many_passes_they_take(steps: list[tuple[int, int, bool]]) -> None:
    table = values(*range(6))
    table = CurveValues.join([table, minus(table)])
    patient, hasty = CurveSums(4), CurveSums(4)
    for number, group, negative in steps:
        row = np.array([number + 6 * negative])
        one = CurveValues(table.points[row], np.array([number]))
        patient.add(one, np.array([group]))
        hasty.add(one, np.array([group]))
        hasty.totals()
    assert (patient.totals().points == hasty.totals().points).all()
    assert (patient.totals().numbers == hasty.totals().numbers).all()


def test_what_waits_is_added_once_it_is_more_than_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PENDING", 8)
    sums, table = CurveSums(1), values(1, 2, 3)
    for _ in range(4):
        sums.add(table, np.zeros(3, dtype=np.intp))
        assert sum(len(points) for points, _ in sums._pending) <= 8
    assert (sums.totals().points == _at_once(table, 4).points).all()


def _at_once(table: CurveValues, times: int) -> CurveValues:
    sums = CurveSums(1)
    sums.add(CurveValues.join([table] * times), np.zeros(times * len(table), dtype=np.intp))
    return sums.totals()


def test_a_pickle_holds_arrays_and_no_object_per_point() -> None:
    some = values(*[1] * 100)
    data = pickle.dumps(some)
    assert len(data) < 100 * 137 + 1000
    assert (pickle.loads(data).points == some.points).all()


def test_a_pickle_of_another_build_of_the_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_form", lambda: bytes(64))
    data = pickle.dumps(values(1))
    monkeypatch.undo()
    with pytest.raises(InputError, match="same build of btclib-secp256k1"):
        pickle.loads(data)
