"""The settings of one run, `job.toml`: what to do together, and the terms, which the parties compare."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, Final

from party.data.texts import plain_text
from party.settings.party import USUAL_MIN_LEAF
from party.settings.toml import REQUIRED, Declared, Key, Section, read_toml
from protocols.errors import InputError
from protocols.jobs import Train
from protocols.kinds import Pick, ValueKind, defaults_of, kinds_of
from protocols.terms import (
    KEY_BITS,
    KEY_FLOOR,
    LEAF_OF_TENTHS,
    LEARNERS,
    USUAL_DEPTH,
    USUAL_KEY_BITS,
    USUAL_TREE_DEPTH,
    USUAL_WINDOW,
    Counting,
    Impurity,
    Learner,
    Leaves,
    Method,
    MiningTerms,
    Reveal,
    RuleTerms,
    Splits,
    Terms,
    TreeTerms,
    balancing_weights,
    fixed_terms,
    terms_of,
)

USUAL_THETA: Final = "2/3"
"""As far from 1/2 as the usual `[agree] odds` allow: nearer to it, estimates say less, so that every set is counted."""
BALANCED: Final = "balanced"
_USUAL: Final[Mapping[str, Any]] = {
    "method": Method.SMC,
    "theta": Fraction(USUAL_THETA),
    "omega": USUAL_WINDOW,
    "counting": Counting.OBLIVIOUS_TRANSFER,
    "seed": 0,
    "test": Fraction(1, 5),
    "min_leaf": USUAL_MIN_LEAF,
    "reveal": Reveal.TREE,
    "max_len": 4,
    "most_sets": 1000,
}
"""What a job is where it leaves keys out, and their terms have other defaults or none."""
_SAID: Final = {
    "learner": "what is learned: a tree, naive Bayes (from exact counts), or association rules",
    "method": '"smc" compares all candidates exactly, "hybrid" the best of estimates, "randomized" none',
    "theta": "chance that a two-valued column of a copy is sent truly (hybrid, randomized)",
    "omega": 'the window of hybrid: how many candidates are compared exactly at a node, or "all"',
    "counting": "how exact counts are made: in seconds, or by the papers' dot product in minutes to hours",
    "class": "the column to predict, of either party",
    "seed": "which people are held out where counts are revealed",
    "test": "share of the people held out to see how good the model is; 0 for none",
    "key_bits": "smallest modulus of Paillier",
    "max_depth": "most splits of a path (default: 4 of a tree alone, else 5)",
    "min_leaf": "fewest people of a leaf (default: of a tree alone 1 in 250, at least 20, or 100 with tenths; else 5)",
    "noise": "epsilon against each side (of a tree alone 1/2 at least, unless test = 0); needs a number for "
    "[agree] epsilon of both",
    "impurity": "what splits are chosen by (default: information_gain, or gini of a tree alone with noise)",
    "reveal": "what crosses: the tree alone, which sets are frequent (of rules), or exact counts, which also need "
    "[agree] exact_counts",
    "most_bits": "of a tree alone: the tree ends where it would reveal more, n/50 being one bit for fifty people",
    "splits": 'a column by all its values, or by one cut or value (default: "two-way" of a tree alone, else "values")',
    "leaves": "what is opened of a leaf of a tree alone: its class, or also (as `init` writes it) the "
    "shares of the classes in tenths",
    "weights": 'what a record of a class counts for, as in ["yes=4"] (smc, without noise), or "balanced", '
    "if the class is ours, which shows the peer the ratio of its values",
    "min_support": "for rules: share of the people that an itemset must have",
    "max_len": "for rules: most items of an itemset",
    "most_sets": "for rules: most itemsets that are asked about, with items of both and of each side alone",
    "absent": "for rules: values that are no items, such as 0",
    "metric": "for rules: what min_threshold compares",
    "min_threshold": 'for rules: what a rule must reach; not with reveal = "counts"',
}
GONE_TERMS: Final[Mapping[str, str]] = {
    "rank": "both sides' estimated gains rank, and no gain is revealed",
    "prune": "max_depth and min_leaf keep a tree small, and name nobody",
    "engine": 'counting = "oblivious_transfer", or "paillier", says how counts are made',
    "cipher": 'counting = "oblivious_transfer", or "paillier", says how counts are made',
}


def usual_depth(reveal: Reveal) -> int:
    """Return how many splits a path of a tree has at most, where a job names no number."""
    return USUAL_TREE_DEPTH if reveal == Reveal.TREE else USUAL_DEPTH


JOB_FILE: Final = "job.toml"
"""The job that `init` writes for a tree alone."""


def usual_leaf(reveal: Reveal, noise: Fraction | None, people: int, leaves: Leaves = Leaves.LABEL) -> int:
    """Return how many records a leaf has at least, where a job names no number: of a tree alone 1 in 250 people, or 20.

    Leaves whose shares are opened have 100 or more. With noise no branch of such a tree is compared with a number.

    >>> [usual_leaf(Reveal.TREE, None, people) for people in (435, 26_049)]
    [20, 105]
    """
    if reveal == Reveal.COUNTS:
        return USUAL_MIN_LEAF
    least = LEAF_OF_TENTHS if leaves == Leaves.TENTHS else 20
    return max(least, ceil(people / 250)) if noise is None else 1


def usual_impurity(reveal: Reveal, noise: Fraction | None) -> Impurity:
    """Return what splits are chosen by, where a job names nothing: of a tree alone with noise Gini's index."""
    of_noise = reveal == Reveal.TREE and noise is not None
    return Impurity.GINI if of_noise else Impurity.INFORMATION_GAIN


