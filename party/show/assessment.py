"""What a run reveals and what its owner's `[agree]` leaves: one assessment for `plan`, `check` and the report."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, hypot, log2, sqrt

from party.models.any_file import KeptResult
from party.names import printable
from party.node.check import Assessment, Past
from party.records.json_codec import to_json
from party.records.tally import Revealed
from party.settings.party import Acceptance
from party.show.document import counted
from protocols.learning.model import Model
from protocols.learning.tree import Leaf, Tree
from protocols.learning.whole import GINI_BITS
from protocols.noise.accounting import Spending, TreeSpending, delta_of
from protocols.noise.geometric import most_variance
from protocols.secret_tree.bits import Allowance, Follows
from protocols.secret_tree.held_out import error_of_correct, facts_read, most_rows, noise_of_table
from protocols.secret_tree.openings import wires_of_node_and_leaf
from protocols.terms import EPSILON_OF_SCORES, NOISE, Learner, Leaves, Method, RuleTerms, Splits, Terms
from protocols.two_party.power import Seen


def past_lines(past: Past, agree: Acceptance) -> list[str]:
    before = f"{counted(past.runs, 'run')} on different terms" if past.runs else "no runs yet"
    runs = f"{before}; {_left(past.runs, agree.life.most_runs)}"
    if agree.life.most_runs is not None and past.runs >= agree.life.most_runs:
        runs += ": a run on other terms is refused, one on the same terms is not"
    counts = f"{revealed_text(past.revealed)}; {_left(past.counts, agree.life.most_counts)}"
    lines = [f"Revealed so far: {runs}."] if past.runs or agree.life.most_runs is not None else []
    if past.counts or agree.life.most_counts is not None:
        lines.append(f"Revealed so far: {counts}.")
    if past.bits:
        most = None if past.records is None else agree.life.bits_of(past.records)
        left = "" if past.records is None else f"; {_left(past.bits, most)}"
        lines.append(f"Revealed so far by trees alone, and predictions by them: {past.bits:,} bits at most{left}.")
    if agree.answers:
        most_people = agree.life.most_predictions
        whom = "anybody" if most_people is None else f"{most_people:,} people"
        asker = "an asker whose rows all have the one value of its own under which a tree splits on our column"
        reads = f"{asker} reads it of everybody it asks about"
        lines.append(f"[agree] most_predictions allows answers about {whom}: {reads}.")
    for other, apart in past.others:
        spent = "no epsilon bounds" if apart.epsilon is None else f"epsilon {NOISE.text(apart.epsilon)} bounds"
        lines.append(
            f"Columns of this data set ({', '.join(map(printable, other.columns))}) were released as "
            f"{printable(other.dataset)!r} too: {counted(apart.runs, 'run')}, whose {apart.counts:,} counts {spent}. "
            "Bounds of [agree] do not add up over names: of people in both, more is known than these lines say."
        )
    if past.epsilon == 0 and agree.epsilon is None:
        return lines
    unbounded = "no bound, as counts or a tree without noise were revealed"
    spent = unbounded if past.epsilon is None else NOISE.text(past.epsilon)
    allowed = "any" if agree.epsilon is None else NOISE.text(agree.epsilon)
    return [*lines, f"Epsilon spent: {spent}; [agree] epsilon allows {allowed}."]


def run_lines(run: Assessment, past: Past, agree: Acceptance) -> list[str]:
    checks = [] if run.seen is None else [seen_line(run)]
    refused = [] if run.flaw is None else [f"This party refuses this job: {run.flaw}"]
    noise = [*noise_lines(run), *_epsilon_lines(run.terms.epsilon, past, agree)]
    return [*amount_lines(run, ", if the peer has columns like ours"), *noise, *held_out_lines(run), *checks, *refused]


def held_out_lines(run: Assessment) -> list[str]:
    if (wrong := _accuracy_noise(run)) is None:
        return []
    noise, sample = wrong / run.tests, _spread(run.tests)
    error = hypot(noise, sample)
    by = f"noise {noise:.3f}, chance {sample:.3f}" if noise else "by chance"
    said = f"Held out: {run.tests:,} people, who show accuracy to ±{error:.3f} or better (standard error, {by})"
    if (of_auc := _auc_error(run, wrong)) is not None:
        said += f", AUC to about ±{of_auc:.3f}{'' if run.rarest else ', or less well if one class is rare'}"
    said += "."
    if error <= _KNOWN:
        return [said]
    enough = ceil((1 / 4 + sqrt(1 / 16 + 4 * (_KNOWN * wrong) ** 2)) / 2 / _KNOWN**2)
    more = f"hold out {enough:,} (`test`) for ±{_KNOWN}" if 2 * enough < run.tests + run.records else "hold out more"
    return [f'{said} Next: {more}, or none (`test = "0"`), so that all are learned from.']


def _auc_error(run: Assessment, wrong: float) -> float | None:
    """Return about what standard error the AUC of a tree alone has by its table, where few are told apart."""
    if not (run.terms.opens_tree and run.terms.leaves == Leaves.TENTHS and run.classes == 2):
        return None
    ranked = (run.rarest or 1 / 2) * run.tests
    one, other = 1 / ranked, 1 / (run.tests - ranked)
    return sqrt((one + other + wrong**2 * (one**2 + other**2)) / 12)


def _spread(people: int) -> float:
    """Return the standard error at most that a sample leaves a share."""
    return 1 / (2 * sqrt(people))


_KNOWN = 0.03
"""To what an accuracy should be known."""


def _accuracy_noise(run: Assessment) -> float | None:
    """Return the error of noise in how many held-out records are classified rightly; None where no side counts them."""
    if not run.tests or not run.terms.counts_exactly:
        return None
    if run.terms.opens_tree:
        return error_of_correct(most_rows(run.classes, run.terms.leaves), noise_of_table(EPSILON_OF_SCORES))
    return deviations(*run.noise)[1] if isinstance(run.noise, tuple) else 0.0


def amount_lines(run: Assessment, alike: str = "") -> list[str]:
    """Say what a run reveals, where `alike` is what a bound supposes of the peer's columns that are not known yet."""
    terms = run.terms
    if terms.mines:
        return [*_mined_lines(run)]
    if not terms.counts_exactly:
        return ["This run reveals a disguised copy of each side, and no count but of all records exactly."]
    if terms.hides_counts:
        shown = _asked_lines(terms.rules) if terms.rules is not None else _tree_lines(run, alike)
        first, *more = deviations_of(run)
        return [*shown, " ".join([f"A partner that deviates can {first}.", *(f"It can also {each}." for each in more)])]
    kind = counts_kind(terms)
    guess = "" if run.likely is None else f" (about {_rounded(run.likely):,} are likely)"
    most = f"This run reveals at most {run.most:,} {kind}{_WHATEVER[terms.learner]}{guess}{alike}."
    solved, copies = [] if terms.noise is not None else [SOLVED], [_COPIES] if terms.disguises else []
    return [most, *copies, *solved, f"A partner that deviates can {deviations_of(run)[0]}."]


