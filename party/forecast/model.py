"""What a run costs and how many counts it probably reveals, forecast from sizes, terms and the speed of the machine.

What nobody knows before is the tree. Its number of splits is a guess, fitted to trees grown to the end on noisy data;
where the classes are clean the tree is smaller, and with it the counts, the time and the traffic.

How many exact counts a run for rules will probably reveal is played through with a peer like us. The peer is taken to
have columns like ours, about other people: what is frequent on one side follows from nothing on the other. Real
columns go together, so that more sets are frequent; those are seldom the ones in doubt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, comb, inf, log2, prod

import numpy as np

from party.forecast.speed import PaillierSpeed, TransferSpeed, calibrate, calibrate_transfers
from protocols.ciphers.port import AnyKeyHolder
from protocols.errors import InputError
from protocols.learning.routes import usual_width
from protocols.secret_tree.bits import bits_of_leaf, bits_of_node, bits_of_window
from protocols.secret_tree.shares import block_width, crossing_bits
from protocols.simulation.two_party import SIDES, JointTable
from protocols.terms import ALL, Impurity, Learner, MiningTerms, Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.bounds import most_counts, most_levels, most_tree_bits
from protocols.two_party.copies import PAGE_RECORDS
from protocols.two_party.inputs import PartyInputs, training_records
from protocols.two_party.secure import choosing_side, lighter_side
from protocols.work import PageEncryptor

_MOST_RECORDS = 1_000_000
_SEED = 0  # the chance of a guess, which may be the same every time


@dataclass(frozen=True)
class RuleOutlook:
    """How many exact counts a run for rules will probably reveal: of sets of one side, and of both."""

    own: int
    both: int

    @property
    def counts(self) -> int:
        """All of them, with that of the records."""
        return self.own + self.both + 1


def guess_rules(local: PartyInputs, terms: MiningTerms, records: int | None = None) -> RuleOutlook:
    """Guess what a run reveals; more than a million records are played as a million, which leave more in doubt."""
    if not terms.counts_exactly:
        return RuleOutlook(0, 0)
    ours = local.bringing(terms)
    generator = np.random.default_rng(_SEED)
    own = ours.table.codes[:, : len(ours.attributes)]
    if records is not None:
        own = own[generator.integers(len(own), size=min(records, _MOST_RECORDS))]
    joint = JointTable.of(ours.attributes, ours.attributes, np.hstack([own, generator.permutation(own)]))
    copies = None
    if terms.disguises:
        design = ours.design(terms.theta, class_is_shared=True)
        copies = joint.copies(dict.fromkeys(SIDES, design), generator)
    found = joint.find(terms.rules, terms.min_leaf, copies)
    return RuleOutlook(found.own, found.counted)


_GROWN, _GROWN_POWER, _FEW_SPLITS = 8.0, 0.52, 1 / 3  # of a tree grown to the end; of few records
_SPLIT_AGAIN = 0.9  # of the branches of a split, while the depth allows it
_DEPTH, _DEPTH_POWER, _DEEPER = 2.2, 0.25, 2  # of a tree with that many splits: a guess
_MEAN_DEPTH = 0.6  # of a node, as a share of the tree's levels, each of which takes one candidate: a guess
_WIDER = 1.5  # bits that a count has beyond those of the mean one, since nodes and classes differ in size: a guess
_PATHS_PER_SPLIT, _LEAF_PATHS_PER_SPLIT = 0.4, 0.65  # distinct `E_a` of a tree's nodes and leaves, fitted to adult
_VECTORS, _VECTORS_POWER = 2.5, 0.7  # distinct `E_a` with the values of candidates, fitted to all data sets here
_SECONDS_PER_SPLIT = 0.004  # both sides' own work at a node: estimates, checks
_CHECK_BYTES = 128 * 4 + 129 * 16  # of each batch of choices: transfers that nobody uses, and its hashes
_CHOICE_BYTES, _KEY_BYTES = 4, 17  # of a transfer: what crosses, and what its chooser keeps
_SESSION_BYTES, _SESSION_SECONDS = 26_000, 0.1
_PAIR_BYTES, _PAIR_SECONDS, _RANKING_TRIPS = (400, 1.8e-5, 10)  # of a pair of candidates; of a level
_SHARED_BYTES = {True: 150, False: 230}  # of a bit of a count that nobody sees, by Gini's index or not: both ways
_SHARED_LEVEL_BYTES, _SHARED_WORK = 350_000, 3 / 8  # of a level's lanes that nobody uses; transfers' work for each byte
_LEVEL_TRIPS, _KNOCKOUT_TRIPS, _LABEL_TRIPS = {True: 21, False: 16}, 8, 16  # of a level, of each round, of the leaves
_ONE_NODE = 1.0  # sets of items are counted on all records, each by itself
_SECONDS_PER_RECORD, _SECONDS_PER_CELL = 1.5e-5, 2.5e-6  # one party's own work: ids, merging; coins, disguise
_SESSION_TRIPS = 3
_BASE_MEMORY = 190 << 20
_BYTES_PER_RECORD = 280  # ids, coins, both tables
_AGREEMENT_BYTES = 2_500
_AGREEMENT_TRIPS, _LAST_TRIPS = 13, 2  # up to the class counts, of a class of one side; from the model's digest on


@dataclass(frozen=True)
class Sizes:
    """What both parties bring; `class_holder` is the place of the side that alone holds the class, None if both do."""

    records: int
    sides: tuple[Sequence[int], Sequence[int]]
    class_holder: int | None
    classes: int

    @property
    def domains(self) -> list[int]:
        """Of all attributes."""
        return [size for side in self.sides for size in side]


@dataclass(frozen=True)
class Line:
    """A network: bits per second each way, and the delay one way in seconds; by default as good as none."""

    rate: float = inf
    delay: float = 0.0

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise InputError("must be more than 0", field="megabits")
        if not 0 <= self.delay < inf:
            raise InputError("must be 0 or more", field="delay")

    def sending(self, size: float) -> float:
        """Return the seconds that this many bytes take."""
        return 8 * size / self.rate


NO_LINE = Line()


@dataclass(frozen=True)
class Forecast:
    """Costs of a run: seconds, bytes both ways, the larger process's memory in bytes, round trips.

    `counts` is no guess but the most exact counts that any tree can take, with those of the classes and the accuracy.
    `bits` are the most of a tree that alone is revealed.
    """

    seconds: float
    bytes: float
    memory: float
    round_trips: int
    counts: int
    bits: int | None = None


@dataclass(frozen=True)
class Cost:
    """Of making counts: seconds of both sides, with what crosses meanwhile, bytes both ways, memory of one process."""

    seconds: float
    bytes: float
    memory: float


def likely_tree_bits(domains: Sequence[int], classes: int, records: int, terms: Terms) -> int | None:
    """Guess the bits of a tree that alone is revealed without noise, by how many splits it probably has."""
    most = most_tree_bits(domains, classes, records, terms)
    if most is None or not terms.opens_tree:
        return None
    splits = guess_splits(domains, terms, training_records(records, terms))
    of_split = bits_of_node(len(domains), terms.window) + bits_of_window(len(domains), terms.window)
    leaves = splits * (sum(domains) / len(domains) - 1) + 1
    return min(most, ceil(splits * of_split + leaves * bits_of_leaf(classes, terms.growth.leaves)))


def forecast(
    sizes: Sizes,
    terms: Terms,
    means: "Means",
    splits: int | None = None,
    line: Line = NO_LINE,
    rules: RuleOutlook | None = None,
) -> Forecast:
    """Return what a run will cost."""
    train = training_records(sizes.records, terms)
    guess = guess_splits(sizes.domains, terms, train) if splits is None else splits
    guess = _ONE_NODE if isinstance(terms, MiningTerms) else guess
    most = most_counts(sizes.domains, sizes.classes, train, terms, splits)
    return _Run(sizes, terms, means, line, train, guess, rules).forecast(most)


def guess_splits(domains: Sequence[int], terms: Terms, train: int) -> float:
    """Guess the inner nodes of a tree grown to the end; a depth allows what the attributes' values combine to."""
    levels, mean = most_levels(len(domains), terms), sum(domains) / len(domains)
    if terms.noises_tree:  # no leaf is above the last level
        return sum(mean**level for level in range(levels))
    smallest = train / terms.min_leaf
    grown: float = min(_FEW_SPLITS * smallest, _GROWN * smallest**_GROWN_POWER)
    full, level = 0.0, 1.0
    for _ in range(levels):
        full += level
        level *= mean * _SPLIT_AGAIN
        if full >= grown:
            return grown
    return full