def job_keys() -> Declared:
    """Return the keys of a job, of any learner; what is usual stays open where it follows from other keys."""
    kinds = {"learner": Pick(Learner)} | {_key(name): kind for name, kind in kinds_of(Terms).items()}
    usual = {**_usual(Terms), "learner": Learner.TREE}
    usual |= dict.fromkeys(("max_depth", "min_leaf", "impurity", "splits"), REQUIRED)
    return {
        name: Key(kind, usual.get(name, REQUIRED), _SAID[name])
        for name, kind in {**kinds, **kinds_of(RuleTerms)}.items()
    }


def read_job(
    path: Path, key_floor: int = KEY_FLOOR, *, people: int = 0, classes: Mapping[str, int] | None = None
) -> Train:
    """Read a `job.toml`.

    No key of a run may be smaller than the floor. A leaf's least size follows from how many people our table lists,
    where the job names none, and weights that balance the classes from how many of them each class has, none of a class
    that is the peer's, where the job asks for these; None before our table is read.
    """
    loose = read_toml(path, None)
    learner = Learner(loose.choice("learner", Learner.names(), Learner.TREE))
    keys = _keys(LEARNERS[learner])
    foreign = next((key for each in LEARNERS.values() for key in _keys(each) if key in {*loose.names} - {*keys}), None)
    if foreign is not None:
        raise loose.error(foreign, f'is not for learner = "{learner}": take the line out')
    job = read_toml(path, keys, GONE_TERMS)
    try:
        return Train(_terms(job, learner, key_floor, people, classes))
    except InputError as error:
        if error.field is None:
            raise
        raise job.error(error.field, error.problem) from None


def balances_classes(path: Path) -> bool:
    """Return whether a job asks for weights that follow from our classes."""
    return bool(read_toml(path, None).raw("weights", None) == BALANCED)


def unused_keys(path: Path) -> list[str]:
    """Return which keys of a job that can be read decide nothing on its terms."""
    unused = unused_terms(read_job(path).terms)
    return [key for key in read_toml(path, None).names if key in unused]


def unused_terms(terms: Terms) -> list[str]:
    """Return which terms decide nothing beside the others."""
    drawn = terms.hides_counts and terms.rules is None
    used = {"theta": terms.disguises, "omega": terms.ranks, "seed": not drawn, "key_bits": terms.encrypts}
    return [name for name, does in used.items() if not does]


def usual_terms(class_name: str | None, people: int, leaves: Leaves = Leaves.LABEL) -> Terms:
    """Return the terms of a job that names its class and leaves alone; of one that the peer holds, if we have none."""
    job = Section(
        Path(JOB_FILE), "", {"class": class_name or "the peer's class", "leaves": leaves.value}, _keys(TreeTerms)
    )
    return _terms(job, Learner.TREE, KEY_FLOOR, people, None)


def _terms(job: Section, learner: Learner, key_floor: int, people: int, classes: Mapping[str, int] | None) -> Terms:
    of = LEARNERS[learner]
    usual = _usual(of, key_floor)
    if of is TreeTerms:
        usual |= _usual_of_trees(job, usual, people)
    kinds = {**_kinds(of), "key_bits": replace(KEY_BITS, low=key_floor)}
    balances = "weights" in kinds and job.raw("weights", None) == BALANCED
    if balances and classes is not None and not classes:
        raise job.error("weights", f'"{BALANCED}" takes a class of ours, and it is the peer\'s: write numbers')
    if balances:
        del kinds["weights"]
    values = {name: job.value(_key(name), kind, usual.get(name, REQUIRED)) for name, kind in kinds.items()}
    values |= {"weights": balancing_weights(classes or {})} if balances else {}
    return terms_of({**values, "learner": learner, "rules": _rules(job, usual) if of is MiningTerms else None})


def _usual(of: type[Terms], key_floor: int = KEY_FLOOR) -> dict[str, Any]:
    """Return what each term is that a job leaves out; of a tree more follows from `reveal`."""
    return {**defaults_of(of), **defaults_of(RuleTerms), **_USUAL, "key_bits": max(key_floor, USUAL_KEY_BITS)}


def _key(name: str) -> str:
    return name.removesuffix("_name")


def _kinds(learner: type[Terms]) -> dict[str, ValueKind]:
    absent = fixed_terms(learner)
    return {name: kind for name, kind in kinds_of(Terms).items() if name not in absent}


def _keys(learner: type[Terms]) -> list[str]:
    return ["learner", *map(_key, _kinds(learner)), *(kinds_of(RuleTerms) if learner is MiningTerms else ())]


def _rules(job: Section, usual: Mapping[str, Any]) -> RuleTerms:
    values = {name: job.value(name, kind, usual.get(name, REQUIRED)) for name, kind in kinds_of(RuleTerms).items()}
    return RuleTerms(**values | {"absent": tuple(dict.fromkeys(map(plain_text, values["absent"])))})


def _usual_of_trees(job: Section, usual: Mapping[str, Any], people: int) -> dict[str, Any]:
    """Return what follows from what is revealed."""
    kinds, named = kinds_of(TreeTerms), ("method", "reveal", "noise", "leaves")
    method, reveal, noise, leaves = (job.value(name, kinds[name], usual[name]) for name in named)
    return {
        "max_depth": usual_depth(reveal),
        "min_leaf": usual_leaf(reveal, noise, people, leaves),
        "impurity": usual_impurity(reveal, noise),
        "splits": Splits.TWO_WAY if reveal == Reveal.TREE and method != Method.RANDOMIZED else Splits.VALUES,
    }
