"""A party's own noise: the same whenever asked, other noise for anything else that is asked."""

from fractions import Fraction

from protocols.noise.accounting import Spending
from protocols.noise.own import OwnNoise
from protocols.tables.expression import ROOT

SPENDING = Spending(Fraction(1), 26)
SECRET = b"s" * 32


def _noise(secret: bytes = SECRET, run: bytes = b"run", spending: Spending = SPENDING) -> OwnNoise:
    return OwnNoise(secret, run, spending)


def test_asking_again_gives_the_same_noise() -> None:
    assert _noise().cells(ROOT, 1, 6) == _noise().cells(ROOT, 1, 6)
    assert _noise().class_counts(3) == _noise().class_counts(3)
    assert _noise().accuracy([(ROOT, 1)]) == _noise().accuracy([(ROOT, 1)])


def test_anything_else_that_is_asked_has_other_noise() -> None:
    asked = [
        _noise().class_counts(12),
        _noise().cells(ROOT, 0, 12),
        _noise().cells(ROOT, 1, 12),
        _noise().cells(ROOT.child(0, 1), 1, 12),
        _noise().cells(ROOT.child(1, 0), 1, 12),
        _noise().cells(ROOT.child(0, 1).child(1, 0), 2, 12),
        _noise().cells(ROOT.child(1, 0).child(0, 1), 2, 12),
        _noise(run=b"another").cells(ROOT, 0, 12),
        _noise(secret=b"t" * 32).cells(ROOT, 0, 12),
    ]
    assert len({tuple(each) for each in asked}) == len(asked)


def test_the_accuracy_of_another_tree_has_other_noise() -> None:
    """At scale 100 two of 40 trees share their noise with a chance of 0.98: all of them only if it is one number."""
    wide = Spending(Fraction(1, 100), 26)
    assert len({_noise(spending=wide).accuracy([(ROOT.child(0, k), 1)]) for k in range(40)}) > 20


def test_its_repr_shows_what_is_spent_and_no_key() -> None:
    assert repr(_noise()) == "OwnNoise(Spending(epsilon=Fraction(1, 1), changes=26))"
