"""Data frames in mlxtend's manners, equal to mlxtend's own where nothing is disguised."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from party.association import association_rules, disguise_baskets, frequent_itemsets, read_basket_design, read_sent
from party.association.mining import ITEMSET_COLUMNS, RULE_COLUMNS
from party.settings.transactions import BasketDesign
from protocols.association.transactions import Randomized
from protocols.errors import InputError

PLAIN = """\
kind = "select-a-size"
items = ["bread", "milk", "jam", "salt"]
[chances]
0 = ["1"]
1 = ["0", "1"]
2 = ["0", "0", "1"]
3 = ["0", "0", "0", "1"]
4 = ["0", "0", "0", "0", "1"]
[rho]
0 = 0
1 = 0
2 = 0
3 = 0
4 = 0
"""


@pytest.fixture
def plain(tmp_path: Path) -> tuple[pd.DataFrame, Randomized, BasketDesign]:
    """Return baskets as truth values, the copy in which nothing is disguised, and that design."""
    (tmp_path / "plain.toml").write_text(PLAIN)
    design = read_basket_design(tmp_path / "plain.toml")
    chance = np.random.default_rng(5)
    frame = pd.DataFrame(chance.random((200, 4)) < [0.7, 0.6, 0.5, 0.2], columns=list(design.items))
    return frame, disguise_baskets(frame, design, tmp_path / "coins"), design


def test_itemsets_and_rules_of_what_is_not_disguised_are_counted(
    plain: tuple[pd.DataFrame, Randomized, BasketDesign],
) -> None:
    frame, sent, design = plain
    found = frequent_itemsets(sent, design, min_support=0.3)
    assert tuple(found.columns) == ITEMSET_COLUMNS
    for itemset, support in zip(found["itemsets"], found["support"], strict=True):
        assert support == pytest.approx(frame[sorted(itemset)].all(axis=1).mean())
    assert (found["standard_error"] < 1e-6).all()
    least = found["support"].min()
    assert len(frequent_itemsets(sent, design, min_support=least)) == len(found)
    rules = association_rules(sent, design, min_support=0.3, min_threshold=0.6)
    assert tuple(rules.columns) == RULE_COLUMNS
    for rule in rules.to_dict("records"):
        holders = frame[frame[sorted(rule["antecedents"])].all(axis=1)]
        assert rule["confidence"] == pytest.approx(holders[sorted(rule["consequents"])].all(axis=1).mean())
        assert rule["confidence"] >= 0.6
        assert rule["antecedent support"] == pytest.approx(len(holders) / len(frame))


def test_a_measure_other_than_confidence_may_be_the_threshold(
    plain: tuple[pd.DataFrame, Randomized, BasketDesign],
) -> None:
    _, sent, design = plain
    rules = association_rules(sent, design, 0.1, metric="lift", min_threshold=1.0)
    assert len(rules)
    assert (rules["lift"] >= 1).all()
    assert not rules["straddles"].any()


def test_an_empty_result_has_the_types_of_any_other(plain: tuple[pd.DataFrame, Randomized, BasketDesign]) -> None:
    _, sent, design = plain
    for empty, filled in (
        (frequent_itemsets(sent, design, 1), frequent_itemsets(sent, design, 0.3)),
        (association_rules(sent, design, 1), association_rules(sent, design, 0.3, min_threshold=0.1)),
    ):
        assert not len(empty)
        assert len(filled)
        assert list(empty.dtypes) == list(filled.dtypes)


@pytest.mark.parametrize("support", [0, -0.1, 1.5, float("nan"), float("inf"), "much", None])
def test_a_support_that_is_no_share_is_refused(
    plain: tuple[pd.DataFrame, Randomized, BasketDesign], support: float
) -> None:
    _, sent, design = plain
    with pytest.raises(InputError, match="min_support must be above 0 and at most 1"):
        frequent_itemsets(sent, design, support)


def test_a_measure_that_is_none_is_refused(plain: tuple[pd.DataFrame, Randomized, BasketDesign]) -> None:
    _, sent, design = plain
    with pytest.raises(InputError, match="metric must be one of"):
        association_rules(sent, design, 0.3, metric="antecedents")
    with pytest.raises(InputError, match="min_threshold must be a number"):
        association_rules(sent, design, 0.3, min_threshold=float("nan"))


def test_intervals_and_straddling_follow_from_the_errors(shop: Path) -> None:
    design = read_basket_design(shop / "design.toml")
    sent = read_sent(shop / "d.csv", design)
    found = frequent_itemsets(sent, design, "1/5", confidence=0.9)
    assert np.allclose(found["high"] - found["support"], 1.6448536 * found["standard_error"])
    assert (found["straddles"] == ((found["low"] < 0.2) & (found["high"] > 0.2))).all()
    rules = association_rules(sent, design, "1/5", min_threshold=0.5)
    assert (rules["straddles"] == ((rules["low"] < 0.5) & (rules["high"] > 0.5))).all()
