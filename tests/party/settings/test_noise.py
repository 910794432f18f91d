"""Epsilons in settings files: what a job asks for, what a party allows, and how a wrong one is refused."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.node.policy import first_objection
from party.settings.job import read_job
from party.settings.party import Acceptance, read_party_config
from protocols.terms import ALL, Counting, Impurity, Method, Reveal
from tests.support.parties import make_terms

TERMS = make_terms(method="smc", max_depth=3)
AGREE = Acceptance(tuple(Method), None, ALL, tuple(Counting), 1, None, 1, exact_counts=True)
JOB = 'method = "smc"\nclass = "c"\nmax_depth = 3\nreveal = "counts"\n'
TREE = 'method = "smc"\nclass = "c"\nnoise = 1\n'
PARTY = 'name = "alice"\n[data]\nfile = "table.csv"\nid = "id"\n[agree]\n'


def _noise(folder: Path, text: str) -> Fraction | None:
    path = folder / "job.toml"
    path.write_text(text)
    return read_job(path).terms.noise


def _agree(folder: Path, text: str) -> Acceptance:
    path = folder / "party.toml"
    path.write_text(PARTY + text)
    return read_party_config(path).agree


def test_a_job_asks_for_epsilon_or_exact_counts(tmp_path: Path) -> None:
    for line, noise in (
        ("", None),
        ('noise = "none"', None),
        ('noise = "0.5"', "1/2"),
        ("noise = 2", "2"),
        ('noise = "1/3"', "1/3"),
    ):
        assert _noise(tmp_path, JOB + line) == (None if noise is None else Fraction(noise))
    path = tmp_path / "job.toml"
    path.write_text(TREE)
    terms = read_job(path).terms
    assert (terms.reveal, terms.impurity, terms.min_leaf, terms.max_depth) == (Reveal.TREE, Impurity.GINI, 1, 4)
    assert first_objection(replace(AGREE, min_leaf=20, epsilon=Fraction(1)), terms) is None
    terms = make_terms(
        method="smc", reveal="tree", max_depth=3, noise=Fraction(1, 4), impurity=Impurity.GINI, test=Fraction(1, 5)
    )
    third = Fraction(1, 3)
    for agree in (replace(AGREE, noise=third, epsilon=Fraction(1)), replace(AGREE, epsilon=third)):
        objection = first_objection(agree, terms)
        assert objection is not None
        assert (objection.field, objection.reason[:33]) == ("noise", "the job asks for noise = 0.5, our")
        assert first_objection(agree, replace(terms, test=Fraction(0))) is None


def test_a_party_allows_any_epsilon_unless_it_says_how_much(tmp_path: Path) -> None:
    agree = _agree(tmp_path, "")
    assert (agree.noise, agree.epsilon) == (None, None)
    agree = _agree(tmp_path, 'noise = "1.5"\nepsilon = 4')
    assert (agree.noise, agree.epsilon) == (Fraction(3, 2), Fraction(4))
    for line, problem in (
        ("noise = 1.5", "noise: write the number as text"),
        ("noise = 1", "noise: bounds one run alone: set epsilon too"),
    ):
        with pytest.raises(ConfigError, match=problem):
            _agree(tmp_path, line)


def test_who_bounds_epsilon_agrees_to_no_more_and_to_no_counts_without_noise() -> None:
    for noise, most, budget, fits in [
        (None, None, None, True),
        ("1", None, None, True),
        ("1", "1", None, True),
        ("2", "1", None, False),
        (None, "1", None, False),
        ("1", None, "1", True),
        ("2", None, "1", False),
        (None, None, "1", False),
    ]:
        asked, largest, whole = (None if text is None else Fraction(text) for text in (noise, most, budget))
        agree = replace(AGREE, noise=largest, epsilon=whole)
        objection = first_objection(agree, replace(TERMS, noise=asked))
        assert (objection is None) == fits
        if objection is not None:
            assert objection.field == "noise"
            assert (
                objection.reason
                == f"the job asks for noise = {noise or 'none'}, our [agree] noise or epsilon does not allow it: "
                'write noise = "1" or less in the job'
            )
