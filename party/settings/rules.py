"""A `job.toml` with `learner = "rules"`: association rules over the columns of both parties."""

from fractions import Fraction
from typing import Final

from party.data.texts import plain_text
from party.settings.key_sizes import USUAL_KEY_BITS
from party.settings.party import USUAL_MIN_LEAF
from party.settings.toml import Section
from protocols.errors import InputError
from protocols.rule_terms import MOST_LENGTH, MOST_SETS, RuleTerms
from protocols.terms import ALL, EVERYONE, MOST_KEY_BITS, MOST_LEAF, Counting, Learner, Method, Reveal, Terms

RULES: Final = "rules"
RULE_KEYS: Final = (
    "learner", "method", "theta", "counting", "key_bits", "min_leaf", "reveal",
    "min_support", "max_len", "most_sets", "absent",
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