@dataclass(frozen=True)
class _Run:
    sizes: Sizes
    terms: Terms
    means: "Means"
    line: Line
    train: int
    splits: float
    rules: RuleOutlook | None

    def forecast(self, most: int) -> Forecast:
        counting = self.means.cost(self) if self.terms.counts_exactly else Cost(0.0, 0.0, 0.0)
        copies = self.sizes.records * self.copied if self.terms.disguises else 0
        told = self.counts * 8 if self.terms.counts_exactly and not self.terms.hides_counts else 0.0
        session = _SESSION_BYTES if self.pairs and self.terms.encrypts else 0
        others = copies + session + self.pairs * _PAIR_BYTES + told + _AGREEMENT_BYTES
        trips = self.round_trips()
        each = _SECONDS_PER_RECORD + len(self.sizes.domains) * _SECONDS_PER_CELL
        own = 1 + self.sizes.records * each + self.splits * _SECONDS_PER_SPLIT + self.pairs * _PAIR_SECONDS
        waiting = self.line.sending(others) + 2 * trips * self.line.delay
        columns = len(self.sizes.domains) + 1
        return Forecast(
            seconds=own + counting.seconds + waiting,
            bytes=counting.bytes + others,
            memory=_BASE_MEMORY + counting.memory + self.sizes.records * (_BYTES_PER_RECORD + columns + 40),
            round_trips=trips,
            counts=most,
            bits=most_tree_bits(self.sizes.domains, self.sizes.classes, self.sizes.records, self.terms),
        )

    def round_trips(self) -> int:
        """Waits for the peer: of the agreement, of a page of the copies each, of each level's windows and counts."""
        terms = self.terms
        pages = 0 if terms.mines else ceil(self.sizes.records / PAGE_RECORDS)
        copies = pages + 1 if terms.disguises else 0
        fixed = _AGREEMENT_TRIPS + copies + _LAST_TRIPS
        if not terms.counts_exactly:
            return fixed
        session = _SESSION_TRIPS if self.pairs or not terms.encrypts else 0
        tested = (self.digits + 2 if self.compared else 1) if terms.test > 0 else 0
        levels = self.levels if not terms.opens_tree else self.levels * self.shared_trips + _LABEL_TRIPS
        return fixed + session + levels + _RANKING_TRIPS * self.ranked_levels + tested

    @property
    def copied(self) -> int:
        """Bytes of a record's copies: both sides' with the class, or one of a side without it."""
        if not self.terms.mines:
            return len(self.sizes.domains) + 2
        holder = self.sizes.class_holder
        return max(len(side) for place, side in enumerate(self.sizes.sides) if place != holder)

    @property
    def by_gini(self) -> bool:
        return self.terms.impurity == Impurity.GINI

    @property
    def shared_trips(self) -> int:
        """Exchanges of a level whose counts nobody sees: the candidates play a knockout."""
        return _LEVEL_TRIPS[self.by_gini] + _KNOCKOUT_TRIPS * (self.root_window - 1).bit_length()

    @property
    def shared_bytes(self) -> float:
        """What crosses, beside the counting, to compare candidates by counts that nobody sees."""
        if not self.terms.opens_tree:
            return 0.0
        branches = self.nodes * self.window * self.mean_size
        bits = branches * (self.sizes.classes + 1) * log2(self.train + 1)
        return _SHARED_BYTES[self.by_gini] * bits + _SHARED_LEVEL_BYTES * (self.levels + 1)

    @property
    def ranked_levels(self) -> int:
        """At how many levels candidates are ranked: not where the window holds all that is left."""
        window = self.terms.window
        return 0 if window is ALL else min(self.levels, max(0, len(self.sizes.domains) - window))

    @property
    def pairs(self) -> float:
        left = self.mean_left
        return self.nodes * left * (left - 1) / 2 if self.ranked_levels else 0.0

    @property
    def levels(self) -> int:
        full: int = round(_DEPTH * float(self.splits) ** _DEPTH_POWER) + _DEEPER
        return max(1, min(most_levels(len(self.sizes.domains), self.terms), full))

    @property
    def tested(self) -> int:
        return self.sizes.records - self.train

    @property
    def root_window(self) -> int:
        window = self.terms.window
        return len(self.sizes.domains) if window is ALL else min(window, len(self.sizes.domains))

    @property
    def window(self) -> float:
        return min(self.root_window, self.mean_left)

    @property
    def mean_left(self) -> float:
        every = float(len(self.sizes.domains))
        return every if self.is_bayes else max(1.0, every - _MEAN_DEPTH * self.levels)

    @property
    def mean_size(self) -> float:
        return sum(self.sizes.domains) / len(self.sizes.domains)

    @property
    def counts(self) -> float:
        """A guess at the exact counts: the cells of every window, or as many sets as may be revealed."""
        if self.terms.rules is not None:
            return float(self.terms.rules.most_sets if self.rules is None else self.rules.both)
        return self.nodes * self.window * self.mean_size * self.sizes.classes

    @property
    def is_bayes(self) -> bool:
        return self.terms.learner == Learner.NAIVE_BAYES

    @property
    def nodes(self) -> float:
        return _ONE_NODE if self.is_bayes else self.splits

    @property
    def chosen(self) -> Sequence[int]:
        """Values of the attributes of who chooses in transfers."""
        sides = dict(zip("01", self.sizes.sides, strict=True))
        return sides[choosing_side(sides, str(self.sizes.class_holder))]

    @property
    def digits(self) -> int:
        """Of a score of naive Bayes."""
        return usual_width(len(self.chosen))

    @property
    def compared(self) -> float:
        """Digits of the comparisons by which naive Bayes is tested."""
        return self.tested * comb(self.sizes.classes, 2) * self.digits if self.is_bayes else 0.0


