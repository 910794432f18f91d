"""The terms on which two parties build a model together (DESIGN 6 and 7).

Their legal values stand here: the constructor refuses all others; limits that need the data are in `agreement`.
Settings, wire, demo and roles make them, and hear which field is wrong.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from math import ceil, gcd, lcm
from typing import Annotated, Any, Final

from protocols.errors import InputError
from protocols.kinds import MOST_DIGITS, Between, Exact, Label, LabelList, Pick, check_kinds, exact_number, values_of

_COMPARED_BITS: Final = 63


class TermError(InputError):
    """A term that no run can have: one of `TERM_NAMES`, and its legal range, without what was given."""

    field: str

    def __init__(self, reason: str, *, field: str) -> None:
        super().__init__(reason, field=field.removesuffix("_name"))


class Choice(StrEnum):
    """A term with a few legal values; any other text raises `TermError`."""

    @classmethod
    def names(cls) -> list[str]:
        """Return all of them as plain texts."""
        return [each.value for each in cls]

    @classmethod
    def _missing_(cls, value: object) -> None:
        del value
        raise TermError(Pick(cls).legal, field=cls.__name__.lower())


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


class Splits(Choice):
    """What may split a node: a column by all its values, as in the papers, or one cut or value of it, as in CART."""

    VALUES = "values"
    TWO_WAY = "two-way"


class Leaves(Choice):
    """What is opened of a leaf where nobody sees counts: its class, or the shares of the classes in tenths besides."""

    LABEL = "label"
    TENTHS = "tenths"


class Metric(Choice):
    """What is compared of rules on shares: these need products alone of counts and public numbers."""

    CONFIDENCE = "confidence"
    LIFT = "lift"


Window = int | None
"""How many of the best-ranked candidates get exact counts at a node: the papers' omega, or `ALL`."""
ALL: Final = None

RECORDS_PER_BIT: Final = 50  # of a tree that names no other bound
MODEL_BYTES: Final = 32
HALF: Final = Fraction(1, 2)
NO_SHARE: Final = Fraction(0)
PRUNING_SHARE: Final = Fraction(1, 5)  # held out for it where it was wished and no share was said
NO_CLASS: Final = "everyone"
"""What stands for the class of a run without one: a column of this one value, which both sides hold."""
EPSILON_OF_SCORES: Final = HALF
"""The epsilon of the noise in the table of held-out records of a tree alone, against each side."""
USUAL_WINDOW: Final = 3
USUAL_DEPTH: Final = 5  # where counts are revealed: dot products are paid per path
LEAF_OF_TENTHS: Final = 100
"""The fewest records of a leaf whose shares are opened without noise."""
USUAL_TREE_DEPTH: Final = 4  # of a tree alone, which is an answer about people

_ONE: Final = Fraction(1)
_ENDLESS: Final = Fraction(10**MOST_DIGITS - 1)
THETA: Final = Exact(
    NO_SHARE,
    _ONE,
    "must be above 0 and below 1, and not 1/2, where two-valued columns carry nothing",
    opens=(NO_SHARE, _ONE),
)
OMEGA: Final = Between(1, 65535, "all")
SEED: Final = Between(0, 2**63 - 1)
SHARE: Final = Exact(NO_SHARE, _ONE, "must be 0 or more and below 1", opens=(_ONE,))
KEY_BITS: Final = Between(1, 16384)
KEY_FLOOR: Final = 2048  # whatever settings say
USUAL_KEY_BITS: Final = 3072
DEPTH: Final = Between(1, 65535, "any")
LEAF: Final = Between(1, 2**31 - 1)
NOISE: Final = Exact(
    Fraction(1, 1000), Fraction(1000), 'must be an exact number from 0.001 to 1000, such as "0.5"', "none"
)
BITS: Final = Between(1, 2**31 - 1, f"n/{RECORDS_PER_BIT}")
_HEAVIEST: Final = 10_000
FEWEST_DECIDING: Final = 3
WEIGHTS_LEGAL: Final = 'must be values of the class with numbers from 1/100 to 100, such as ["yes=4"]'
SUPPORT: Final = Exact(NO_SHARE, _ONE, "must be above 0 and at most 1, such as 1/20", opens=(NO_SHARE,))
LENGTH: Final = Between(1, 32)
SETS: Final = Between(0, 100_000)
THRESHOLD: Final = Exact(NO_SHARE, _ENDLESS, "must be above 0, such as 3/2", "none", opens=(NO_SHARE,))


