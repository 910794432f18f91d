"""What is said before a run of what it will tell."""

from fractions import Fraction

from party.show.costs import accuracy_outlook
from protocols.randomized_response.related_question import RelatedDesign


def test_held_out_records_that_are_too_few_are_told_with_how_many_would_do() -> None:
    """Of 400 records sqrt(400 * 0.55 * 0.45) / 0.1 = 99.5 is 0.249, and 3.92 times that above 1/2."""
    design = RelatedDesign((2, 2), ((0,), (1,)), Fraction(11, 20))
    (told,) = accuracy_outlook(design, 400)
    assert told.startswith("Accuracy: 400 held-out records will be too few to tell it from disguised copies (")
    assert told.endswith("(standard error of about 0.249 or more); it takes about 1,522 or more")
    assert not accuracy_outlook(design, 1_522)
    assert accuracy_outlook(design, 1_521)
    assert not accuracy_outlook(design, 0)


def test_a_copy_in_the_clear_tells_an_accuracy_from_few_records() -> None:
    assert not accuracy_outlook(RelatedDesign((2, 2), (), Fraction(1)), 3)