@dataclass(frozen=True)
class ByTransfers:
    """Counts by oblivious transfer: four bytes a record and vector, and a record's share of each count."""

    speed: TransferSpeed

    def cost(self, run: _Run) -> Cost:
        """Add up what is chosen, what is corrected, and the test."""
        vectors, compared = self._vectors(run), 2 * run.compared
        tested = 0.0 if run.compared else (1 + _PATHS_PER_SPLIT * run.nodes) * run.tested
        chosen = vectors * run.train + tested + compared
        bits = self._bits(run) * run.train + tested * log2(run.tested + 1) + compared
        batches = run.levels + 1 + (run.digits if compared else 0)
        size = _SESSION_BYTES + batches * _CHECK_BYTES + chosen * _CHOICE_BYTES + bits / 8 + run.shared_bytes
        transfers = chosen + _SHARED_WORK * run.shared_bytes
        work = _SESSION_SECONDS + transfers * self.speed.transfer + bits * self.speed.bit
        return Cost(work + run.line.sending(size), size, _KEY_BYTES * run.train * vectors / 2)

    def _vectors(self, run: _Run) -> float:
        """Distinct conjunctions of the chooser's columns: at the root one for each value, and one of no column."""
        columns = run.chosen
        if run.terms.rules is not None:
            return run.counts / 2
        root = 1 + run.root_window * sum(columns) / len(run.sizes.domains)
        following = run.terms.noise is None or run.terms.hides_counts  # the last value
        values = run.window * sum(size - following for size in columns) / len(run.sizes.domains)
        possible = float(prod(1 + size for size in columns))
        below: float = _VECTORS * max(0.0, run.nodes - 1) ** _VECTORS_POWER * max(values, 0.5) ** 0.5
        return min(possible, root + below)

    def _bits(self, run: _Run) -> float:
        """Bits of all shares of a record: at the root, of sets and with noise all counts, as wide as their number.

        Elsewhere the last value follows, and a sibling if all else is counted; widths are of the node's records, which
        nobody knows where counts are shared: there all go by blocks, and the last value follows at the root too.
        """
        whole, shared = log2(run.train + 1), run.terms.opens_tree
        if run.terms.hides_counts:
            width = run.train.bit_length()
            whole = crossing_bits(run.train, width, block_width(run.train, width)) / max(run.train, 1)
        if run.terms.rules is not None or (run.terms.noise is not None and not shared):
            return run.counts * whole
        root, window = run.root_window * run.mean_size * run.sizes.classes, run.terms.window
        following = 1.0 if window is ALL else (window - 1) / window
        below = max(0.0, run.counts - root) * (1 - 1 / run.mean_size) * (1 - following / run.mean_size)
        if shared:
            return (root * (1 - 1 / run.mean_size) + below) * whole
        return root * whole + below * min(whole, max(1.0, log2(run.train / (run.sizes.classes * run.nodes)) + _WIDER))


