"""The terms on which two parties build a model together (DESIGN 6 and 7).

Their legal values stand here and nowhere else: terms that no run can have cannot be made. Settings, wire, demo and
roles make them, and hear which field is wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from math import ceil
from typing import Any, Final, NoReturn

from protocols.errors import InputError

MOST_SETS: Final = 100_000
MOST_LENGTH: Final = 32
_LONGEST: Final = 1024  # of a label, in characters, as of any other
_MOST_DIGITS: Final = 18
_COMPARED_BITS: Final = 63


class RuleMetric(StrEnum):
    """What is compared of rules on shares: their other measures are no products of counts and public numbers."""

    CONFIDENCE = "confidence"
    LIFT = "lift"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        del value
        raise InputError('must be "confidence" or "lift": no other is compared without counts', field="metric")


@dataclass(frozen=True)
class RuleTerms:
    """What rules are looked for, and how many exact counts may be told for them.

    `min_support` is the share of all records that a set of items must have, `max_len` the most items of a set,
    `most_sets` the most sets of each side's own items, and the most sets with items of both, whose exact counts are
    told. `absent` are values that are no items: what a column of 0 and 1 says of a basket without the item.
    `min_threshold` is what the `metric` of a rule must reach where no count is told; None if no rule is asked about.

    Raises:
        InputError: A term that no run can have; `field` names it.
    """

    min_support: Fraction
    max_len: int
    most_sets: int
    absent: tuple[str, ...] = ()
    metric: RuleMetric = RuleMetric.CONFIDENCE
    min_threshold: Fraction | None = None

    def __post_init__(self) -> None:
        if not 0 < self.min_support <= 1 or self.min_support.denominator >= 10**_MOST_DIGITS:
            raise InputError("must be above 0 and at most 1, such as 1/20", field="min_support")
        if not 1 <= self.max_len <= MOST_LENGTH:
            raise InputError(f"must be an integer from 1 to {MOST_LENGTH}", field="max_len")
        if not 0 <= self.most_sets <= MOST_SETS:
            raise InputError(f"must be an integer from 0 to {MOST_SETS}", field="most_sets")
        if not all(1 <= len(label) <= _LONGEST for label in self.absent) or len(set(self.absent)) != len(self.absent):
            raise InputError(f"must be different texts of 1 to {_LONGEST} characters", field="absent")
        RuleMetric(self.metric)
        self._check_threshold()

    def _check_threshold(self) -> None:
        least = self.min_threshold
        if least is None:
            if self.metric is not RuleMetric.CONFIDENCE:
                raise InputError('goes with a min_threshold, such as "3/2"', field="metric")
            return
        most = 1 if self.metric is RuleMetric.CONFIDENCE else 10**_MOST_DIGITS
        if not 0 < least <= most or max(least.as_integer_ratio()) >= 10**_MOST_DIGITS:
            end = " and at most 1, such as 4/5" if most == 1 else ", such as 3/2"
            raise InputError(f"must be above 0{end}", field="min_threshold")

    def least(self, records: int) -> int:
        """Return the fewest records that a frequent set has, of that many in all.

        >>> RuleTerms(Fraction(1, 20), 3, 100).least(101)
        6
        """
        return max(1, ceil(self.min_support * records))

    def compared_width(self, records: int) -> int:
        """Return the bits, a sign among them, of what is compared of a rule; 0 where none is asked about.

        Raises:
            InputError: There are more than numbers on shares have.
        """
        if self.min_threshold is None:
            return 0
        counts = records if self.metric is RuleMetric.CONFIDENCE else records**2
        width = (max(self.min_threshold.as_integer_ratio()) * counts).bit_length() + 1
        if width > _COMPARED_BITS:
            raise InputError(
                f"min_threshold {self.min_threshold} is too fine for {records:,} records: round it, such as to 1/100"
            )
        return width

    @property
    def most_told(self) -> int:
        """The most exact counts that a run tells: those of both sides' own sets, those of both, and the records."""
        return 3 * self.most_sets + 1


