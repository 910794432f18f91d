"""What all runs over a data set may tell together: refused by both before anything leaves, with the arithmetic."""

import re
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.settings.party import read_party_config
from protocols.errors import DisagreementError
from protocols.terms import Method
from tests.party.node.test_what_is_remembered import ANY_ODDS, CASE, contents, of_kind
from tests.support.sessions import NAMES, Sessions, with_terms

MINED = with_terms(CASE, method=Method.RANDOMIZED)
SECURE = with_terms(CASE, method=Method.SMC, max_depth=1)


def let(sessions: Sessions, party: str, line: str) -> None:
    """Put a line into a party's [agree]."""
    path = sessions.folder / party / "party.toml"
    key = line.split(" =", maxsplit=1)[0]
    others = re.sub(rf"^{key} = .*\n", "", path.read_text(), flags=re.MULTILINE)
    path.write_text(f"{others}{line}\n")


def refused(sessions: Sessions, terms: object, party: str) -> str:
    """Return what a party's own screen says of a run that it refuses, when both have ended and nothing has left."""
    before = {name: [e for e in contents(sessions, name) if e["kind"] != "head"] for name in NAMES}
    errors = dict(zip(NAMES, sessions.both_errors(terms), strict=True))  # type: ignore[arg-type]
    for error in errors.values():
        assert isinstance(error, DisagreementError)
        assert error.field == "budget"
    assert {name: [e for e in contents(sessions, name) if e["kind"] != "head"] for name in NAMES} == before
    other = NAMES[party == NAMES[0]]
    assert "has told of its data set as much as it allows" in str(errors[other])
    return str(errors[party])


@pytest.mark.parametrize("party", NAMES)
def test_a_run_on_new_terms_is_one_too_many_and_an_old_one_may_be_repeated(tmp_path: Path, party: str) -> None:
    sessions = Sessions(tmp_path, MINED, ANY_ODDS)
    let(sessions, party, "most_runs = 2")
    deeper = [with_terms(MINED, max_depth=depth).terms for depth in (1, 2)]
    sessions.run()
    sessions.run()
    sessions.run(deeper[0])
    said = refused(sessions, deeper[1], party)
    assert "most_runs allows 2 over the life of a data set: 2 on other terms before and this run make 3" in said
    sessions.run(deeper[0])
    let(sessions, party, "most_runs = 3")
    sessions.run(deeper[1])


@pytest.mark.parametrize("party", NAMES)
def test_a_run_that_could_tell_more_counts_than_are_left_is_refused(tmp_path: Path, party: str) -> None:
    """A tree of one split tells 9 x 2 cells, 1 accuracy and, by Bob, 2 class counts: 21, as was forecast."""
    before = {"alice": 19, "bob": 21}[party]
    sessions = Sessions(tmp_path, SECURE, ANY_ODDS)
    let(sessions, party, "most_counts = 21")
    sessions.run()
    sessions.run()  # the same again tells nothing new
    said = refused(sessions, with_terms(SECURE, max_depth=2).terms, party)
    assert f"most_counts allows 21 over the life of a data set: {before} told before and at most " in said
    follow, total = re.findall(r"at most ([\d,]+) for this run make ([\d,]+);", said)[0]
    assert int(total) == before + int(follow)


def test_the_first_run_is_refused_where_even_it_could_tell_too_much(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, SECURE, ANY_ODDS)
    let(sessions, "bob", "most_counts = 20")
    errors = sessions.both_errors()
    assert [getattr(error, "field", None) for error in errors] == ["budget", "budget"]
    assert "0 told before and at most 21 for this run make 21" in str(errors[1])
    assert all(not of_kind(contents(sessions, name), "run") for name in NAMES)


@pytest.mark.parametrize("line", ["most_runs = 0", 'most_counts = "all"', "most_counts = 1.5", "most_runs = true"])
def test_a_bound_is_a_whole_number_or_any(tmp_path: Path, line: str) -> None:
    sessions = Sessions(tmp_path, MINED)
    let(sessions, "bob", line)
    path = tmp_path / "bob" / "party.toml"
    with pytest.raises(ConfigError, match=rf"\[agree\] {line.split(' ', maxsplit=1)[0]}: must be an integer from 1 to"):
        read_party_config(path, CASE.terms.key_bits)
    let(sessions, "bob", f'{line.split(" ", maxsplit=1)[0]} = "any"')
    read_party_config(path, CASE.terms.key_bits)
