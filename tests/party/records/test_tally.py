"""What all runs over a data set may tell together: refused by both before anything leaves, with the arithmetic."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from party.errors import ConfigError
from party.records.ledger import PeerName
from party.records.ledger_entries import LearnedEntry, ModelEntry, RunEntry, reveal_key_text
from party.records.tally import Dealings, dealings
from party.settings.party import LifeBounds, read_party_config
from protocols.errors import DisagreementError
from protocols.facts import Way
from protocols.terms import Method, RuleTerms
from tests.support.examples import few
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, contents, of_kind, with_terms

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
    assert "has revealed as much of its data set as it allows" in str(errors[other])
    return str(errors[party])


@pytest.mark.parametrize("party", few(NAMES, 2))
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


@pytest.mark.parametrize("party", few(NAMES, 2))
def test_a_run_that_could_reveal_more_counts_than_are_left_is_refused(tmp_path: Path, party: str) -> None:
    """A tree of one split tells 9 x 2 cells, 1 accuracy and, by Bob, 2 class counts: 21, as was forecast."""
    sessions = Sessions(tmp_path, SECURE, ANY_ODDS)
    let(sessions, party, "most_counts = 21")
    sessions.run()
    sessions.run()  # the same again tells nothing new
    said = refused(sessions, with_terms(SECURE, max_depth=2).terms, party)
    assert "most_counts allows 21 over the life of a data set: 21 revealed before and at most " in said
    follow, total = re.findall(r"at most ([\d,]+) for this run make ([\d,]+);", said)[0]
    assert int(total) == 21 + int(follow)


@pytest.mark.parametrize("methods", few([*permutations(["smc", "hybrid"])], 2))
def test_rules_of_another_method_have_other_counts_and_no_copy_passes_the_bound(
    tmp_path: Path, methods: tuple[str, str]
) -> None:
    rules = RuleTerms(Fraction(1, 3), 2, 60)
    usual = with_terms(CASE, learner="rules", rules=rules)
    first, then = (with_terms(usual, method=Method(method)) for method in methods)
    sessions = Sessions(tmp_path, first, ANY_ODDS)
    let(sessions, "alice", f"most_counts = {rules.most_counts}")
    sessions.run()
    assert f"most_counts allows {rules.most_counts} over the life" in refused(sessions, then.terms, "alice")


def test_accuracies_of_many_trees_would_give_the_class_of_each_person_held_out_and_one_is_revealed(
    tmp_path: Path,
) -> None:
    """Who knows what each tree says of each person solves for the classes; by usual settings there is one tree."""
    rng = np.random.default_rng(30)
    classes, says = rng.integers(0, 2, 30), rng.integers(0, 2, (30, 40))
    right = (says == classes[:, None]).sum(axis=0)
    solved, *_ = np.linalg.lstsq((2 * says - 1).T.astype(float), right - (1 - says).sum(axis=0), rcond=None)
    assert (np.rint(solved) == classes).all()
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    let(sessions, "alice", "most_runs = 1")
    sessions.run()
    assert "most_runs allows 1 over" in refused(sessions, with_terms(CASE, max_depth=1).terms, "alice")


def test_a_run_that_could_reveal_too_much_is_refused(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, SECURE, ANY_ODDS)
    let(sessions, "bob", "most_counts = 20")
    errors = sessions.both_errors()
    assert [getattr(error, "field", None) for error in errors] == ["budget", "budget"]
    assert "0 revealed before and at most 21 for this run make 21" in str(errors[1])
    assert all(not of_kind(contents(sessions, name), "run") for name in NAMES)
    # Two accuracies over the same people are two equations in their classes, and counts of two trees subtract.
    path = tmp_path / "party.toml"
    path.write_text('name = "alice"\n[data]\nfile = "data.csv"\nid = "id"\n')
    assert read_party_config(path).agree.life == LifeBounds(most_runs=1, most_counts=None)
    # What the peer alone has told, and then an end, leaves us free to run on better terms.
    sessions = Sessions(tmp_path / "another", SECURE, ANY_ODDS)
    sessions.run()
    known = Dealings("case", PeerName("bob", ""))
    with sessions.ledger("alice") as ledger:
        for entry in ledger.entries():
            if (
                isinstance(entry.noted, RunEntry | LearnedEntry)
                and getattr(entry.noted, "way", Way.LEARNED) is Way.LEARNED
            ):
                known.add(entry)
            elif isinstance(entry.noted, LearnedEntry):
                assert known.telling == set()
                known.add(entry)
                break
    assert known.telling == {reveal_key_text(SECURE.terms)}
    for line in ("most_runs = 0", 'most_counts = "all"', "most_counts = 1.5", "most_runs = true"):
        sessions = Sessions(tmp_path, MINED)
        let(sessions, "bob", line)
        path = tmp_path / "bob" / "party.toml"
        with pytest.raises(
            ConfigError, match=rf"\[agree\] {line.split(' ', maxsplit=1)[0]}: must be an integer from 1 to"
        ):
            read_party_config(path, CASE.terms.key_bits)
        let(sessions, "bob", f'{line.split(" ", maxsplit=1)[0]} = "any"')
        read_party_config(path, CASE.terms.key_bits)


def test_what_has_passed_is_dated_from_its_first_entry_to_the_model_that_ends_a_run(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    sessions.run()
    with sessions.ledger("alice") as ledger:
        entries = [
            replace(entry, content=entry.content | {"time": f"2026-01-01T{number // 60:02}:{number % 60:02}:00Z"})
            for number, entry in enumerate(ledger.entries())
        ]
    (found,) = dealings(entries)
    assert found.last == max(entry.time for entry in entries if isinstance(entry.noted, ModelEntry)) > found.first