@dataclass(frozen=True)
class RuleTerms:
    """What rules are looked for, and how many exact counts may be revealed for them.

    `min_support` is the share of all records that a set of items must have, `max_len` the most items of a set,
    `most_sets` the most sets of each side's own items, and the most sets with items of both, whose exact counts are
    sent. `absent` are values that are no items: what a column of 0 and 1 says of a basket without the item.
    `min_threshold` is what the `metric` of a rule must reach where no count crosses; None if no rule is asked about.
    """

    min_support: Annotated[Fraction, SUPPORT]
    max_len: Annotated[int, LENGTH]
    most_sets: Annotated[int, SETS]
    absent: Annotated[tuple[str, ...], LabelList()] = ()
    metric: Annotated[Metric, Pick(Metric)] = Metric.CONFIDENCE
    min_threshold: Annotated[Fraction | None, THRESHOLD] = None

    def __post_init__(self) -> None:
        check_kinds(self)
        of_shares = self.metric == Metric.CONFIDENCE
        if self.min_threshold is None and not of_shares:
            raise InputError('goes with a min_threshold, such as "3/2"', field="metric")
        if self.min_threshold is not None and of_shares and self.min_threshold > 1:
            raise InputError("must be above 0 and at most 1, such as 4/5", field="min_threshold")

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
        counts = records if self.metric == Metric.CONFIDENCE else records**2
        width = (max(self.min_threshold.as_integer_ratio()) * counts).bit_length() + 1
        if width > _COMPARED_BITS:
            raise InputError(
                f"min_threshold {self.min_threshold} is too fine for {records:,} records: round it, such as to 1/100"
            )
        return width

    @property
    def most_counts(self) -> int:
        """The most exact counts that a run reveals: of both sides' own sets, of those of both, and of the records."""
        return 3 * self.most_sets + 1


def _weights_read(texts: Iterable[str]) -> dict[str, Fraction]:
    """Return weights by value of the class."""
    found = {}
    for value, _, number in (text.rpartition("=") for text in texts):
        weight = exact_number(number.strip())
        if not value.strip() or weight is None or not Fraction(1, 100) <= weight <= 100:
            raise TermError(WEIGHTS_LEGAL, field="weights")
        found[value.strip()] = weight
    return found