_WHATEVER = {
    Learner.TREE: ", whatever tree it grows, and often far fewer",
    Learner.NAIVE_BAYES: "",
    Learner.RULES: ", whatever sets are frequent",
}


def revealed_lines(terms: Terms, revealed: Revealed) -> list[str]:
    if not terms.reveals_counts:
        return []
    return [f"This run revealed {revealed_text(revealed, counts_kind(terms))}."]


def _mined_lines(run: Assessment) -> Iterator[str]:
    if run.holds_class:
        bits = "" if run.bits is None else f": an answer of at most {run.bits:,} bits about our people"
        yield f"This run sends the peer a tree that we mine from our true columns and its copy{bits}."
        yield "No copy of ours leaves."
        yield "We alone can estimate how good the tree is."
    else:
        yield "This run sends the peer a disguised copy of our columns, and nothing else of them."
        yield "The peer sends the tree that it mines, and alone can estimate how good the tree is."


def _asked_lines(rules: RuleTerms) -> Iterator[str]:
    if rules.min_threshold is None:
        asked = f"of at most {rules.most_sets:,} sets with items of both sides which are frequent"
    else:
        reach = f"which of their rules have a {rules.metric} of {rules.min_threshold} or more"
        asked = f"which sets with items of both sides are frequent, and {reach}: {rules.most_sets:,} answers at most"
    yield f"This run reveals no count, but {asked}. A partner that chose its items can read single people from that."


def _tree_lines(run: Assessment, alike: str) -> Iterator[str]:
    tenths = run.terms.leaves == Leaves.TENTHS
    shares = " with the share of every class in tenths" if tenths else ""
    yield f"This run reveals the tree and no count: which column splits which node, and the class of each leaf{shares}."
    if run.bits is not None:
        known = "a partner that chose its columns for it may know as many yes-or-no facts about people whom it picked"
        yield f"The tree is an answer of at most {run.bits:,} bits: {known}."
    if (room := run.room) is not None:
        people = run.records + run.tests
        most = int(run.terms.bits_at_most(people) or 0)
        exactly = f"{alike}; `cotally train` shows the exact number" if alike else ""
        if room.levels:
            fits = f"{room.levels} of {room.wanted} levels of any width"
            more = _more_bits(room.bits, exactly)
            yield f"The tree may end early: the job's most_bits, {most:,}, leaves room for {fits}. {more}."
        else:
            yield _too_few(people, most, room.bits, exactly)
    if run.terms.ranks:
        yield f"{_COPIES[:-1]}, and which columns rank highest at each node, unordered."
    if run.terms.test:
        what = "class and score" if tenths else "class"
        yield f"It also reveals a table, with noise: how many held-out people of each class the tree gives each {what}."


