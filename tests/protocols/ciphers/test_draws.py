import pytest

from protocols.ciphers.draws import WatchedRandomness, watched
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.keys import PublicKey
from protocols.ciphers.paillier.packing import draw_unit
from protocols.errors import InputError
from tests.protocols.ciphers.paillier.chance import Chance, Script

LONG = 2**128


def test_equal_draws_in_a_row_are_refused() -> None:
    source = WatchedRandomness(Script([5, 6, 5, 5]))
    assert [source.randbelow(LONG) for _ in range(3)] == [5, 6, 5]
    with pytest.raises(InputError, match="repeated"):
        source.randbelow(LONG)
    source = WatchedRandomness(Script([5, 6, 5]))
    source.randbelow(LONG)
    source.randbelow(2 * LONG)
    with pytest.raises(InputError, match="repeated"):
        source.randbelow(LONG)
    source = WatchedRandomness(Script([5, 5]))
    source.randbelow(LONG)
    with pytest.raises(InputError, match="repeated"):
        source.randbelow(2 * LONG)
    source = WatchedRandomness(Script([5, 5, 5]))
    assert [source.randbelow(2**128 - 1) for _ in range(3)] == [5, 5, 5]
    for draw in (-1, 10):
        with pytest.raises(InputError, match="range"):
            WatchedRandomness(Script([draw])).randbelow(10)


def test_a_source_that_fails_is_not_replaced_and_a_watched_one_keeps_its_memory(chance: Chance) -> None:
    class Broken:
        def randbelow(self, exclusive_upper_bound: int, /) -> int:
            raise OSError

    with pytest.raises(OSError):  # noqa: PT011  # the source's own
        WatchedRandomness(Broken()).randbelow(10)
    source = watched(chance)
    assert watched(source) is source
    assert draw_unit(PublicKey(Integer(35)), watched(Script([0, 5, 14, 34]))) == 34
