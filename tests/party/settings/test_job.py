from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.node.policy import first_objection
from party.settings.job import read_job
from party.settings.party import Acceptance, read_party_config
from party.settings.toml import toml_value
from protocols.kinds import kinds_of
from protocols.terms import ALL, KEY_BITS, Counting, Impurity, Learner, Method, Reveal, Splits, Terms, TreeTerms
from tests.support.kinds import beyond
from tests.support.parties import learned, make_terms

JOB = """\
method = "hybrid"
theta = "9/20"
omega = 2
counting = "paillier"
class = "outcome"
seed = 7
test = "1/4"
key_bits = 4096
max_depth = 6
min_leaf = 8
impurity = "gini"
reveal = "counts"
splits = "values"
"""
TERMS = TreeTerms(
    method=Method.HYBRID, theta=Fraction(9, 20), omega=2, counting=Counting.OBLIVIOUS_TRANSFER, class_name="outcome",
    seed=0, test=Fraction(1, 5), key_bits=3072, min_leaf=5,
)  # fmt: skip


def job(folder: Path, text: str, key_floor: int = 2048) -> Terms:
    path = folder / "job.toml"
    path.write_text(text)
    return read_job(path, key_floor).terms


def swap(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def test_every_term_of_a_job_is_read_or_has_its_default(tmp_path: Path) -> None:
    assert job(tmp_path, JOB) == replace(
        TERMS, counting=Counting.PAILLIER, seed=7, test=Fraction(1, 4), key_bits=4096, max_depth=6, min_leaf=8,
        impurity=Impurity.GINI,
    )  # fmt: skip
    usual = replace(TERMS, theta=Fraction(2, 3), omega=3, max_depth=5)
    assert job(tmp_path, 'method = "hybrid"\nclass = "outcome"\nreveal = "counts"\n') == usual
    bayes = job(tmp_path, 'method = "smc"\nclass = "outcome"\nreveal = "counts"\nlearner = "naive_bayes"\n')
    assert bayes == learned(replace(usual, method=Method.SMC), Learner.NAIVE_BAYES)
    for people, least in ((0, 20), (5_000, 20), (5_001, 21), (26_049, 105)):
        path = tmp_path / "job.toml"
        path.write_text('class = "outcome"\n')
        assert read_job(path, people=people).terms == replace(
            TERMS, method=Method.SMC, reveal=Reveal.TREE, max_depth=4, min_leaf=least, theta=Fraction(2, 3), omega=3,
            splits=Splits.TWO_WAY,
        )  # fmt: skip
        path.write_text('class = "outcome"\nmin_leaf = 7\n')
        assert read_job(path, people=people).terms.min_leaf == 7


def test_weights_that_balance_the_classes_follow_from_our_own_class(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text('class = "outcome"\nweights = "balanced"\n')
    for counts, weights in (
        ({"no": 3_690, "yes": 810}, ("yes=5",)),
        ({"a": 10, "b": 40, "c": 20, "d": 0}, ("a=4", "c=2")),
        ({"no": 7, "yes": 6}, ()),
    ):
        assert read_job(path, classes=counts).terms.growth.weights == weights
    assert read_job(path).terms.growth.weights == ()  # before the table is read
    with pytest.raises(ConfigError, match=r'weights: "balanced" takes a class of ours.*: write numbers'):
        read_job(path, classes={})


def test_a_job_may_have_all_candidates_and_any_depth(tmp_path: Path) -> None:
    assert job(tmp_path, swap(JOB, "omega = 2", 'omega = "all"')).omega is ALL
    for theta in ("0.45", "9/20", "18/40", ".45"):
        assert job(tmp_path, swap(JOB, "9/20", theta)).theta == Fraction(9, 20)
    assert job(tmp_path, swap(JOB, "max_depth = 6", 'max_depth = "any"')).max_depth is None
    assert job(tmp_path, swap(JOB, '"1/4"', "0")).test == 0
    assert job(tmp_path, swap(JOB, "4096", "512"), key_floor=512).key_bits == 512


def test_a_term_of_a_job_has_the_range_that_it_declares_and_a_form_that_is_exact(tmp_path: Path) -> None:
    lines = dict(line.split(" = ", 1) for line in JOB.splitlines())
    bad = [(key, text) for key in ("theta", "test") for text in ('"1e-1"', "true", '["9/20"]', "0.5")]
    for name, kind in {**kinds_of(TreeTerms), "key_bits": replace(KEY_BITS, low=2048)}.items():
        texts = [
            f'"{v}"' if isinstance(v, float | str) else toml_value(kind, v) for v, _ in beyond(kind) if v is not None
        ]
        bad += [(name.removesuffix("_name"), text) for text in texts]
    for key, text in bad:
        with pytest.raises(ConfigError) as caught:
            job(tmp_path, "".join(f"{name} = {value}\n" for name, value in {**lines, key: text}.items()))
        said = str(caught.value).removeprefix(str(tmp_path / "job.toml"))
        assert said.startswith((f": {key}: ", " holds a number too large")), said


NOISE_TERMS = make_terms(method="smc", max_depth=3)
AGREE = Acceptance(tuple(Method), None, ALL, tuple(Counting), 1, None, 1, exact_counts=True)
NOISE_JOB = 'method = "smc"\nclass = "c"\nmax_depth = 3\nreveal = "counts"\n'
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
        ("", None), ('noise = "none"', None), ('noise = "0.5"', "1/2"), ("noise = 2", "2"), ('noise = "1/3"', "1/3"),
    ):  # fmt: skip
        assert _noise(tmp_path, NOISE_JOB + line) == (None if noise is None else Fraction(noise))
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
        ("noise = 1", "noise: bounds only one run: set epsilon too"),
    ):
        with pytest.raises(ConfigError, match=problem):
            _agree(tmp_path, line)


def test_who_bounds_epsilon_agrees_to_no_more_and_to_no_counts_without_noise() -> None:
    for noise, most, budget, fits in [
        (None, None, None, True), ("1", None, None, True), ("1", "1", None, True), ("2", "1", None, False),
        (None, "1", None, False), ("1", None, "1", True), ("2", None, "1", False), (None, None, "1", False),
    ]:  # fmt: skip
        asked, largest, whole = (None if text is None else Fraction(text) for text in (noise, most, budget))
        agree = replace(AGREE, noise=largest, epsilon=whole)
        objection = first_objection(agree, replace(NOISE_TERMS, noise=asked))
        assert (objection is None) == fits
        if objection is not None:
            assert objection.field == "noise"
            assert 'write noise = "1" or less in the job' in objection.reason
            told = (
                f"the job asks for noise = {noise}, our [agree] noise or epsilon does"
                if noise
                else "the job has no noise"
            )
            assert objection.reason.startswith(told)
