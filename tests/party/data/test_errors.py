from party.errors import ConfigError, DataError, IdentityError, PeerLostError, PeerStoppedError, exit_code
from protocols.errors import DeviationError, DisagreementError, InputError, PeerError


def test_faults_end_with_their_exit_codes() -> None:
    for kind in (InputError, DataError, ConfigError, IdentityError):
        assert issubclass(kind, InputError)
        assert exit_code(kind("x")) == 2
    for error in (PeerError("x"), PeerLostError("x"), PeerStoppedError("x"), DeviationError()):
        assert isinstance(error, PeerError)
        assert exit_code(error) == 3
    assert issubclass(DisagreementError, PeerError)
    assert exit_code(DisagreementError("theta", "differs")) == 5


def test_a_data_error_names_what_is_known_of_the_place() -> None:
    error = DataError("is odd", path="t.csv", line=3, column="age")
    assert str(error) == "t.csv, line 3, column 'age': is odd"
    assert (error.path, error.line, error.column) == ("t.csv", 3, "age")
    assert str(DataError("is odd", path="t.csv", column="age")) == "t.csv, column 'age': is odd"
    assert str(DataError("is odd")) == "is odd"
