"""The settings of one run, `job.toml`: what to do together, and the terms, which the parties compare."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from party.settings.depth import ANY, USUAL_DEPTH, read_depth
from party.settings.key_sizes import KEY_FLOOR, USUAL_KEY_BITS
from party.settings.noise import read_noise
from party.settings.party import USUAL_MIN_LEAF
from party.settings.rules import RULE_KEYS, RULES, USUAL_THETA, read_rules
from party.settings.toml import BLANKS, Section, read_toml
from party.settings.window import read_window
from protocols.jobs import Train
from protocols.terms import (
    MOST_KEY_BITS,
    MOST_LEAF,
    MOST_SEED,
    TERM_NAMES,
    Counting,
    Impurity,
    Learner,
    Method,
    Reveal,
    TermError,
    Terms,
)

_KEYS = [name for name in TERM_NAMES if name != RULES]
_GONE = {
    "rank": "both sides' estimated gains rank, and no gain is revealed",
    "prune": "max_depth and min_leaf keep a tree small, and name nobody",
    "engine": 'counting = "oblivious_transfer", or "paillier", says how counts are made',
    "cipher": 'counting = "oblivious_transfer", or "paillier", says how counts are made',
}


@dataclass(frozen=True)
class _UsualLimits:
    """What a job has that names no other: how far a tree is grown and by what, how many are held out."""

    max_depth: int
    min_leaf: int
    test: str
    impurity: Impurity = Impurity.INFORMATION_GAIN


_USUAL: Final = {
    Reveal.TREE: _UsualLimits(max_depth=4, min_leaf=20, test="1/5"),
    Reveal.COUNTS: _UsualLimits(max_depth=USUAL_DEPTH, min_leaf=USUAL_MIN_LEAF, test="1/5"),
}
_USUAL_OF_NOISY_TREE: Final = replace(_USUAL[Reveal.TREE], min_leaf=1, impurity=Impurity.GINI)


def read_job(path: Path, key_floor: int = KEY_FLOOR) -> Train:
    """Read a `job.toml`.

    Args:
        path: The file.
        key_floor: The smallest key that a run may have.

    Raises:
        ConfigError: The file cannot be read, or a term is missing, unknown or out of range.
    """
    of_rules = read_toml(path, None).raw("learner", None) == RULES
    section = read_toml(path, RULE_KEYS if of_rules else _KEYS, _GONE)
    try:
        return Train(read_rules(section, key_floor) if of_rules else _terms(section, key_floor))
    except TermError as error:
        raise section.error(error.field, error.problem) from None


def _terms(job: Section, key_floor: int) -> Terms:
    learner = Learner(job.choice("learner", Learner.names(), Learner.TREE))
    reveal = Reveal(job.choice("reveal", Reveal.names(), Reveal.TREE))
    noise = read_noise(job)
    usual = _USUAL[reveal] if noise is None or reveal is Reveal.COUNTS else _USUAL_OF_NOISY_TREE
    return Terms(
        method=Method(job.choice("method", Method.names())),
        theta=job.fraction("theta", USUAL_THETA),
        omega=read_window(job, 3),
        counting=Counting(job.choice("counting", Counting.names(), Counting.OBLIVIOUS_TRANSFER)),
        class_name=job.text("class", controls=BLANKS),
        seed=job.integer("seed", 0, MOST_SEED, 0),
        test=job.fraction("test", usual.test),
        key_bits=job.integer("key_bits", key_floor, MOST_KEY_BITS, max(key_floor, USUAL_KEY_BITS)),
        max_depth=read_depth(job, usual.max_depth if learner is Learner.TREE else ANY),
        min_leaf=job.integer("min_leaf", 1, MOST_LEAF, usual.min_leaf),
        noise=noise,
        impurity=Impurity(job.choice("impurity", Impurity.names(), usual.impurity)),
        reveal=reveal,
        learner=learner,
    )
