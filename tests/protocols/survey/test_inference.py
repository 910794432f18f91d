"""What a model's rules leave of the privacy of its class (Surveys 4.2): by hand, exactly."""

from fractions import Fraction

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes, logarithm
from protocols.learning.tree import Leaf, Split, Tree
from protocols.privacy.entry import Entry, entry_of
from protocols.randomized_response.related_question import RelatedDesign
from protocols.survey.inference import inference_rules, privacy_after_mining
from protocols.survey.responses import survey_schema

SCHEMA = survey_schema(("drinks", "smokes"), (("yes", "no"), ("yes", "no")))
TREE = Tree(SCHEMA, Split((5.0, 5.0), 0, (Leaf((4.0, 1.0), 0), Leaf((2.0, 3.0), 1))))
DESIGN = RelatedDesign((2, 2), ((0,), (1,)), Fraction(4, 5))


def class_entry() -> Entry:
    return entry_of(DESIGN, 1)


def test_a_leaf_is_a_rule_with_the_chance_of_its_path_and_the_share_of_its_class() -> None:
    ((first, second),) = inference_rules(TREE)
    assert (first.label, first.precondition, first.confidence) == (0, Fraction(1, 2), Fraction(4, 5))
    assert (second.label, second.precondition, second.confidence) == (1, Fraction(1, 2), Fraction(3, 5))


def test_naive_bayes_has_a_set_of_rules_per_attribute_and_the_worst_counts() -> None:
    schema = survey_schema(("a", "b", "c"), (("0", "1"),) * 3)
    useless, telling = np.full((2, 2), 0.5), np.array([[0.75, 0.25], [0.25, 0.75]])
    half = logarithm(np.array([0.5, 0.5]))
    model = NaiveBayes(schema, half, (logarithm(useless), logarithm(telling)))
    entry = entry_of(RelatedDesign((2, 2, 2), ((2,),), Fraction(4, 5)), 2)
    found = privacy_after_mining(inference_rules(model), entry)
    assert float(found.right) == pytest.approx(0.75)
    assert float(found.known) == pytest.approx(8 / 25 - 0.75)
    assert found.rules == 4


def test_preconditions_take_the_share_that_rules_get_right() -> None:
    """`PSE(PRE) = 2 * 1/2 * 8/25` of a coin of 4/5 and equal classes; `REC = 1/2 * 4/5 + 1/2 * 3/5`."""
    found = privacy_after_mining(inference_rules(TREE), class_entry())
    assert (found.before, found.right, found.rules) == (Fraction(8, 25), Fraction(7, 10), 2)
    assert found.known == Fraction(8, 25) - Fraction(7, 10)
    assert (found.commonest, found.unknown) == (Fraction(1, 2), None)
    # 3 of 4 and 1 of 2 responses fit the rules, and a response is true with the chance 4/5.
    codes = np.array([[0, 0], [0, 0], [0, 0], [0, 1], [1, 1], [1, 0]], dtype=np.uint8)
    found = privacy_after_mining(inference_rules(TREE), class_entry(), codes)
    assert found.unknown == Fraction(8, 25) - Fraction(4, 5) * (Fraction(3, 4) + Fraction(1, 2))
    assert privacy_after_mining(inference_rules(TREE), class_entry(), codes[:0]).unknown is None
    empty = Tree(SCHEMA, Split((5.0, 5.0), 0, (Leaf((5.0, 5.0), 0), Leaf((0.0, 0.0), 0))))
    assert [len(rules) for rules in inference_rules(empty)] == [1]
    with pytest.raises(InputError, match="at least one recoverability"):
        privacy_after_mining(inference_rules(Tree(SCHEMA, Leaf((0.0, 0.0), 0))), class_entry())
