"""The settings of one run, `job.toml`: what to do together, and the terms, which the parties compare."""

from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Final

from party.data.texts import plain_text
from party.settings.depth import ANY, USUAL_DEPTH, USUAL_TREE_DEPTH, read_depth
from party.settings.key_sizes import KEY_FLOOR, USUAL_KEY_BITS
from party.settings.noise import read_noise
from party.settings.party import USUAL_MIN_LEAF
from party.settings.toml import BLANKS, Section, read_toml, read_window
from protocols.errors import InputError
from protocols.jobs import Train
from protocols.terms import (
    ALL,
    EVERYONE,
    MOST_BITS,
    MOST_KEY_BITS,
    MOST_LEAF,
    MOST_LENGTH,
    MOST_SEED,
    MOST_SETS,
    TERM_NAMES,
    Counting,
    Impurity,
    Learner,
    Method,
    Reveal,
    RuleMetric,
    RuleTerms,
    TermError,
    Terms,
)

RULES: Final = "rules"
RULE_KEYS: Final = (
    "learner", "method", "theta", "counting", "key_bits", "min_leaf", "reveal",
    "min_support", "max_len", "most_sets", "absent", "metric", "min_threshold",
)  # fmt: skip
USUAL_THETA: Final = "2/3"
"""As far from 1/2 as the usual `[agree] odds` allow: nearer to it, estimates say less, and leave no set uncounted."""
_USUAL_LENGTH: Final = 4
_USUAL_SETS: Final = 1000


def read_rules(job: Section, key_floor: int) -> Terms:
    """Read the terms of looking for rules.

    Raises:
        ConfigError: One of them is missing or out of range.
        TermError: They do not go together.
    """
    try:
        rules = RuleTerms(
            min_support=job.fraction("min_support"),
            max_len=job.integer("max_len", 1, MOST_LENGTH, _USUAL_LENGTH),
            most_sets=job.integer("most_sets", 0, MOST_SETS, _USUAL_SETS),
            absent=tuple(dict.fromkeys(map(plain_text, job.texts("absent", ())))),
            metric=RuleMetric(job.text("metric", RuleMetric.CONFIDENCE)),
            min_threshold=job.fraction("min_threshold") if "min_threshold" in job.names else None,
        )
    except InputError as error:
        if error.field is None:
            raise
        raise job.error(error.field, error.problem) from None
    return Terms(
        method=Method(job.choice("method", Method.names(), Method.SMC)),
        theta=job.fraction("theta", USUAL_THETA),
        omega=ALL,
        counting=Counting(job.choice("counting", Counting.names(), Counting.OBLIVIOUS_TRANSFER)),
        class_name=EVERYONE,
        seed=0,
        test=Fraction(0),
        key_bits=job.integer("key_bits", key_floor, MOST_KEY_BITS, max(key_floor, USUAL_KEY_BITS)),
        min_leaf=job.integer("min_leaf", 1, MOST_LEAF, USUAL_MIN_LEAF),
        reveal=Reveal(job.choice("reveal", Reveal.names(), Reveal.TREE)),
        learner=Learner.RULES,
        rules=rules,
    )


_KEYS = [name for name in TERM_NAMES if name != RULES]
_GONE = {
    "rank": "both sides' estimated gains rank, and no gain is revealed",
    "prune": "max_depth and min_leaf keep a tree small, and name nobody",
    "engine": 'counting = "oblivious_transfer", or "paillier", says how counts are made',
    "cipher": 'counting = "oblivious_transfer", or "paillier", says how counts are made',
}


_TEST: Final = "1/5"


def usual_depth(reveal: Reveal) -> int:
    """Return how many splits a path of a tree has at most, where a job names no number."""
    return USUAL_TREE_DEPTH if reveal is Reveal.TREE else USUAL_DEPTH


def usual_leaf(reveal: Reveal, noise: Fraction | None, people: int) -> int:
    """Return how many records a leaf has at least, where a job names no number: of a tree alone 1 in 250 people, or 20.

    With noise no branch of such a tree is compared with a number.

    >>> [usual_leaf(Reveal.TREE, None, people) for people in (435, 26_049)]
    [20, 105]
    """
    if reveal is Reveal.COUNTS:
        return USUAL_MIN_LEAF
    return max(20, ceil(people / 250)) if noise is None else 1


def usual_impurity(reveal: Reveal, noise: Fraction | None) -> Impurity:
    """Return what splits are chosen by, where a job names nothing: of a tree alone with noise Gini's index."""
    of_noise = reveal is Reveal.TREE and noise is not None
    return Impurity.GINI if of_noise else Impurity.INFORMATION_GAIN


def read_job(path: Path, key_floor: int = KEY_FLOOR, *, people: int = 0) -> Train:
    """Read a `job.toml`.

    Args:
        path: The file.
        key_floor: The smallest key that a run may have.
        people: How many our table lists: a leaf's least size follows where the job names none.

    Raises:
        ConfigError: The file cannot be read, or a term is missing, unknown or out of range.
    """
    loose = read_toml(path, None)
    of_rules = loose.raw("learner", None) == RULES
    keys, others = (RULE_KEYS, _KEYS) if of_rules else (_KEYS, RULE_KEYS)
    foreign = next((name for name in loose.names if name in others and name not in keys), None)
    if foreign is not None:
        raise loose.error(foreign, f'is {"not" if of_rules else "only"} for learner = "rules": take the line out')
    section = read_toml(path, keys, _GONE)
    try:
        return Train(read_rules(section, key_floor) if of_rules else _terms(section, key_floor, people))
    except TermError as error:
        raise section.error(error.field, error.problem) from None


def usual_terms(class_name: str | None, people: int) -> Terms:
    """Return the terms of a job that names its class alone; of one that the peer holds, if we have none."""
    return _terms(Section(Path("job.toml"), "", {"class": class_name or "the peer's class"}, _KEYS), KEY_FLOOR, people)


def _terms(job: Section, key_floor: int, people: int) -> Terms:
    learner = Learner(job.choice("learner", Learner.names(), Learner.TREE))
    reveal = Reveal(job.choice("reveal", Reveal.names(), Reveal.TREE))
    noise = read_noise(job)
    return Terms(
        method=Method(job.choice("method", Method.names(), Method.SMC)),
        theta=job.fraction("theta", USUAL_THETA),
        omega=read_window(job, 3),
        counting=Counting(job.choice("counting", Counting.names(), Counting.OBLIVIOUS_TRANSFER)),
        class_name=job.text("class", controls=BLANKS),
        seed=job.integer("seed", 0, MOST_SEED, 0),
        test=job.fraction("test", _TEST),
        key_bits=job.integer("key_bits", key_floor, MOST_KEY_BITS, max(key_floor, USUAL_KEY_BITS)),
        max_depth=read_depth(job, usual_depth(reveal) if learner is Learner.TREE else ANY),
        min_leaf=job.integer("min_leaf", 1, MOST_LEAF, usual_leaf(reveal, noise, people)),
        noise=noise,
        impurity=Impurity(job.choice("impurity", Impurity.names(), usual_impurity(reveal, noise))),
        reveal=reveal,
        most_bits=_most_bits(job, reveal, noise),
        learner=learner,
    )


def _most_bits(job: Section, reveal: Reveal, noise: Fraction | None) -> int | None:
    if "most_bits" not in job.names:
        return None
    if reveal is not Reveal.TREE or noise is not None:
        raise job.error("most_bits", 'is for reveal = "tree" without noise: leave it out')
    return job.integer("most_bits", 1, MOST_BITS)