Window = int | None
"""How many of the best-ranked candidates get exact counts at a node: the papers' omega, or `ALL`."""
ALL: Final = None

MOST_WINDOW: Final = 65535
MOST_DEPTH: Final = 65535
MOST_LEAF: Final = 2**31 - 1
MOST_SEED: Final = 2**63 - 1
MOST_KEY_BITS: Final = 16384
MOST_BITS: Final = 2**31 - 1
RECORDS_PER_BIT: Final = 50  # of a tree that names no other bound
MODEL_BYTES: Final = 32
MOST_DIGITS: Final = 18  # of a fraction, above and below the line
MAX_LABEL: Final = 1024  # characters of a name or a value label
WINDOWS: Final = f'an integer from 1 to {MOST_WINDOW}, or "all"'
HALF: Final = Fraction(1, 2)
NO_SHARE: Final = Fraction(0)
PRUNING_SHARE: Final = Fraction(1, 5)  # held out for it where it was wished and no share was said
EVERYONE: Final = "everyone"
"""The class of a run without a class: a column of this one value, which both sides hold."""
EPSILON_OF_SCORES: Final = HALF
"""The epsilon of the noise in the table of held-out records of a tree alone, against each side."""
LEAST_NOISE: Final = Fraction(1, 1000)
MOST_NOISE: Final = Fraction(1000)
NOISES: Final = 'an exact number from 0.001 to 1000, such as "0.5"'


class TermError(InputError):
    """A term that no run can have.

    Args:
        field: One of `TERM_NAMES`.
        reason: Its legal range, without what was given.
    """

    field: str

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason, field=field)


class Choice(StrEnum):
    """A term with a few legal values; any other text raises `TermError`."""

    @classmethod
    def names(cls) -> list[str]:
        """Return all of them as plain texts."""
        return [each.value for each in cls]

    @classmethod
    def _missing_(cls, value: object) -> None:
        del value
        *others, last = cls.names()
        raise TermError(cls.__name__.lower(), f"must be {', '.join(others)} or {last}")


class Method(Choice):
    """How a model is built (DESIGN 7.1)."""

    HYBRID = "hybrid"
    SMC = "smc"
    RANDOMIZED = "randomized"


class Learner(Choice):
    """What is learned from the counts: a tree (DESIGN 7), naive Bayes (8) or association rules (9)."""

    TREE = "tree"
    NAIVE_BAYES = "naive_bayes"
    RULES = "rules"


class Counting(Choice):
    """How exact counts are made: by oblivious transfer (DESIGN 15), or by the papers' dot product (6)."""

    OBLIVIOUS_TRANSFER = "oblivious_transfer"
    PAILLIER = "paillier"


class Reveal(Choice):
    """What of the records crosses: a tree alone, or which sets are frequent (DESIGN 16), or what both follow from."""

    TREE = "tree"
    SETS = "sets"
    COUNTS = "counts"


class Impurity(Choice):
    """What a split shall reduce: the measure by which attributes are compared (DESIGN 5.3)."""

    INFORMATION_GAIN = "information_gain"
    GAIN_RATIO = "gain_ratio"
    GINI = "gini"


def is_window(value: object) -> bool:
    """Tell whether this is `ALL` or a number of candidates.

    >>> is_window(3), is_window(ALL), is_window(0)
    (True, True, False)
    """
    return value is ALL or (type(value) is int and 1 <= value <= MOST_WINDOW)


def _check_fraction(field: str, value: Fraction) -> None:
    if max(abs(value.numerator), value.denominator) >= 10**MOST_DIGITS:
        raise TermError(field, f"must be a fraction of at most {MOST_DIGITS} digits above and below the line")