def ended_lines(model: Model, terms: Terms, records: int) -> list[str]:
    """Say that a tree of this many records, those held out among them, ended where it might have revealed too much."""
    if not terms.opens_tree or not isinstance(model, Tree):
        return []
    allowance = Allowance.of(model.schema, terms, records)
    cut = allowance.unasked(model)
    if not cut:
        return []
    most, needed = int(allowance.most or 0), ceil(replace(allowance, most=None).at_most)
    if model.size == 1:
        return [_too_few(records, most, needed)]
    used = f"{ceil(allowance.spent(model)):,} of {most:,} bits"
    more = _more_bits(needed)
    ended = f"The tree ended at {counted(cut, 'node')} that might have split, since most_bits allowed no more"
    return [f"{ended}: {used} are used. {more}."]


def _more_bits(bits: int, beside: str = "") -> str:
    where = f"Next: most_bits = {bits}, in the job and under [agree] of both"
    return f"{where}, leaves room for all{beside}: a partner may then know as many facts about people"


def _too_few(people: int, most: int, bits: int, beside: str = "") -> str:
    """Say that a tree has no room for a split, without the advice to give up the bound."""
    return (
        f"{people:,} people are too few for a tree within most_bits, {most:,}. Next: more people; or fewer columns and "
        f"values; or a first look by `cotally crosstab`. Room for all levels takes {bits:,} bits{beside}: a partner "
        f"may then know as many facts about {people:,} people."
    )


_COPIES = "It also reveals a disguised copy of each side."
SOLVED = (
    "Exact counts are equations about single people: a partner that brings well-chosen columns can work out records of "
    "ours. Only noise bounds that."
)


def deviations_of(run: Assessment, model: KeptResult | None = None) -> list[str]:
    """Return what a partner that deviates from the protocol can do in a run, by our role, the worst first.

    Of the run's finished tree the opened bits are added up.
    """
    terms, found = run.terms, list[str]()
    if terms.mines:
        return [] if run.holds_class else ["send another tree than it mined"]
    if terms.hides_counts and terms.counts_exactly:
        noisy = "" if terms.noise is None else ", whatever epsilon is (up to 3 answers have the same noise)"
        found.append(f"read {_chosen_bits(run, model)}{noisy}, and spoil the model for both")
    elif terms.encrypts:
        found.append("as holder of the key of Paillier, read a column of ours in the counts")
    elif terms.counts_exactly and not run.holds_class and terms.rules is None:
        exact = run.records and terms.noise is None
        each = f"about {log2(max(run.records, 2)):.0f} records" if exact else "some records"
        whatever = "" if terms.noise is None else ", whatever epsilon is"
        found.append(f"read {each} of one of our columns in each count{whatever}")
    elif terms.counts_exactly:
        found.append("choose, in place of a node, any records of ours to be counted")
    if terms.ranks and terms.rules is None:
        found.append("compare our estimate of a column with a number of its choice, a bit per column and node")
    if terms.opens_tree and run.tests:
        found.append(_held_out_read(run))
        found.append(
            "break off once after it sees a digest of our table, and choose its own so that it decides who is held out"
        )
    return found


def _held_out_read(run: Assessment) -> str:
    """Say how many held-out people numbers in place of bits read at most by their table, opened once or three times."""
    cells = most_rows(run.classes, run.terms.leaves) * run.classes
    return f"read {people_read(run.tests, cells, EPSILON_OF_SCORES)} by the table of those held out"


def people_read(people: int, cells: int, epsilon: Fraction) -> str:
    """Say how many of these people a table with noise reads for certain to who sends numbers in place of bits.

    >>> people_read(2000, 32, Fraction(1, 2))
    'up to 242 of 2,000 people for certain, or 1,010 if it ends two runs, whatever epsilon is,'
    """
    once, thrice = (min(people, facts_read(people, cells, noise_of_table(epsilon), each)) for each in (1, 3))
    return f"up to {once:,} of {people:,} people for certain, or {thrice:,} if it ends two runs, whatever epsilon is,"