@dataclass(frozen=True)
class ByPaillier:
    """Counts by dot products under encryption."""

    key: AnyKeyHolder
    speed: PaillierSpeed

    def cost(self, run: _Run) -> Cost:
        """Add up encryption, what comes of it, and the replies."""
        sides = dict(zip("01", run.sizes.sides, strict=True))
        holder = int(lighter_side(sides, str(run.sizes.class_holder), run.sizes.classes))
        columns, labels = run.sizes.sides[holder], run.sizes.classes if holder == run.sizes.class_holder else 1
        candidates = run.window * sum(columns) / max(1, len(run.sizes.domains))
        slots = self.key.public.slots(run.train)
        per_path = ceil(candidates * labels / slots) + ceil(labels / slots)
        possible = prod(1 + size for size in columns)  # conjunctions of the key holder's columns
        paths = max(1.0, min(possible, _PATHS_PER_SPLIT * run.nodes))
        leaves = min(possible, _LEAF_PATHS_PER_SPLIT * run.nodes) * labels
        encrypted, length = (per_path * paths * run.train + leaves * run.tested), self.key.public.ciphertext_bytes
        replies = run.counts / self.key.public.slots(run.train) + run.levels
        evaluating = self.speed.read + run.window * self.speed.add
        each = max(self.speed.encrypt, evaluating, run.line.sending(length))
        packing = run.counts * (1 + self.key.public.packing_additions(run.train)) * self.speed.add
        replying = packing + replies * (self.speed.seal + self.speed.decrypt) + run.line.sending(replies * length)
        return Cost(encrypted * each + replying, (encrypted + replies) * length, self.key.table_bytes(run.train))


Means = ByTransfers | ByPaillier
"""How exact counts are made."""


def measure(
    terms: Terms, local: PartyInputs, encryption: Callable[[AnyKeyHolder], PageEncryptor], workers: int
) -> Means:
    """Measure how fast this machine makes counts as these terms say."""
    if not terms.encrypts:
        return ByTransfers(calibrate_transfers())
    key = local.secrets.key
    return ByPaillier(key, calibrate(key, encryption(key), workers))


def agreed_sizes(agreed: Agreement, local: PartyInputs) -> Sizes:
    """Return what both parties bring."""
    schema = agreed.learning.schema
    return Sizes(
        records=len(local.records),
        sides=(schema.sizes_of(local.party), schema.sizes_of(agreed.peer)),
        class_holder=None if len(schema.class_owners) > 1 else int(schema.class_owners[0] != local.party),
        classes=schema.classes,
    )


def forecast_agreed(agreed: Agreement, local: PartyInputs, means: Means) -> Forecast:
    """Return what the run will cost."""
    return forecast(agreed_sizes(agreed, local), agreed.terms, means)
