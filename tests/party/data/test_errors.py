import pytest

from party.errors import ConfigError, DataError, IdentityError, PeerLostError, PeerStoppedError, exit_code
from protocols.errors import CotallyError, DeviationError, DisagreementError, InputError, PeerError


@pytest.mark.parametrize("kind", [InputError, DataError, ConfigError, IdentityError])
def test_our_own_faults_end_with_2(kind: type[InputError]) -> None:
    assert issubclass(kind, InputError)
    assert exit_code(kind("x")) == 2


@pytest.mark.parametrize(
    "error",
    [
        PeerError("x"),
        PeerLostError("x"),
        PeerStoppedError("x"),
        DeviationError(),
    ],
)
def test_the_peers_faults_end_with_3(error: CotallyError) -> None:
    assert isinstance(error, PeerError)
    assert exit_code(error) == 3


def test_parties_that_differ_end_with_5() -> None:
    assert issubclass(DisagreementError, PeerError)
    assert exit_code(DisagreementError("theta", "differs")) == 5


def test_a_data_error_names_what_is_known_of_the_place() -> None:
    error = DataError("is odd", path="t.csv", line=3, column="age")
    assert str(error) == "t.csv, line 3, column 'age': is odd"
    assert (error.path, error.line, error.column) == ("t.csv", 3, "age")
    assert str(DataError("is odd", path="t.csv", column="age")) == "t.csv, column 'age': is odd"
    assert str(DataError("is odd")) == "is odd"
