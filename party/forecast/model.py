"""A model of what a run costs, from what is known before it: sizes, terms and the speed of the machine.

What nobody knows before is the tree. Its number of splits is a guess, fitted to trees grown to the end on noisy data;
where the classes are clean the tree is smaller, and with it the counts. Encryption, which dominates time and traffic of
`hybrid`, does not depend on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, inf, prod

from party.forecast.calibration import Speed
from party.forecast.rules import RuleOutlook
from protocols.ciphers.port import AnyKeyHolder
from protocols.errors import InputError
from protocols.terms import ALL, Learner, Rank, Terms
from protocols.two_party.copies import PAGE_RECORDS
from protocols.two_party.secure import lighter_side
from protocols.two_party.split import training_records

SPLITS_FACTOR, SPLITS_POWER = 0.9, 0.72
_PATHS_PER_SPLIT, _LEAF_PATHS_PER_SPLIT = 0.4, 0.65  # distinct `E_a` of a tree's nodes and leaves, fitted to adult
_SECONDS_PER_SPLIT = 0.004  # both sides' own work at a node: estimates, checks
_DIGITS, _SUMS_PER_CELL = 20, 10  # of a comparison of classes: at odds of a million to one, and of a cell
_ONE_NODE = 1.0  # sets of items are counted on all records, each by itself
_SECONDS_PER_RECORD, _SECONDS_PER_CELL = 1.5e-5, 2.5e-6  # one party's own work: ids, merging; coins, disguise
_BASE_MEMORY = 190 << 20
_BYTES_PER_RECORD = 280  # ids, coins, both tables
_AGREEMENT_TRIPS, _LAST_TRIPS = 13, 2  # up to the class counts, of a class of one side; from the model's digest on


@dataclass(frozen=True)
class Sizes:
    """What both parties bring: the domains of each side's attributes, coin patterns of both, a key like those of both.

    `class_holder` is the place of the side that alone holds the class, None if both do.
    """

    records: int
    sides: tuple[Sequence[int], Sequence[int]]
    class_holder: int | None
    classes: int
    patterns: tuple[int, int]
    key: AnyKeyHolder

    @property
    def domains(self) -> list[int]:
        """Of all attributes."""
        return [size for side in self.sides for size in side]


@dataclass(frozen=True)
class Line:
    """A network: bits per second each way, and the delay one way in seconds; by default as good as none.

    Raises:
        InputError: It is none.
    """

    rate: float = inf
    delay: float = 0.0

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise InputError("a line must carry more than 0 bits per second")
        if not 0 <= self.delay < inf:
            raise InputError("the delay of a line must be 0 seconds or more")

    def sending(self, size: float) -> float:
        """Return the seconds that so many bytes take."""
        return 8 * size / self.rate


NO_LINE = Line()


@dataclass(frozen=True)
class Forecast:
    """Costs of a run: seconds, bytes both ways, the larger process's memory in bytes, round trips.

    `counts` is no guess but the most exact counts that any tree can take, with those of the classes and the accuracy;
    `likely_counts` are those of the tree that is guessed, and too many where the classes are clean.
    """

    seconds: float
    bytes: float
    memory: float
    round_trips: int
    counts: int
    likely_counts: int


def most_counts(domains: Sequence[int], classes: int, train: int, terms: Terms, splits: int | None = None) -> int:
    """Return how many exact counts a run tells at most, whatever tree it grows; nobody knows before how many it will.

    A node is asked for if its records can be split and are of two classes, so those of one level are at most one for
    each two smallest leaves; and they are at most as many as the values of the attributes above them combine to. Each
    costs its window. The class holder tells the records of each class before.

    Args:
        domains: Numbers of values of all attributes.
        classes: Number of classes.
        train: Training records.
        terms: Of the run.
        splits: Inner nodes of the tree, if known.
    """
    if not terms.counts_exactly:
        return classes
    if terms.rules is not None:
        return terms.rules.most_told
    sizes = sorted(domains, reverse=True)
    window = len(sizes) if terms.window is ALL else terms.window
    total, left, paths, split = 0, splits, 1, max(1, train // terms.growth.smallest_split)
    for level in range(_most_levels(len(sizes), terms)):
        nodes = min(paths, split)
        paths = min(paths * sizes[level], split)
        if left is not None:
            nodes = min(nodes, left)
            left -= nodes
        total += nodes * sum(sizes[: min(window, len(sizes) - level)]) * classes
    return classes + total + (terms.test > 0)


def likely_counts(domains: Sequence[int], classes: int, train: int, terms: Terms) -> int:
    """Guess how many exact counts a run tells: the most that a tree with the guessed number of splits can take.

    On adult and generated tables, whose classes are noisy, it was 0.4 to 1.5 times what trees took, with any limits;
    where classes are cleaner it is too high: up to 3 times on tic-tac-toe, 17 on votes, 30 on mushroom.

    Args:
        domains: Numbers of values of all attributes.
        classes: Number of classes.
        train: Training records.
        terms: Of the run.
    """
    return most_counts(domains, classes, train, terms, max(1, round(guess_splits(domains, terms, train))))


def forecast(
    sizes: Sizes,
    terms: Terms,
    speed: Speed,
    splits: int | None = None,
    line: Line = NO_LINE,
    rules: RuleOutlook | None = None,
) -> Forecast:
    """Return what a run will cost.

    Args:
        sizes: Of both parties.
        terms: Of the run.
        speed: Of each machine.
        splits: Inner nodes of the tree, if better known than the guess.
        line: Between them.
        rules: What a run for rules will probably tell, if that was looked at.
    """
    train = training_records(sizes.records, terms)
    guess = guess_splits(sizes.domains, terms, train) if splits is None else splits
    if terms.rules is not None:
        guess = _ONE_NODE
    most = most_counts(sizes.domains, sizes.classes, train, terms, splits)
    likely = most if splits is not None else likely_counts(sizes.domains, sizes.classes, train, terms)
    if rules is not None:
        likely = rules.counts
    return _Model(sizes, terms, speed, line, train, guess, rules).forecast(most, likely)


def _most_levels(attributes: int, terms: Terms) -> int:
    return attributes if terms.levels is None else min(attributes, terms.levels)


def guess_splits(domains: Sequence[int], terms: Terms, train: int) -> float:
    """Guess the number of inner nodes: as of a tree grown to the end, with the smallest leaf in the place of a record.

    A depth allows no more than the attributes' values combine to.

    Args:
        domains: Numbers of values of all attributes.
        terms: Of the run.
        train: Training records.
    """
    mean = sum(domains) / len(domains)
    grown: float = SPLITS_FACTOR * (train / terms.min_leaf) ** SPLITS_POWER
    full, level = 0.0, 1.0
    for _ in range(_most_levels(len(domains), terms)):
        full += level
        level *= mean
        if full >= grown:
            return grown
    return full


@dataclass(frozen=True)
class _Model:
    sizes: Sizes
    terms: Terms
    speed: Speed
    line: Line
    train: int
    splits: float
    rules: RuleOutlook | None

    def forecast(self, most: int, likely: int) -> Forecast:
        """Add the parts up; `most` counts are told at most."""
        secure = self.terms.counts_exactly
        counts = self.counts() if secure else 0.0
        encrypted = self.ciphertexts() if secure else 0.0
        compared = self.compared() if secure else 0.0
        length = self.sizes.key.public.ciphertext_bytes
        copies = self.sizes.records * (len(self.sizes.domains) + 1) if self.terms.disguises else 0
        gains = self.splits * len(self.sizes.domains) * 4 if self.terms.ranks else 0.0
        others = copies + gains + counts * 8 + (self.replies(counts) + compared) * length + 8_000
        trips = self.round_trips()
        each = _SECONDS_PER_RECORD + len(self.sizes.domains) * _SECONDS_PER_CELL
        own = 1 + self.sizes.records * each + self.splits * _SECONDS_PER_SPLIT
        waiting = self.line.sending(others) + 2 * trips * self.line.delay
        return Forecast(
            seconds=own + self.setting_up(encrypted) + self.counting(counts) + self.comparing(compared) + waiting,
            bytes=encrypted * length + others,
            memory=self.memory(secure),
            round_trips=trips,
            counts=most,
            likely_counts=likely,
        )

    def round_trips(self) -> int:
        """Waits for the peer: of the agreement, of a page of the copies each, of each level's gains and counts."""
        terms = self.terms
        copies = ceil(self.sizes.records / PAGE_RECORDS) + 1 if terms.disguises else 0
        fixed = _AGREEMENT_TRIPS + copies + _LAST_TRIPS
        if not terms.counts_exactly:
            return fixed
        remembered = terms.noise is None
        tested = (2 if self.compared() else 1) if terms.test > 0 else 0
        return fixed + remembered + self.levels() + self.ranked_levels() + tested

    def ranked_levels(self) -> int:
        """At how many levels gains cross: not where the window holds all that is left."""
        window = self.terms.window
        if self.terms.rank != Rank.GAINS or window is ALL:
            return 0
        return min(self.levels(), max(0, len(self.sizes.domains) - window))

    def levels(self) -> int:
        """Depth of the tree: about all that is allowed, or as many as a full tree with that many splits needs."""
        full: int = round(2.2 * float(self.splits) ** 0.25) + 2
        return max(1, min(_most_levels(len(self.sizes.domains), self.terms), full))

    def window(self) -> float:
        """Mean number of candidates that are counted at a node."""
        mean_left = max(1.0, len(self.sizes.domains) - 0.6 * self.levels())
        window = self.terms.window
        return mean_left if window is ALL else min(window, mean_left)

    def counts(self) -> float:
        """A guess at the exact counts, which cost little: the cells of every window, or as many sets as may be told."""
        if self.terms.rules is not None:
            return float(self.terms.rules.most_sets if self.rules is None else self.rules.both)
        mean_size = sum(self.sizes.domains) / len(self.sizes.domains)
        return self.splits * self.window() * mean_size * self.sizes.classes

    def ciphertexts(self) -> float:
        """What the key holder encrypts."""
        if self.terms.encrypts_coins:
            return self.sizes.records * (min(self.sizes.patterns) - 1)
        test = self.sizes.records - self.train
        sides = dict(zip("01", self.sizes.sides, strict=True))
        holder = int(lighter_side(sides, str(self.sizes.class_holder), self.sizes.classes))
        columns, labels = self.sizes.sides[holder], self.sizes.classes if holder == self.sizes.class_holder else 1
        candidates = self.window() * sum(columns) / max(1, len(self.sizes.domains))
        slots = self.sizes.key.public.slots(self.train)
        per_path = ceil(candidates * labels / slots) + ceil(labels / slots)
        if self.terms.learner is Learner.NAIVE_BAYES:
            return per_path * self.train + self.compared() + test * self.sizes.classes
        possible = prod(1 + size for size in columns)  # conjunctions of the key holder's columns
        paths = min(possible, _PATHS_PER_SPLIT * self.splits)
        leaves = min(possible, _LEAF_PATHS_PER_SPLIT * self.splits) * labels
        return per_path * paths * self.train + leaves * test

    def compared(self) -> float:
        """Cells of the comparisons by which naive Bayes is tested without encrypted coins."""
        if self.terms.learner is not Learner.NAIVE_BAYES or self.terms.encrypts_coins:
            return 0.0
        return (self.sizes.records - self.train) * comb(self.sizes.classes, 2) * _DIGITS

    def setting_up(self, encrypted: float) -> float:
        """Encryption, its way over the line, and the evaluator's share of it, which go on side by side."""
        additions = 2 if self.terms.encrypts_coins else self.window()
        evaluating = self.speed.read + additions * self.speed.add
        sending = self.line.sending(self.sizes.key.public.ciphertext_bytes)
        return encrypted * max(self.speed.encrypt, evaluating, sending)

    def counting(self, counts: float) -> float:
        """Additions of rows, which workers share node by node; sealing and decrypting, each in one process."""
        mean = sum(self.sizes.domains) / len(self.sizes.domains)
        shares = sum(1 / min(self.speed.workers, max(1.0, mean**level)) for level in range(self.levels()))
        rows = 2 * self.distinct_rows() * shares if self.terms.encrypts_coins else 0.0
        additions = 1 + self.sizes.key.public.packing_additions(self.train)
        each = self.replies(counts) * (self.speed.seal + self.speed.decrypt)
        return (rows + counts * additions) * self.speed.add + each

    def comparing(self, cells: float) -> float:
        """Comparisons: a cell is a few sums, is multiplied and made fresh, and decrypted."""
        return cells * (_SUMS_PER_CELL * self.speed.add + 2 * self.speed.seal + self.speed.decrypt)

    def replies(self, counts: float) -> float:
        """Packed ciphertexts that travel back."""
        return counts / self.sizes.key.public.slots(self.train) + self.levels()

    def distinct_rows(self) -> float:
        """Rows of the expanded table after merging."""
        return min(self.train * min(self.sizes.patterns), prod(self.sizes.domains) * self.sizes.classes)

    def memory(self, secure: bool) -> float:
        """Of the evaluator, or of the key holder with its tables, whichever is more."""
        columns = len(self.sizes.domains) + 1
        patterns = max(self.sizes.patterns) if self.terms.encrypts_coins else 1
        expanded = self.sizes.records * (_BYTES_PER_RECORD + patterns * (columns + 40))
        tables = self.sizes.key.table_bytes(self.train) if secure else 0
        weights = self.distinct_rows() * self.sizes.key.public.held_bytes if self.terms.encrypts_coins else 0.0
        return _BASE_MEMORY + max(tables, weights) + expanded