def _chosen_bits(run: Assessment, model: KeptResult | None) -> str:
    """Say how many opened bits are each an answer to a question that a partner may choose (DESIGN 16)."""
    terms = run.terms
    if terms.rules is not None:
        return "the answer to a question of its choice in place of each answer"
    node, leaf = wires_of_node_and_leaf(run.columns, run.classes, terms.window, terms.growth)
    each = f"up to {counted(node, 'yes-or-no answer')} of its choice per split, and {leaf} per leaf"
    if not isinstance(model, Tree):
        return each
    ends = [depth for depth, end in model.nodes() if isinstance(end, Leaf)]
    most = terms.growth.max_depth
    judged = sum(most is None or depth < most for depth in ends) if terms.noise is None else 0
    return f"{each}: up to {(model.size - len(ends)) * node + len(ends) * leaf + judged:,} in this tree"


def follows_lines(found: Follows | None, peer: str, *, holds_class: bool) -> list[str]:
    """Say who can be certain of what about single people by a tree alone; nothing where none was revealed.

    >>> follows_lines(Follows(120, 3, 5, 0), "alice", holds_class=False)[0][44:]
    "certain of 5 people's class, and of 3 people's value in a column of alice, of 120 people."
    """
    if found is None:
        return []
    label = "" if holds_class else f"{_whose(found.classes)} class, and of "
    values = f"{_whose(found.values)} value in a column of {peer}, of {found.records:,} people"
    most = "at most " if found.shown else ""
    theirs = f"{peer} can be certain of {most}{_whose(found.shown)} class. " if holds_class else ""
    own = f"Only {peer}'s report shows for how many people {peer} can be certain of a value in a column of ours"
    return [
        f"From the tree and our own columns we can be certain of {label}{values}.",
        f"{theirs}{own}: ask for that line before you sign.",
    ]


def _whose(people: int) -> str:
    if not people:
        return "nobody's"
    return "1 person's" if people == 1 else f"{people:,} people's"


def counts_kind(terms: Terms) -> str:
    return "exact counts" if terms.noise is None else "counts with noise"


def revealed_text(revealed: Revealed, kind: str = "counts") -> str:
    """Say how many counts were revealed, and of what.

    >>> revealed_text(Revealed(tables=82, classes=2, accuracy=1))
    '85 counts (82 of tables, 2 of classes, 1 of accuracy)'
    """
    of = {name: f"of {name}" for name in vars(revealed)} | {"sets": "of sets of items"}
    if revealed.classes == 1:
        of["classes"] = "of all records"
    parts = ", ".join(f"{number:,} {of[name]}" for name, number in vars(revealed).items() if number)
    named = kind.replace("counts", "count") if revealed.counts == 1 else kind
    return f"{revealed.counts:,} {named}{f' ({parts})' if parts else ''}"


def _rounded(count: int) -> int:
    """Keep two digits.

    >>> _rounded(10483), _rounded(7)
    (10000, 7)
    """
    return int(float(f"{count:.2g}"))


def noise_lines(run: Assessment) -> list[str]:
    terms, spent = run.terms, run.noise
    if spent is None or terms.epsilon is None:
        return []
    if isinstance(spent, TreeSpending):
        delta = float(delta_of(terms.epsilon, max(spent.columns, 2)))
        bound = f"the whole run reveals epsilon {NOISE.text(terms.epsilon)} at most (delta {delta:.1e}) to each side"
        worth, label = float(spent.worth.scale) / 2**GINI_BITS, float(spent.label.scale)
        scales = f"noise of scale {worth:,.1f} records to what a column is worth at a node"
        said = f"Noise: {bound}; each side adds {scales}, and of {label:,.1f} to the classes of a leaf."
        deep = f"Warning: {spent.levels} levels share this epsilon: a max_depth of 4 or 5 is advised."
        wide = 'Noise favours columns of many values: take splits = "two-way", or few values ([columns] max_values).'
        warned = [*([deep] if spent.levels > _DEEP else []), *([wide] if terms.splits == Splits.VALUES else [])]
        return [said, *warned, *_few_lines(run)]
    ours, theirs = spent
    what = "the whole run" if terms.method == Method.SMC else "all counts, beside the disguised copies,"
    cells, tested = deviations(ours, theirs)
    correct = f", the number classified correctly by {tested:.1f}" if terms.test else ""
    bound = f"{what} reveals epsilon {NOISE.text(ours.epsilon)} at most (delta {float(ours.delta):.1e}) to each side"
    scales = f"noise of scale {float(ours.cells.scale):,.1f} (ours) and {float(theirs.cells.scale):,.1f} (the peer's)"
    off = f"{scales} puts a count off by about {cells:,.0f} records (standard deviation){correct}"
    return [f"Noise: {bound}; {off}.", *_few_lines(run)]


