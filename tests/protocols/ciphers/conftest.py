import pytest

from protocols.ciphers.paillier.keys import PrivateKey
from tests.protocols.ciphers.paillier.chance import Chance


@pytest.fixture
def chance() -> Chance:
    return Chance(20240)


@pytest.fixture(scope="session")
def tiny_key() -> PrivateKey:
    """N = 35: everything can be enumerated."""
    return PrivateKey(5, 7)


@pytest.fixture(scope="session")
def small_key() -> PrivateKey:
    """N of 128 bits: room for replies, no protection."""
    return PrivateKey(0xF00000000000002B, 0xF800000000000027)


@pytest.fixture(scope="session")
def key() -> PrivateKey:
    """N of 512 bits: draws are long enough to be watched."""
    return PrivateKey(
        0xC0000172EBAD6DDC73C86D67C5FAA71C245689C1079502400000000000000057,
        0xD235FADD81C2822BB3F07877973D50F28BF22A31BE8EE80000000000000000FB,
    )
