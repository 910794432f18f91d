"""Baskets: one collector mines the randomized transactions of many, or two parties their columns (DESIGN 9)."""

from party.association.files import read_baskets
from party.association.mining import association_rules, frequent_itemsets, joint_itemsets, joint_rules
from party.association.sent import disguise_baskets, read_sent, write_sent
from party.settings.transactions import BasketDesign, read_basket_design

__all__ = [
    "BasketDesign",
    "association_rules",
    "disguise_baskets",
    "frequent_itemsets",
    "joint_itemsets",
    "joint_rules",
    "read_basket_design",
    "read_baskets",
    "read_sent",
    "write_sent",
]
