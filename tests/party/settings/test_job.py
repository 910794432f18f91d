from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.settings.job import read_job
from protocols.jobs import Train
from protocols.terms import ALL, Counting, Impurity, Learner, Method, Reveal, Terms, TreeTerms
from tests.support.parties import learned

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
            TERMS, method=Method.SMC, reveal=Reveal.TREE, max_depth=4, min_leaf=least, theta=Fraction(2, 3), omega=3
        )
        path.write_text('class = "outcome"\nmin_leaf = 7\n')
        assert read_job(path, people=people).terms.min_leaf == 7


def test_a_job_may_have_a_mark_all_candidates_and_any_depth(tmp_path: Path) -> None:
    plain = job(tmp_path, JOB)
    path = tmp_path / "job.toml"
    path.write_bytes(b"\xef\xbb\xbf" + JOB.replace("\n", "\r\n").encode())
    assert read_job(path) == Train(plain)
    assert job(tmp_path, swap(JOB, "omega = 2", 'omega = "all"')).omega is ALL
    for theta in ("0.45", "9/20", "18/40", ".45"):
        assert job(tmp_path, swap(JOB, "9/20", theta)).theta == Fraction(9, 20)
    assert job(tmp_path, swap(JOB, "max_depth = 6", 'max_depth = "any"')).max_depth is None
    assert job(tmp_path, swap(JOB, '"1/4"', "0")).test == 0
    assert job(tmp_path, swap(JOB, "4096", "512"), key_floor=512).key_bits == 512


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"9/20"', "0", "theta: must be above 0"),
        ('"9/20"', "1", "theta: must be above 0"),
        ('"9/20"', '"-1/3"', "theta: must be above 0"),
        ('"9/20"', '"1e-1"', "theta: must be an exact number"),
        ('"9/20"', "true", "theta: must be an exact number"),
        ('"9/20"', '["9/20"]', "theta: must be an exact number"),
        ("omega = 2", "omega = -1", "omega: must be an integer from 1"),
        ('class = "outcome"', f'class = "{"x" * 1025}"', "class: must be text of 1 to 1024 characters"),
        ('"9/20"', f'"1/{10**18}"', "theta: must be a fraction of at most 18 digits"),
        ("omega = 2", "omega = 65536", "omega: must be an integer from 1 to 65535"),
        ('"1/4"', '"-1/4"', "test: must be 0 or more"),
        ("max_depth = 6", "max_depth = true", "max_depth: must be an integer from 1 to 65535"),
        ("min_leaf = 8", 'min_leaf = "any"', "min_leaf: must be an integer"),
        ("4096", "2047", "key_bits: must be an integer from 2048 to 16384"),
    ],
)
def test_a_bad_term_is_named_with_file_key_and_legal_range(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        job(tmp_path, swap(JOB, old, new))
    assert f"{tmp_path / 'job.toml'}: {problem}" in str(caught.value)
