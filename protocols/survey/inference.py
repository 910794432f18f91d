"""Privacy of the class after mining: what the rules of a model add to a response (Surveys 4.2; DESIGN 10).

A tree is a set of rules, one per leaf: path => class. Naive Bayes gives a set per attribute: value => likeliest class.
Association rules whose consequent is a class give a set per choice of columns in their antecedents: nobody satisfies
two of them, so that their chances add up. The measure is `PSE = PSE(PRE) - REC`, REC the largest over the sets, in two
forms: the true values of the preconditions known, and unknown. It may be negative, and nothing is clipped. Known, REC
is the chance that the rules name the right class; unknown, the paper gives preconditions no weight, so that REC grows
with the number of rules and only its fall from one design to another says something.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from protocols.association.rules import MinedRules
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Tree
from protocols.privacy.entry import Entry
from protocols.privacy.single_entry import (
    after_mining,
    recoverability_known,
    recoverability_unknown,
    single_entry,
)
from protocols.randomized_response.design import Design
from protocols.survey.itemsets import column_items
from protocols.tables import Codes, Expression


@dataclass(frozen=True)
class InferenceRule:
    """`expression => label`: the chance of its precondition, and its confidence."""

    expression: Expression
    label: int
    precondition: Fraction
    confidence: Fraction


@dataclass(frozen=True)
class AfterMining:
    """What is left of the class's single-entry privacy.

    Args:
        right: REC where preconditions are known: the chance that the rules name the right class.
        commonest: The chance of the commonest class: what guessing without rules and responses has.
        known: `PSE` where preconditions are known.
        unknown: `PSE` where they are not; None where there are no responses to count rules in, or none satisfies one.
    """

    before: Fraction
    rules: int
    right: Fraction
    commonest: Fraction
    known: Fraction
    unknown: Fraction | None


RuleSet = Sequence[InferenceRule]
"""Rules of which nobody satisfies two."""


def inference_rules(model: Tree | NaiveBayes) -> Sequence[RuleSet]:
    """Return the rules of a model, set by set; rules that no record satisfies are left out."""
    return [_tree_rules(model)] if isinstance(model, Tree) else _bayes_rules(model)


def _tree_rules(tree: Tree) -> list[InferenceRule]:
    leaves = [
        (path, leaf.label, [max(Fraction(count), Fraction(0)) for count in leaf.counts])
        for path, leaf in tree.walk()
        if isinstance(leaf, Leaf)
    ]
    total = sum((sum(counts, Fraction(0)) for *_, counts in leaves), Fraction(0))
    return [
        InferenceRule(path, label, sum(counts, Fraction(0)) / total, counts[label] / sum(counts, Fraction(0)))
        for path, label, counts in leaves
        if sum(counts)
    ]


def _bayes_rules(model: NaiveBayes) -> list[list[InferenceRule]]:
    sets = []
    for column, table in enumerate(model.conditional):
        joint = [[Fraction(float(chance)) for chance in row] for row in np.exp(table + model.prior)]
        total = sum(map(sum, joint), Fraction(0))
        sets.append(
            [
                InferenceRule(
                    Expression().child(column, value),
                    max(range(len(row)), key=row.__getitem__),
                    sum(row, Fraction(0)) / total,
                    max(row) / sum(row, Fraction(0)),
                )
                for value, row in enumerate(joint)
                if sum(row)
            ]
        )
    return sets


def association_sets(found: MinedRules, design: Design) -> Sequence[RuleSet]:
    """Return the rules whose consequent is a value of the last column alone, the surest one of each antecedent.

    Estimated shares and confidences that leave `0 .. 1` are taken as its ends.
    """
    items, target = column_items(design), len(design.sizes) - 1
    surest: dict[Expression, InferenceRule] = {}
    for rule in found.rules:
        first, rest = ([items[item] for item in part] for part in (rule.antecedent, rule.consequent))
        if len(rest) == 1 and rest[0].column == target:
            sure = InferenceRule(
                Expression(tuple(first)), rest[0].value, _as_chance(rule.supports[1]), _as_chance(rule.confidence)
            )
            known = surest.get(sure.expression)
            surest[sure.expression] = sure if known is None or sure.confidence > known.confidence else known
    sets: dict[frozenset[int], list[InferenceRule]] = {}
    for expression, sure in surest.items():
        sets.setdefault(expression.columns, []).append(sure)
    return list(sets.values())


def _as_chance(share: float) -> Fraction:
    return min(max(Fraction(share), Fraction(0)), Fraction(1))


def privacy_after_mining(sets: Sequence[RuleSet], entry: Entry, codes: Codes | None = None) -> AfterMining:
    """Return what rules leave of the privacy of the class that they name.

    `codes` are responses, the class last, in which rules between disguised values are counted: the second form needs
    them.
    """
    before = single_entry(entry)
    recs = [
        recoverability_known([r.precondition for r in rules], [r.confidence for r in rules]) for rules in sets if rules
    ]
    disguised = [] if codes is None else [rec for rules in sets if (rec := _among_responses(rules, entry, codes))]
    return AfterMining(
        before=before,
        rules=sum(map(len, sets)),
        right=max(recs, default=Fraction(0)),
        commonest=max(entry.prior),
        known=after_mining(before, recs),
        unknown=after_mining(before, disguised) if disguised else None,
    )


def _among_responses(rules: RuleSet, entry: Entry, codes: Codes) -> Fraction | None:
    """Return REC of the second form; None where no response satisfies a rule's precondition."""
    confidences, guesses = [], []
    for rule in rules:
        rows = codes[rule.expression.satisfied_by(codes)]
        posterior = entry.posteriors[rule.label]
        if len(rows) and posterior is not None:
            confidences.append(Fraction(int((rows[:, -1] == rule.label).sum()), len(rows)))
            guesses.append(posterior[rule.label])
    return recoverability_unknown(confidences, guesses) if confidences else None