@dataclass(frozen=True)
class Growth:
    """How far and by what a tree is grown (DESIGN 5.3, 7.1); as it stands, like the papers' trees, to its end.

    `max_depth` is the number of splits that no path may pass, None for any. A branch of fewer than `min_leaf` records
    is a leaf of its parent's label, as an empty one is; an attribute may split a node only if two branches have so
    many, and a node of fewer than twice as many is a leaf; 1 is no limit, of estimates that are fractions of a record
    either. `noise` is the epsilon of the noise in the counts against each side, None for counts without: an attribute
    must then have a gain to split a node. `impurity` is what splits are chosen by, `prune` the share of all records
    that it was pruned by.

    Raises:
        TermError: A limit, a measure or a share that no tree can have.
    """

    max_depth: int | None = None
    min_leaf: int = 1
    noise: Fraction | None = None
    impurity: Impurity = Impurity.INFORMATION_GAIN
    prune: Fraction = NO_SHARE

    def __post_init__(self) -> None:
        Impurity(self.impurity)
        _check_fraction("prune", self.prune)
        if not 0 <= self.prune < 1:
            raise TermError("prune", "must be 0 or more and below 1")
        if self.max_depth is not None and not 1 <= self.max_depth <= MOST_DEPTH:
            raise TermError("max_depth", f"must be an integer from 1 to {MOST_DEPTH}")
        if not 1 <= self.min_leaf <= MOST_LEAF:
            raise TermError("min_leaf", f"must be an integer from 1 to {MOST_LEAF}")
        if self.noise is not None:
            _check_fraction("noise", self.noise)
            if not LEAST_NOISE <= self.noise <= MOST_NOISE:
                raise TermError("noise", f"must be {NOISES}")

    @property
    def smallest_split(self) -> int:
        """The fewest records of a node that may be split."""
        return 2 * self.min_leaf


TO_THE_END: Final = Growth()


