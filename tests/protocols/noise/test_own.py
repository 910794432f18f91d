"""A party's own noise: the same whenever asked, other noise for anything else that is asked."""

from fractions import Fraction

from protocols.noise.accounting import Spending
from protocols.noise.both import OwnNoise
from protocols.tables import ROOT

SPENDING = Spending(Fraction(1), 26)
SECRET = b"s" * 32


def _noise(secret: bytes = SECRET, tables: bytes = b"tables", spending: Spending = SPENDING) -> OwnNoise:
    return OwnNoise(secret, tables, spending)


def test_anything_else_that_is_asked_has_other_noise() -> None:
    asked = [
        _noise().class_counts(12),
        _noise().cells(ROOT, 0, 12),
        _noise().cells(ROOT, 1, 12),
        _noise().cells(ROOT.child(0, 1), 1, 12),
        _noise().cells(ROOT.child(1, 0), 1, 12),
        _noise().cells(ROOT.child(0, 1).child(1, 0), 2, 12),
        _noise(spending=Spending(Fraction(1, 2), 26)).cells(ROOT, 0, 12),
        _noise(spending=Spending(Fraction(1), 28)).cells(ROOT, 0, 12),
        _noise(tables=b"others").cells(ROOT, 0, 12),
        _noise(secret=b"t" * 32).cells(ROOT, 0, 12),
    ]
    assert len({tuple(each) for each in asked}) == len(asked)


def test_the_same_question_has_the_same_noise() -> None:
    assert _noise().cells(ROOT, 1, 6) == _noise().cells(ROOT, 1, 6)
    assert _noise().class_counts(3) == _noise().class_counts(3)
    assert _noise().accuracy([(ROOT, b"1")]) == _noise().accuracy([(ROOT, b"1")])
    one, other = (ROOT.child(0, 1).child(1, 0), ROOT.child(1, 0).child(0, 1))
    assert _noise().cells(one, 2, 12) == _noise().cells(other, 2, 12)
    wide = Spending(Fraction(1, 10**6), 26)  # two draws are alike with a chance below 1e-6
    leaves = [(one, b"1"), (ROOT.child(0, 0), b"0")]
    turned = [(ROOT.child(0, 0), b"0"), (other, b"1")]
    assert _noise(spending=wide).accuracy(leaves) == _noise(spending=wide).accuracy(turned)
    # Two levels at epsilon 1 and four at epsilon 2 have one scale; what both ask is told once.
    assert _noise(spending=Spending(Fraction(2), 52)).cells(ROOT, 0, 12) == _noise().cells(ROOT, 0, 12)
    # At scale 100 two of 40 trees share their noise with a chance of 0.98: all of them only if it is one number.
    wide = Spending(Fraction(1, 100), 26)
    assert len({_noise(spending=wide).accuracy([(ROOT.child(0, k), b"1")]) for k in range(40)}) > 20
    assert repr(_noise()) == "OwnNoise(Spending(epsilon=Fraction(1, 1), changes=26))"