def _few_lines(run: Assessment) -> list[str]:
    if run.terms.noise is None or not 0 < run.records * run.terms.noise < _FEW:
        return []
    few = f"{run.records:,} training records are few for this noise: the model may be little better than guessing"
    return [f"{few}. Bring more people, write a larger noise if both allow it, or take noise out."]


_FEW = 4_000
"""Records times epsilon: 2,000 people of adult at epsilon 1 lose 4 to 6 hundredths of accuracy, 8,000 about one."""
MANY = 5_000
"""From how many people on a tree with an epsilon of 1 is worth a rehearsal."""
_DEEP = 5


def deviations(ours: Spending, theirs: Spending) -> tuple[float, float]:
    """Return the standard deviations, at most, that noise gives a cell and the number of correct held-out records."""
    return sqrt(most_variance(ours.cells, theirs.cells)), sqrt(most_variance(ours.accuracy, theirs.accuracy))


def _epsilon_lines(noise: Fraction | None, past: Past, agree: Acceptance) -> list[str]:
    if noise is None:
        return []
    known = "a run that is the same as an earlier one spends nothing more"
    spends = f"This run spends epsilon {NOISE.text(noise)}"
    if agree.epsilon is None:
        return [f"{spends}; {known}."]
    if past.epsilon is None:
        return [f"{spends}, but no epsilon bounds what was revealed before: [agree] epsilon refuses it."]
    left = agree.epsilon - past.epsilon - noise
    if left < 0:
        return [f"{spends}, {NOISE.text(-left)} more than [agree] epsilon leaves, which refuses it; {known}."]
    return [f"{spends} and leaves {NOISE.text(left)} of [agree] epsilon; {known}."]


def _left(before: int, most: int | None) -> str:
    return "[agree] sets no bound" if most is None else f"{max(most - before, 0):,} of {most:,} left"


def seen_line(run: Assessment) -> str:
    seen, terms = run.seen or Seen(), run.terms
    least = seen.two if seen.one is None else seen.one
    if not terms.disguises or least is None:
        return "False counts from the peer would not be noticed: both sides would hold the same wrong model."
    more = " (plus the noise)" if terms.noise is not None else ""
    together = "" if seen.together is None else f", or all counts of a column by about {ceil(seen.together.wrong):,}"
    wrong = f"wrong by {ceil(least):,} of {run.records:,} records or more{more}{together}"
    if least > _NOTICED * run.records:
        return f"False counts from the peer go practically unnoticed: the run ends only if one is {wrong}."
    return f"False counts from the peer end the run if one is {wrong}; smaller ones are not noticed."


_NOTICED = 0.05
"""A single count that may be wrong by a larger share of all records is as good as unchecked."""


def past_json(past: Past, agree: Acceptance, names: Iterable[str]) -> dict[str, object]:
    content: dict[str, object] = {
        "released": {name: past.release[name] for name in names if name in past.release},
        "told": {
            "runs": past.runs,
            "counts": past.counts,
            "counts_of": past.revealed,
            "bits": past.bits,
            "epsilon": past.epsilon,
        },
        "others": [{"dataset": each.dataset, "columns": each.columns} for each, _ in past.others],
        "refused_now": None if past.changed is None else str(past.changed),
        "allowed": {"runs": agree.life.most_runs, "counts": agree.life.most_counts, "epsilon": agree.epsilon},
    }
    return dict(to_json(content))


def run_json(run: Assessment) -> dict[str, object]:
    wrong = _accuracy_noise(run)
    content: dict[str, object] = {
        "accuracy_error": None if wrong is None else hypot(wrong / run.tests, _spread(run.tests)),
        "auc_error": None if wrong is None else _auc_error(run, wrong),
        "counts_at_most": run.most,
        "counts_probably": run.likely,
        "bits_at_most": run.bits,
        "epsilon": run.terms.noise,
        "seen": seen_json(run.seen),
        "refused": None if run.flaw is None else str(run.flaw),
    }
    return dict(to_json(content))


def seen_json(seen: Seen | None) -> dict[str, int | None] | None:
    if seen is None:
        return None
    together = None if seen.together is None else seen.together.wrong
    least = {"one_group": seen.one, "two_groups": seen.two, "together": together}
    return {of: None if wrong is None else ceil(wrong) for of, wrong in least.items()}