def whole_weights(texts: Iterable[str], values: Sequence[str]) -> list[int]:
    """Return what a record of each class counts for, in whole numbers without a common divisor.

    >>> whole_weights(["yes=5/2"], ["no", "yes"])
    [2, 5]

    Raises:
        TermError: A weight is for none of the values, or they have no whole numbers below 10,001 as shares.
    """
    by_value = _weights_read(texts)
    if unknown := [value for value in by_value if value not in values]:
        raise TermError(f"names {unknown[0]!r}, which is no value of the class", field="weights")
    weights = [by_value.get(value, _ONE) for value in values]
    whole = [int(weight * lcm(*(each.denominator for each in weights))) for weight in weights]
    least = [each // gcd(*whole) for each in whole]
    if max(least) > _HEAVIEST:
        raise TermError("are too fine: round them, such as to 5/2", field="weights")
    return least


def balancing_weights(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return weights under which the classes, of these numbers of records, count about alike.

    They are whole numbers, which show the ratio of the classes no finer than a partner needs.

    >>> balancing_weights({"no": 3_690, "yes": 810})
    ('yes=5',)
    """
    most = max(counts.values(), default=0)
    ratios = {value: round(most / count) for value, count in counts.items() if count}
    return tuple(f"{value}={ratio}" for value, ratio in ratios.items() if ratio > 1)


def leaf_of_weights(weights: Sequence[int]) -> int:
    """Return the fewest records of a leaf that fewer than `FEWEST_DECIDING` of one class do not outweigh.

    Where one record does, a label can say of everybody in a leaf that nobody there is of its class. The others may be
    of as many classes as there are, in equal numbers.

    >>> leaf_of_weights([1, 4]), leaf_of_weights([1, 1, 1, 4])
    (11, 27)
    """
    lightest, heaviest, others = min(weights), max(weights), len(weights) - 1
    outweighed = (FEWEST_DECIDING - 1) * heaviest // lightest
    return 1 if lightest == heaviest else FEWEST_DECIDING + others * outweighed


@dataclass(frozen=True)
class Growth:
    """How far and by what a tree is grown (DESIGN 5.3, 7.1); as it stands, like the papers' trees, to its end.

    `max_depth` is the number of splits that no path may pass, None for any. A branch of fewer than `min_leaf` records
    is a leaf of its parent's label, as an empty one is; an attribute may split a node only if two branches reach
    `min_leaf`, and a node of fewer than twice as many is a leaf; 1 means no limit, also for fractional estimates.
    `noise` is the epsilon of the noise in the counts against each side, None for counts without: an attribute must
    then have a gain to split a node. `impurity` is what splits are chosen by, `prune` the share of all records
    that it was pruned by, `leaves` what is opened of a leaf where counts are not. `weights` are what records of a class
    count for in splits and labels, as `VALUE=NUMBER`; those of another class count once.
    """

    max_depth: Annotated[int | None, DEPTH] = None
    min_leaf: Annotated[int, LEAF] = 1
    noise: Annotated[Fraction | None, NOISE] = None
    impurity: Annotated[Impurity, Pick(Impurity)] = Impurity.INFORMATION_GAIN
    prune: Annotated[Fraction, SHARE] = NO_SHARE
    leaves: Annotated[Leaves, Pick(Leaves)] = Leaves.LABEL
    weights: Annotated[tuple[str, ...], LabelList()] = ()

    def __post_init__(self) -> None:
        check_kinds(self, TermError)
        _weights_read(self.weights)

    @property
    def smallest_split(self) -> int:
        """The fewest records of a node that may be split."""
        return 2 * self.min_leaf


TO_THE_END: Final = Growth()


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The parameters of building one model, on which both parties must agree; one class for each learner.

    `theta` is the chance of the truth for two values, `omega` the window, `test` the share of records held out,
    `counting` how exact counts are made, `key_bits` the least length of the key, where counts need one, `max_depth` and
    `min_leaf` the limits of the tree, `noise` the epsilon against each side of the noise in counts, or in winners and
    labels of a tree alone, None for neither, `impurity` what splits are chosen by, `reveal` what crosses, `most_bits`
    how many bits a tree may reveal where nothing else is revealed (None: one for fifty records), `splits` what may
    split a node, `leaves` what is opened of a leaf, `weights` what records of a class count for.

    Terms that the method does not use must still be legal, except that `theta` may be 1/2 where nothing is disguised.
    What a learner has no use for is fixed: the classes below say it, and the value that is on record in its place.

    What both sides learn by method and `reveal`; hybrid and randomized also send copies (`disguises`):

    method      counts                                  tree, or of rules sets (`hides_counts`)
    smc         counts of all (`reveals_counts`)        splits and leaves (`opens_tree`); which sets are frequent
    hybrid      windows (`ranks`) and their counts      windows, splits and leaves (`opens_tree`)
    randomized  a tree that one side `mines`            likewise, of as many bits as `bits_at_most`
                rules: what the copies show
    """

    method: Annotated[Method, Pick(Method)]
    theta: Annotated[Fraction, THETA]
    omega: Annotated[Window, OMEGA]
    counting: Annotated[Counting, Pick(Counting)]
    class_name: Annotated[str, Label()]
    seed: Annotated[int, SEED]
    test: Annotated[Fraction, SHARE]
    key_bits: Annotated[int, KEY_BITS]
    max_depth: Annotated[int | None, DEPTH] = None
    min_leaf: Annotated[int, LEAF] = 1
    noise: Annotated[Fraction | None, NOISE] = None
    impurity: Annotated[Impurity, Pick(Impurity)] = Impurity.INFORMATION_GAIN
    reveal: Annotated[Reveal, Pick(Reveal)] = Reveal.COUNTS
    most_bits: Annotated[int | None, BITS] = None
    splits: Annotated[Splits, Pick(Splits)] = Splits.VALUES
    leaves: Annotated[Leaves, Pick(Leaves)] = Leaves.LABEL
    weights: Annotated[tuple[str, ...], LabelList()] = ()
    learner: Learner = field(init=False)
    rules: RuleTerms | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        check_kinds(self, TermError)
        for name, problem in self._conflicts():
            raise TermError(problem, field=name)

    def _conflicts(self) -> Iterator[tuple[str, str]]:
        """Yield each term that does not go with the others, and why."""
        if self.disguises and self.theta == HALF:
            yield "theta", THETA.legal
        if self.noise is not None:
            if not self.counts_exactly:
                yield "noise", 'needs method = "smc", or "hybrid" with reveal = "counts"'
            if self.levels is None:
                yield "noise", "needs a max_depth: without one there is no bound on how much a run reveals"
            if self.window is not ALL:
                way = 'method = "smc"' if self.reveal == Reveal.TREE else 'omega = "all" or method = "smc"'
                yield "noise", f"needs {way}: a window follows from true columns"
        if self.hides_counts:  # only shares keep counts from both sides: those of a tree, or of sets of items
            of_sets = self.reveal == Reveal.SETS
            other = '"sets" or "counts"' if self.learner == Learner.RULES and not of_sets else '"counts"'
            needs: dict[str, Choice] = {"learner": Learner.RULES if of_sets else Learner.TREE}
            needs |= {"counting": Counting.OBLIVIOUS_TRANSFER} if self.counts_exactly else {}
            needs |= {"method": Method.SMC} if of_sets else {}
            for name, needed in needs.items():
                if (value := getattr(self, name)) != needed:
                    alone = f'only {name} = "{needed}" goes with reveal = "{self.reveal}"'
                    yield "reveal", f'must be {other} with {name} = "{value}": {alone}'

    def bits_at_most(self, records: int) -> Fraction | None:
        """Return how many bits the tree of this many records, those held out among them, may reveal; None for any."""
        if self.reveal != Reveal.TREE or self.noise is not None:
            return None
        return Fraction(records // RECORDS_PER_BIT if self.most_bits is None else self.most_bits)

    @property
    def levels(self) -> int | None:
        """Most levels that are counted: naive Bayes asks at the root alone, rules at sets."""
        return self.max_depth

    @property
    def growth(self) -> Growth:
        """How the tree is grown."""
        return Growth(
            max_depth=self.levels,
            min_leaf=self.min_leaf,
            noise=self.noise,
            impurity=self.impurity,
            leaves=self.leaves,
            weights=self.weights,
        )

    @property
    def disguises(self) -> bool:
        """Whether disguised copies cross."""
        return self.method != Method.SMC

    @property
    def hides_counts(self) -> bool:
        """Whether nobody sees a count: a tree is opened, or sent by `randomized`, or which sets are frequent."""
        return self.reveal != Reveal.COUNTS

    @property
    def reveals_counts(self) -> bool:
        """Whether both sides see counts: neither of a run that hides them, nor of a tree that one side mines."""
        return not self.hides_counts and not self.mines

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
    def reveal_key(self) -> dict[str, Any]:
        """The terms that decide which counts are asked for and what they are: two runs alike in them reveal the same.

        How counts are made does not matter; nor, where all candidates of a tree are counted, the method and what ranks
        them. Rules by `hybrid` have other counts than by `smc`. A bound on bits matters where it may end a tree.
        """
        return reveal_key_of(values_of(self))

    def difference(self, other: "Terms") -> str | None:
        """Return the name of the first term in which the two differ; None if they are equal."""
        pairs = zip(TERM_NAMES, values_of(self).values(), values_of(other).values(), strict=True)
        return next((name for name, ours, theirs in pairs if ours != theirs), None)


@dataclass(frozen=True, kw_only=True)
class TreeTerms(Terms):
    """The terms of a tree (DESIGN 7)."""

    learner: Learner = field(default=Learner.TREE, init=False)

    def _conflicts(self) -> Iterator[tuple[str, str]]:
        yield from super()._conflicts()
        if self.most_bits is not None and (self.reveal != Reveal.TREE or self.noise is not None):
            yield "most_bits", 'is for reveal = "tree" without noise: leave it out'
        in_windows = self.ranks and self.reveal == Reveal.TREE
        if self.splits == Splits.TWO_WAY and self.disguises and not in_windows:
            way = 'for two-way splits take method = "smc", or "hybrid" with reveal = "tree"'
            yield "splits", f'must be "{Splits.VALUES}" with copies: {way}'
        yield from self._conflicts_of_labels()
        if self.reveal != Reveal.TREE:
            return
        if self.impurity == Impurity.GAIN_RATIO:
            yield "reveal", 'must be "counts" with impurity = "gain_ratio": shares are not divided'
        if self.max_depth is None:
            yield "max_depth", 'must be a number with reveal = "tree": it bounds what the tree says of people'
        for name, value, needed, why in (  # what follows from true counts beside noisy winners voids their epsilon
            ("method", self.method, Method.SMC, "copies and windows have no noise"),
            ("impurity", self.impurity, Impurity.GINI, "one record changes the others by too much"),
            ("min_leaf", self.min_leaf, 1, "an exact limit has no noise"),
        ):
            if self.noises_tree and value != needed:
                yield name, f'must be {needed} with noise and reveal = "tree": {why}'
        if self.ranks and self.omega is ALL:
            yield "omega", 'must be a number with reveal = "tree": smc lets all compete, and needs no copies'

    def _conflicts_of_labels(self) -> Iterator[tuple[str, str]]:
        _weights_read(self.weights)
        if self.weights and (not self.opens_tree or self.disguises or self.noise is not None):
            yield "weights", 'need method = "smc" and reveal = "tree", without noise: leave them out'
        has_tenths = self.leaves == Leaves.TENTHS
        if has_tenths and not self.opens_tree:
            yield "leaves", 'must be "label" but where a tree alone is opened: by smc or hybrid with reveal = "tree"'
        if has_tenths and self.noise is None and self.min_leaf < LEAF_OF_TENTHS:
            few = f"tenths of fewer than {LEAF_OF_TENTHS} records would show single ones"
            yield "leaves", f'must be "label" with min_leaf = {self.min_leaf}: {few}'


@dataclass(frozen=True, kw_only=True)
class _WithoutTree(Terms):
    """What is fixed where no tree is grown."""

    max_depth: int | None = field(default=None, init=False)
    impurity: Impurity = field(default=Impurity.INFORMATION_GAIN, init=False)
    most_bits: int | None = field(default=None, init=False)
    splits: Splits = field(default=Splits.VALUES, init=False)
    leaves: Leaves = field(default=Leaves.LABEL, init=False)
    weights: tuple[str, ...] = field(default=(), init=False)


@dataclass(frozen=True, kw_only=True)
class BayesTerms(_WithoutTree):
    """The terms of naive Bayes (DESIGN 8), which counts at one node."""

    omega: Window = field(default=USUAL_WINDOW, init=False)
    learner: Learner = field(default=Learner.NAIVE_BAYES, init=False)

    def _conflicts(self) -> Iterator[tuple[str, str]]:
        if self.method != Method.SMC:
            yield "method", 'must be "smc" for naive Bayes, which only counts: take method = "smc"'
        if self.encrypts and self.test:
            yield "test", 'must be 0 for naive Bayes with counting = "paillier": dot products test trees'
        yield from super()._conflicts()

    @property
    def levels(self) -> int | None:
        """One: the root."""
        return 1


@dataclass(frozen=True, kw_only=True)
class MiningTerms(_WithoutTree):
    """The terms of association rules (DESIGN 9): about all columns alike, without a class, and of all records.

    `min_leaf` is the fewest records of a frequent set, and of what two own sets that are counted may differ by.
    """

    omega: Window = field(default=ALL, init=False)
    class_name: str = field(default=NO_CLASS, init=False)
    seed: int = field(default=0, init=False)
    test: Fraction = field(default=NO_SHARE, init=False)
    noise: Fraction | None = field(default=None, init=False)
    learner: Learner = field(default=Learner.RULES, init=False)
    rules: RuleTerms

    def _conflicts(self) -> Iterator[tuple[str, str]]:
        if self.rules.min_threshold is not None and self.reveal != Reveal.SETS:
            yield "reveal", 'must be "sets" with min_threshold: with counts, `cotally rules` asks for rules afterwards'
        yield from super()._conflicts()

    @property
    def levels(self) -> int | None:
        """As many as items of a set."""
        return self.rules.max_len


LEARNERS: Final[Mapping[Learner, type[Terms]]] = {
    Learner.TREE: TreeTerms,
    Learner.NAIVE_BAYES: BayesTerms,
    Learner.RULES: MiningTerms,
}


def fixed_terms(learner: type[Terms]) -> dict[str, Any]:
    """Return the terms that this learner does not have, with what is on record in their place."""
    return {each.name: each.default for each in fields(learner) if not each.init and each.name != "learner"}


def terms_of(values: Mapping[str, Any]) -> Terms:
    """Return the terms of these values, as they are on record.

    Raises:
        TermError: They are no terms, or their learner does not have one that is named.
    """
    learner = LEARNERS[Learner(values["learner"])]
    fixed = fixed_terms(learner)
    if learner is MiningTerms and values.get("rules") is None:
        raise TermError("is missing", field="rules")
    for name, value in fixed.items():
        if values.get(name, value) != value:
            raise TermError(f'is not for learner = "{values["learner"]}"', field=name)
    return learner(**{name: value for name, value in values.items() if name not in {*fixed, "learner"}})


def epsilon_of(noise: Fraction, test: Fraction, reveal: Reveal) -> Fraction:
    """Return what a run with noise takes of either side's epsilon.

    A record is trained on or held out: the table of those held out has an epsilon of its own beside a tree's.
    """
    return max(noise, EPSILON_OF_SCORES) if reveal == Reveal.TREE and test else noise


def reveal_key_of(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of these fields, or of those on record, is `Terms.reveal_key`."""
    idle, of_rules = {"counting", "key_bits"}, terms.get("rules") is not None
    if terms["method"] == Method.SMC or (terms["method"] == Method.HYBRID and terms["omega"] is ALL and not of_rules):
        idle |= {"method", "theta", "omega"}
    elif terms["method"] == Method.RANDOMIZED or of_rules:
        idle |= {"omega"}
    if terms.get("reveal") != Reveal.TREE or terms["noise"] is not None:
        idle |= {"most_bits"}
    usual = {"splits": Splits.VALUES, "leaves": Leaves.LABEL, "weights": ()}
    idle |= {name for name, value in usual.items() if (terms.get(name) or value) == value}
    return {name: value for name, value in terms.items() if name not in idle}


TERM_NAMES: Final = tuple(field.name.removesuffix("_name") for field in fields(Terms))
"""The terms as people and messages call them."""