@dataclass(frozen=True)
class Terms:
    """The parameters of building one model, on which both parties must agree.

    `theta` is the chance of the truth for two values, `omega` the window, `test` the share of records held out,
    `counting` how exact counts are made, `key_bits` the least length of the key, where counts need one, `max_depth` and
    `min_leaf` the limits of the tree, `noise` the epsilon against each side of the noise in counts, or in winners and
    labels of a tree alone, None for neither, `impurity` what splits are chosen by, `reveal` what crosses, `most_bits`
    how many a tree may reveal that alone is (None: one for fifty records), `learner` what is learned.
    Terms that the method does not use must still be legal, except that `theta` may be 1/2 where nothing is disguised;
    naive Bayes has no limit that only trees have.

    Raises:
        TermError: The first term that no run can have.
    """

    method: Method
    theta: Fraction
    omega: Window
    counting: Counting
    class_name: str
    seed: int
    test: Fraction
    key_bits: int
    max_depth: int | None = None
    min_leaf: int = 1
    noise: Fraction | None = None
    impurity: Impurity = Impurity.INFORMATION_GAIN
    reveal: Reveal = Reveal.COUNTS
    most_bits: int | None = None
    learner: Learner = Learner.TREE
    rules: RuleTerms | None = None

    def __post_init__(self) -> None:
        Method(self.method)
        _check_fraction("theta", self.theta)
        if not 0 < self.theta < 1 or (self.disguises and self.theta == HALF):
            raise TermError("theta", "must be above 0 and below 1, and not 1/2, where two-valued columns carry nothing")
        if not is_window(self.omega):
            raise TermError("omega", f"must be {WINDOWS}")
        Counting(self.counting)
        if not 1 <= len(self.class_name) <= MAX_LABEL:
            raise TermError("class", f"must be text of 1 to {MAX_LABEL} characters")
        if not 0 <= self.seed <= MOST_SEED:
            raise TermError("seed", f"must be an integer from 0 to {MOST_SEED}")
        _check_fraction("test", self.test)
        if not 0 <= self.test < 1:
            raise TermError("test", "must be 0 or more and below 1")
        if not 1 <= self.key_bits <= MOST_KEY_BITS:
            raise TermError("key_bits", f"must be an integer from 1 to {MOST_KEY_BITS}")
        self._check_learner()
        _ = self.growth
        self._check_noise()
        self._check_rules()
        self._check_reveal()
        if self.most_bits is not None and not 1 <= self.most_bits <= MOST_BITS:
            raise TermError("most_bits", f"must be an integer from 1 to {MOST_BITS}")

    def _check_rules(self) -> None:
        """Rules have no class, hold nothing out and count without noise; what else is for trees is not looked at."""
        if self.rules is None:
            return
        if self.class_name != EVERYONE:
            raise TermError("class", "is not for rules: they are about all columns alike")
        if self.rules.min_threshold is not None and self.reveal != Reveal.SETS:
            raise TermError(
                "reveal", 'must be "sets" with min_threshold: with counts, `cotally rules` asks for rules afterwards'
            )
        for field in ("test", "noise", "max_depth"):
            if getattr(self, field):
                raise TermError(field, "is not for rules")

    def _check_learner(self) -> None:
        if (Learner(self.learner) is Learner.RULES) != (self.rules is not None):
            raise TermError("learner", "must be rules where terms of rules are given, and only there")
        if self.learner is not Learner.NAIVE_BAYES:
            return
        if self.method != Method.SMC:
            raise TermError("method", 'must be "smc" for naive Bayes, which only counts: take method = "smc"')
        if self.max_depth is not None:
            raise TermError("max_depth", "is for trees: naive Bayes counts at one node")
        if self.encrypts and self.test:
            raise TermError("test", 'must be 0 for naive Bayes with counting = "paillier": dot products test trees')

    def _check_noise(self) -> None:
        if self.noise is None:
            return
        if not self.counts_exactly:
            raise TermError("noise", 'needs method = "smc", or "hybrid" with reveal = "counts"')
        if self.levels is None:
            raise TermError("noise", "needs a max_depth: without one there is no bound on how much a run reveals")
        if self.window is not ALL:
            way = 'method = "smc"' if self.reveal == Reveal.TREE else 'omega = "all" or method = "smc"'
            raise TermError("noise", f"needs {way}: a window follows from true columns")

    def _check_reveal(self) -> None:
        """Only shares keep counts from both sides: those of a tree, or of sets of items."""
        if Reveal(self.reveal) is Reveal.COUNTS:
            return
        of_sets = self.reveal is Reveal.SETS
        other = '"sets" or "counts"' if self.rules is not None and not of_sets else '"counts"'
        for field, value, needed in (
            ("learner", self.learner, Learner.RULES if of_sets else Learner.TREE),
            ("counting", self.counting, Counting.OBLIVIOUS_TRANSFER),
            ("method", self.method, Method.SMC if of_sets else self.method),
        ):
            if value != needed and (field != "counting" or self.counts_exactly):
                alone = f'only {field} = "{needed}" goes with reveal = "{self.reveal}"'
                raise TermError("reveal", f'must be {other} with {field} = "{value}": {alone}')
        if of_sets:
            return
        if self.impurity is Impurity.GAIN_RATIO:
            raise TermError("reveal", 'must be "counts" with impurity = "gain_ratio": shares are not divided')
        if self.max_depth is None:
            raise TermError(
                "max_depth", 'must be a number with reveal = "tree": it bounds what the tree says of people'
            )
        self._check_noisy_tree()
        if self.ranks and self.omega is ALL:
            raise TermError("omega", 'must be a number with reveal = "tree": smc lets all compete, and needs no copies')

    def _check_noisy_tree(self) -> None:
        """What is beside noisy winners and labels would void their epsilon if it followed from true counts."""
        for field, value, needed, why in (
            ("method", self.method, Method.SMC, "copies and windows have no noise"),
            ("impurity", self.impurity, Impurity.GINI, "one record changes the others by too much"),
            ("min_leaf", self.min_leaf, 1, "an exact limit has no noise"),
        ):
            if self.noises_tree and value != needed:
                raise TermError(field, f'must be {needed} with noise and reveal = "tree": {why}')

    def bits_at_most(self, records: int) -> Fraction | None:
        """Return how many bits the tree of this many records, those held out among them, may reveal; None for any."""
        if self.reveal != Reveal.TREE or self.noise is not None:
            return None
        return Fraction(records // RECORDS_PER_BIT if self.most_bits is None else self.most_bits)

    @property
    def levels(self) -> int | None:
        """At how many levels of nodes there may be counts: naive Bayes asks at the root alone, rules at sets."""
        if self.rules is not None:
            return self.rules.max_len
        return self.max_depth if self.learner is Learner.TREE else 1

    @property
    def growth(self) -> Growth:
        """How the tree is grown."""
        return Growth(self.levels, self.min_leaf, self.noise, self.impurity)

    @property
    def disguises(self) -> bool:
        """Whether disguised copies cross."""
        return self.method != Method.SMC

    @property
    def hides_counts(self) -> bool:
        """Whether nobody sees a count: a tree is opened, or sent by `randomized`, or which sets are frequent."""
        return self.reveal != Reveal.COUNTS

    @property
    def opens_tree(self) -> bool:
        """Whether a tree is opened, node by node, and nothing else of the counts that it is made from."""
        return self.reveal == Reveal.TREE and self.counts_exactly

    @property
    def noises_tree(self) -> bool:
        """Whether noise is in what is opened of a tree, and not in counts."""
        return self.hides_counts and self.noise is not None

    @property
    def epsilon(self) -> Fraction | None:
        """What a run takes of either side's epsilon; None without noise."""
        return None if self.noise is None else epsilon_of(self.noise, self.test, self.reveal)

    @property
    def counts_exactly(self) -> bool:
        """Whether exact counts are made, be they seen or not."""
        return self.method != Method.RANDOMIZED

    @property
    def ranks(self) -> bool:
        """Whether candidates are ranked by estimates and counted exactly: only then `omega` is free."""
        return self.method == Method.HYBRID

    @property
    def mines(self) -> bool:
        """Whether one side mines the tree alone, from its own columns and the other's copy."""
        return self.method == Method.RANDOMIZED and self.rules is None

    @property
    def encrypts(self) -> bool:
        """Whether counts are made under encryption, and a key is needed."""
        return self.counts_exactly and self.counting == Counting.PAILLIER

    @property
    def window(self) -> Window:
        """How many candidates the learner counts at a node."""
        return self.omega if self.ranks else ALL

    @property
    def asking(self) -> dict[str, Any]:
        """The fields that decide which counts are asked for and what they are: two runs alike in them tell the same.

        How counts are made does not matter; where all candidates of a tree are counted, nothing does that ranks
        them, and the method neither: `smc` and `hybrid` with all candidates ask for the same. Rules by `hybrid` have
        other counts than by `smc`. A bound on bits matters where it may end a tree.
        """
        return asking_of(vars(self))

    def difference(self, other: "Terms") -> str | None:
        """Return the name of the first term in which the two differ; None if they are equal."""
        ours, theirs = ([getattr(terms, field.name) for field in fields(Terms)] for terms in (self, other))
        return next((name for name, a, b in zip(TERM_NAMES, ours, theirs, strict=True) if a != b), None)


def epsilon_of(noise: Fraction, test: Fraction, reveal: Reveal) -> Fraction:
    """Return what a run with noise takes of either side's epsilon.

    A record is trained on or held out: the table of those held out has an epsilon of its own beside a tree's.
    """
    return max(noise, EPSILON_OF_SCORES) if reveal is Reveal.TREE and test else noise


def asking_of(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of these fields, or of those on record, is `Terms.asking`."""
    idle, of_rules = {"counting", "key_bits"}, terms.get("rules") is not None
    if terms["method"] == Method.SMC or (terms["method"] == Method.HYBRID and terms["omega"] is ALL and not of_rules):
        idle |= {"method", "theta", "omega"}
    elif terms["method"] == Method.RANDOMIZED or of_rules:
        idle |= {"omega"}
    if terms.get("reveal") != Reveal.TREE or terms["noise"] is not None:
        idle |= {"most_bits"}
    return {name: value for name, value in terms.items() if name not in idle}


TERM_NAMES: Final = tuple(field.name.removesuffix("_name") for field in fields(Terms))
"""The terms as people and messages call them."""
