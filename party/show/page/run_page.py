"""The page of a finished run, whatever it has learned: to sign it, or to file it, nothing else is needed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from party.association.mining import ResultColumns, RuleThreshold, rules_of, sets_of
from party.models.any_file import KeptResult
from party.models.tree_file import references
from party.names import printable
from party.node.check import Assessment, OwnCopy, Past, assess_finished
from party.records.entries import date_text, terms_of
from party.records.finished import FinishedRun
from party.records.run_file import TrainReport
from party.records.tally import Dealings
from party.settings.party import Acceptance
from party.settings.toml import window_text
from party.show.assessment import (
    amount_lines,
    counts_kind,
    deviations,
    follows_lines,
    noise_lines,
    past_lines,
    revealed_text,
)
from party.show.baskets import first_rows, set_text
from party.show.document import Document, Drawing, Grid, PageSection, Pairs, ReportPart, headed, laid_out
from party.show.joint_rules import doubt_lines, joint_title, uncounted_lines, up_to, worth_lines
from party.show.ledger import dealings_lines
from party.show.page.interval_svg import WindowPoint, bayes_svg, joint_svg, windows_svg
from party.show.page.tree_svg import shown_levels, tree_svg
from party.show.privacy_short import (
    figures,
    known_or_none,
    summary_lines,
)
from party.show.reading import reading_line
from party.show.runs import size_text
from party.show.tree import bayes_parts, counts_line, pure_leaves, pure_lines, title, tree_lines
from protocols.association.joint import JointItemsets
from protocols.errors import InputError
from protocols.learning.impurity import importances, informations
from protocols.learning.naive_bayes import NaiveBayes, beats_commonest, beats_when_tested, commonest_share
from protocols.learning.tree import Tree
from protocols.secret_tree.deduction import Follows
from protocols.tables import Attribute
from protocols.terms import ALL, MOST_WINDOW, Learner, Method

IMPORTANCE = "Which attributes matter"
_BEST = RuleThreshold("confidence", Fraction(1, 2))


def bayes_sections(model: NaiveBayes) -> list[PageSection]:
    """Return the chances of the model's values, drawn and as text, and what each attribute says of the class."""
    title, *lines = laid_out(bayes_parts(model), None)
    said = f"{title}: how likely each value is in each class, as bars in the classes' order."
    drawing = Drawing("The model", bayes_svg(model, alone=False), lines)
    return [PageSection("model", "The model", [said, drawing]), _informing(model)]


def _informing(model: NaiveBayes) -> PageSection:
    """Rank the attributes by the bits that each alone gives of the class."""
    attributes, bits = model.schema.attributes, informations(model).tolist()
    rows = sorted(zip(bits, references(attributes), attributes, strict=True), key=lambda row: -row[0])
    heads = headed("<Attribute", "<Party", "Bits")
    cells = [(printable(name), each.party, f"{told:.4f}") for told, name, each in rows]
    most = max(bits, default=0.0)
    said = "How many bits of the class each attribute gives by itself, by the model's chances."
    bars = [told / most if most > 0 else 0.0 for told, *_ in rows]
    return PageSection("importance", IMPORTANCE, [said, Grid(heads, cells, bars)])


def rules_sections(found: JointItemsets, most_items: int | None) -> list[PageSection]:
    """Return the frequent sets of at most this many items, drawn and as a table, and the surest rules."""
    if not found.has_counts:
        return [PageSection("sets", "The frequent itemsets", list(uncounted_lines(found, most_items)))]
    rules = rules_of(found, _BEST)
    return [
        PageSection("sets", "The frequent itemsets", list(_set_parts(found, most_items))),
        PageSection("rules", "The surest rules", list(_rule_parts(rules))),
    ]


def _set_parts(found: JointItemsets, most_items: int | None) -> Iterator[ReportPart]:
    yield from [joint_title(found), *doubt_lines(found)]
    sets = sets_of(up_to(found, most_items))
    order = first_rows(sets["support"])
    if not order:
        return
    yield Drawing("Supports of the most frequent sets", joint_svg(found, most_items))
    heads = headed("<Itemset", "Support", "Records:3", "<Known")
    rows = [
        (
            set_text(sets["itemsets"][k]),
            f"{100 * sets['support'][k]:.2f}%",
            f"{sets['support'][k] * found.records:,.0f}",
            _known(sets, k, ".1%"),
        )
        for k in order
    ]
    yield Grid(heads, rows)
    yield from _rest(len(rows), len(sets["support"]), "sets")


def _rule_parts(rules: ResultColumns) -> Iterator[ReportPart]:
    order = first_rows(rules["low"])
    if not order:
        yield f"No rule has a confidence of {float(_BEST.least):g} or more."
        return
    yield "By the lower ends of the intervals of their confidence."
    heads = headed("<Rule", "Confidence", "Support:3", "Lift:3", "<Known")
    rows = [
        (
            f"{set_text(rules['antecedents'][k])} → {set_text(rules['consequents'][k])}",
            f"{rules['confidence'][k]:.3f}",
            f"{100 * rules['support'][k]:.2f}%",
            f"{rules['lift'][k]:.2f}",
            _known(rules, k, ".3f"),
        )
        for k in order
    ]
    yield Grid(heads, rows)
    yield from _rest(len(rows), len(rules["low"]), f"rules of a confidence of {float(_BEST.least):g} or more")


def _rest(shown: int, every: int, what: str) -> Iterator[ReportPart]:
    if shown < every:
        yield f"{shown:,} of {every:,} {what}; `cotally rules MODEL -o FILE` writes all."


def _known(columns: ResultColumns, k: int, form: str) -> str:
    """Say how well a number is known: exactly, or within an interval."""
    if columns["settled"][k]:
        return "exactly"
    return f"{columns['low'][k]:{form}} to {columns['high'][k]:{form}}"


_LINES = 400
_GONE = "The table that was released is not here as it was, so what a receiver reads of the copy is not computed."
_KEEP = "They also show how common each of our own values is: keep this page; what both sides compare is at its end."
_NOT_COUNTS = "These figures are of the copy alone: counts, which the peer has too, are not covered by them."


@dataclass(frozen=True)
class Finished:
    """All that a page shows.

    Args:
        party: Whose page it is.
        fingerprint: Of its key.
        model: What it ended with.
        written: When the model's file was written.
        run: The run that it is of.
        dealings: All that passed between both sides about the data set.
        entries: How many entries the ledger has.
        head: The digest of its last one.
        past: What was revealed of the data set so far, this run included.
        agree: What this party agrees to.
        copy: Our disguised copy, measured; None where none left, or the table that was released is not here.
        costs: What the run cost, if that was kept.
        alike: The runs, this one among them, that differ in method and window alone.
        follows: What is certain by a tree alone; None of all else, and where our table is not here as it was.
    """

    party: str
    fingerprint: str
    model: KeptResult
    written: datetime
    run: FinishedRun
    dealings: Dealings
    entries: int
    head: bytes
    past: Past
    agree: Acceptance
    copy: OwnCopy | None = None
    costs: TrainReport | None = None
    alike: Sequence[FinishedRun] = ()
    follows: Follows | None = None

    @property
    def assessment(self) -> Assessment:
        """What the run was to reveal."""
        return assess_finished(self.run, self.party, self.model)


_Rows = list[tuple[str, str]]


def page_of_run(told: Finished, levels: int | None = None) -> Document:
    """Return the page of a finished run."""
    title, found = _model_sections(told.model, levels)
    return Document(
        title,
        [
            PageSection("worth", "What it is worth, and what crossed", [Pairs(_worth(told)), *_windows(told)]),
            *found,
            _learned(told),
            PageSection("privacy", "What our disguised copy reveals of a single person", _privacy(told)),
            PageSection("built", "What was built, and by whom", [Pairs(_built(told))]),
            PageSection("time", "What it took", _costs(told.costs)),
            _checks(told),
        ],
    )


def _model_sections(model: KeptResult, levels: int | None) -> tuple[str, list[PageSection]]:
    """Return what the page is of, and the sections that show it."""
    if isinstance(model, JointItemsets):
        return "Association rules of two parties", rules_sections(model, levels)
    name = printable(model.schema.class_attribute.name)
    if isinstance(model, Tree):
        return f"Decision tree for {name}", [tree_section(model, levels), importance_section(model)]
    if levels is not None:
        raise InputError("--levels: naive Bayes has none")
    return f"Naive Bayes for {name}", bayes_sections(model)


def tree_section(tree: Tree, levels: int | None) -> PageSection:
    """Return the section of a tree: drawn, and as text."""
    drawn = shown_levels(tree) if levels is None else levels
    lines = list(tree_lines(tree, None if tree.size <= _LINES else drawn))[1:]
    said = f"{title(tree)}. {counts_line(tree)}"
    if drawn < tree.depth:
        said += f" The first {drawn} of {tree.depth} levels are drawn; a dashed box has more below it."
    return PageSection("tree", "The tree", [said, Drawing("The tree", tree_svg(tree, drawn, alone=False), lines)])


def importance_section(tree: Tree) -> PageSection:
    """Return the section on what each attribute adds to a tree."""
    if not tree.has_counts:
        said = "Nobody knows what the splits of this tree decrease impurity by: the tree alone was revealed."
        return PageSection("importance", IMPORTANCE, [said])
    rows = _importances(tree)
    if not rows:
        return PageSection("importance", IMPORTANCE, ["No split of the tree decreases impurity."])
    said = "Each attribute's share of all that the tree's splits decrease impurity by, on the training records."
    parties = ["<Party"] if len({party for party, *_ in rows}) > 1 else []
    heads = headed("<Attribute", *parties, "Share")
    cells = [(name, *([party] if parties else []), f"{100 * share:.1f}%") for party, name, share in rows]
    bars = [share / rows[0][2] for *_, share in rows]
    return PageSection("importance", IMPORTANCE, [said, Grid(heads, cells, bars)])


def _learned(told: Finished) -> PageSection:
    run = told.assessment
    revealed = [*amount_lines(run, told.run.revealed), *noise_lines(run.terms, run.noise)]
    parts = [
        *[*revealed, *follows_lines(told.follows), *past_lines(told.past, told.agree), *_answers(told), ""],
        *["In all runs over this data set, as the ledger has it.", "", *dealings_lines(told.dealings, full=False)],
    ]
    return PageSection("learned", "What each side has learned of the other", parts)


def _answers(told: Finished) -> Iterator[str]:
    """Say whose class the model gives away, and which columns of whom an answer by it can reveal, if we answer."""
    if isinstance(told.model, JointItemsets):
        return
    yield from pure_lines(pure_leaves(told.model, told.assessment.terms))
    if not told.agree.answers:
        yield "Our [agree] answers no predictions with the peer."
        return
    read = [told.model.schema.attributes[column] for column in sorted(told.model.columns)]
    held = {side: [a.name for a in read if a.party == side] for side in (told.party, told.run.peer.name)}
    columns = "; ".join(f"of {side}, {', '.join(map(printable, names))}" for side, names in held.items() if names)
    if columns:
        yield f"A prediction with the peer can reveal, of the person asked about, columns of the other side: {columns}."


def _built(told: Finished) -> _Rows:
    run, attributes = told.run, _attributes(told.model)
    held = {side: [a.name for a in attributes if a.party == side] for side in (told.party, run.peer.name)}
    return [
        ("Parties", f"{told.party} (whose page this is) and {run.peer.name}"),
        ("Data set", printable(run.dataset)),
        *_class_row(told),
        ("People", f"{run.records:,}, of whom both sides had a record"),
        *((f"Columns of {side}", printable(", ".join(names)) or "none") for side, names in held.items()),
        ("Terms", _terms_text(run.terms)),
        ("Run", f"began {run.began}, ended {run.ended}"),
        ("Model file", f"written {date_text(told.written)}"),
    ]


def _attributes(model: KeptResult) -> Sequence[Attribute]:
    return model.attributes if isinstance(model, JointItemsets) else model.schema.attributes


def _class_row(told: Finished) -> _Rows:
    if isinstance(told.model, JointItemsets):
        return []
    name = printable(told.model.schema.class_attribute.name)
    return [("Class", f"{name}, held by {' and '.join(told.run.class_owners)}")]


def _terms_text(terms: Mapping[str, Any]) -> str:
    """Say all terms, those of rules among them, but for the class, and for what is off or not used by such a run."""
    rules, used = terms.get("rules") or {}, terms_of(terms)
    unused = {
        *({"theta"} if not used.disguises else ()),
        *({"omega"} if not used.ranks else ()),
        *({"key_bits"} if not used.encrypts else ()),
        *({"seed"} if used.hides_counts else ()),
    }
    every = {name: value for name, value in terms.items() if name not in {"class_name", "rules", *unused}} | rules
    told = every | ({"omega": "all"} if used.ranks and used.omega is ALL else {})
    return printable(", ".join(f"{name} {_term_text(value)}" for name, value in told.items() if value not in _OFF))


_OFF: Final[tuple[object, ...]] = (None, [], "0")
"""What a term has that is not used: no limit, nothing listed, a share of nothing."""


def _term_text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _worth(told: Finished) -> _Rows:
    run, model = told.run, told.model
    if isinstance(model, JointItemsets):
        return list(_settled(run, model))
    commonest = commonest_share(model)
    common = [] if commonest is None else [("Commonest class", f"{commonest:.3f} of the training records")]
    if run.scores is not None:
        common = [
            ("Commonest class", f"about {run.scores.commonest_share:.3f} of the held-out records"),
            *_scores(told),
        ]
    found = [*_accuracy(told), *common, _crossed(told)]
    error = run.error or _deviations(told)[1]
    tested = run.correct is not None and run.tests > 0
    beats = beats_when_tested(model, run.correct or 0, run.tests, error) if tested else None
    if run.scores is not None:
        beats = beats_commonest(run.scores.commonest_share, run.scores.correct, run.tests, run.scores.correct_error)
    if worth := worth_lines(model, beats):
        found.append(("Against a guess", " ".join(worth)))
    if run.countable and told.assessment.terms.window is ALL:
        text = f"{run.counted:,}, those of all candidates at every node: these terms count no fewer"
        found.append(("Secure counts", text))
    elif run.countable:
        share = run.counted / run.countable
        text = f"{share:.1%}: {run.counted:,} secure counts, of {run.countable:,} for all candidates at the same nodes"
        found.append(("Cost ratio", text))
    if isinstance(told.assessment.noise, tuple):
        text = f"each off by a standard deviation of up to {_deviations(told)[0]:,.1f} records, by noise"
        found.append(("Counts", text))
    return found


def _crossed(told: Finished) -> tuple[str, str]:
    """Say in one line what crossed, beside names of columns and values."""
    run, terms = told.run, told.assessment.terms
    copies = f"disguised copies (theta {terms.theta}, " if terms.disguises else ""
    ours = "" if not copies else "ours among them), " if run.copy else "not ours), "
    windows = "windows, " if terms.window is not ALL else ""
    counts = f"{revealed_text(run.revealed, counts_kind(terms))}, "
    if terms.hides_counts:
        counts = "" if run.scores is None else "a table of the held-out records with noise, "
    return "What crossed", f"{copies}{ours}{windows}{counts}the model"


def _settled(run: FinishedRun, found: JointItemsets) -> Iterator[tuple[str, str]]:
    """Say how many of the sets are known exactly, and of how many that was told."""
    rules, sides = run.terms["rules"], {f"{each.party}.{each.name}": each.party for each in found.attributes}
    of_both = sum(len({sides[column] for column, _ in items}) > 1 for items in run.itemsets)
    settled = sum(each.settled for each in found.frequent)
    if not found.has_counts:
        yield "Frequent sets", f"{len(found.frequent):,} at {found.least:,} records of {found.records:,} or more"
        yield "Left undecided", f"{found.undecided:,} sets"
        rules = "" if found.reached is None else f", which of their rules have a {found.reached.metric} of "
        least = "" if found.reached is None else f"{found.reached.least} or more"
        yield "What crossed", f"which of the sets asked about are frequent{rules}{least}, and no count"
        return
    yield "Frequent sets", f"{len(found.frequent):,} at {found.least:,} records of {found.records:,} or more"
    yield "Known exactly", f"{settled:,} of them; {len(found.frequent) - settled:,} are estimated from disguised copies"
    yield "Left undecided", f"{found.undecided:,} sets"
    yield "Counted exactly", f"{of_both:,} sets with items of both sides, of at most {rules['most_sets']:,}"
    yield "Told exactly", f"{len(run.itemsets) - of_both:,} sets of items of one side"


def _windows(told: Finished) -> list[ReportPart]:
    """Return accuracy and cost ratio against the window, where there are several runs."""
    runs = sorted(told.alike, key=_window_order)
    if len(runs) < 2 or told.run.terms["learner"] == Learner.RULES or told.assessment.terms.hides_counts:
        return []
    points = [WindowPoint(_window_name(run), _share(run.correct, run.tests), _cost_ratio(run)) for run in runs]
    label = "Accuracy and cost ratio against the window"
    said = "Runs over the same people that differ in method and window alone."
    heads = headed("<Window", "Accuracy", "Cost ratio", "Secure counts")
    rows = [
        (point.window, _told_share(point.accuracy), _told_share(point.cost), f"{run.counted:,}")
        for point, run in zip(points, runs, strict=True)
    ]
    return [Drawing(label, windows_svg(label, points)), Grid(heads, rows, title=label), said]


def _window_order(run: FinishedRun) -> tuple[int, int]:
    """Return what sorts runs by how much they count exactly."""
    methods = (Method.RANDOMIZED, Method.HYBRID, Method.SMC)
    window = run.terms["omega"]
    return methods.index(run.terms["method"]), MOST_WINDOW + 1 if window is ALL else int(window)


def _window_name(run: FinishedRun) -> str:
    return f"ω = {window_text(run.terms['omega'])}" if run.terms["method"] == Method.HYBRID else run.terms["method"]


def _share(part: float | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _cost_ratio(run: FinishedRun) -> float | None:
    return _share(run.counted, run.countable)


def _told_share(share: float | None) -> str:
    return "not known" if share is None else f"{share:.3f}"


def _deviations(told: Finished) -> tuple[float, float]:
    """Return the standard deviations, at most, that noise gives a cell and the number of correct held-out records."""
    spent = told.assessment.noise
    return deviations(*spent) if isinstance(spent, tuple) else (0.0, 0.0)


def _accuracy(told: Finished) -> _Rows:
    run = told.run
    tests = run.tests
    if run.correct is None or not tests:
        why = "only who holds the class can estimate it" if tests else "no records were held out"
        return [("Accuracy", f"not known: {why}")]
    share, error = run.correct / tests, run.error / tests
    if not error:
        noise = ""
        if isinstance(told.assessment.noise, tuple):
            noise = f", counted with noise of a standard deviation of up to {_deviations(told)[1] / tests:.3f}"
        return [("Accuracy", f"{share:.3f} on {tests:,} held-out records{noise}")]
    return [("Accuracy", f"{share:.3f} on {tests:,} held-out records, with noise of a standard error of {error:.3f}")]


def _scores(told: Finished) -> _Rows:
    """Say how many held-out records of each class have which label, with the noise that is in the numbers."""
    scores, model = told.run.scores, told.model
    if scores is None or not isinstance(model, Tree):
        return []
    names = model.schema.class_attribute.values
    rows = zip(names, scores.table.tolist(), strict=True)
    text = "; ".join(
        f"classified {printable(label)}: " + ", ".join(f"{n:,} {printable(c)}" for n, c in zip(row, names, strict=True))
        for label, row in rows
    )
    return [("Held-out records", f"{text} (each number with noise, {scores.law.variance * 2:.0f} in variance)")]


def _importances(tree: Tree) -> list[tuple[str, str, float]]:
    """Return party, attribute and share of all decrease of impurity, the largest first, without those of none."""
    names = references(tree.schema.attributes)
    shares = zip(tree.schema.attributes, names, importances(tree), strict=True)
    rows = [(each.party, printable(name), round(float(share), 4)) for each, name, share in shares if share > 0]
    return sorted(rows, key=lambda row: -row[2])


def _privacy(told: Finished) -> list[ReportPart]:
    """Return what our copy discloses, by the table that was released; nothing is shown that needs another."""
    if told.run.copy is None:
        return ["No disguised copy left this party in this run."]
    copy = told.copy
    if copy is None:
        odds = ", ".join(f"{printable(name)} {_odds(each)}" for name, each in told.run.copy["odds"].items())
        return [_GONE, f"Odds of a true value against any one other: {odds}."]
    counts = [_NOT_COUNTS] if told.assessment.terms.counts_exactly and not told.assessment.terms.hides_counts else []
    said = [*counts, reading_line(copy.read), *summary_lines(copy.found), *known_or_none(copy.found)]
    shown = figures(copy.found)
    return [*said, *shown, *([_KEEP] if shown else [])]


def _odds(strength: str | None) -> str:
    return "infinite" if strength is None else f"{strength} to 1"


def _costs(costs: TrainReport | None) -> list[ReportPart]:
    if costs is None:
        return ["The costs of this run were not kept (`cotally train --report FILE` keeps them)."]
    told = [
        ("Time", f"{costs.seconds:.1f} s"),
        ("Sent", size_text(costs.bytes_sent)),
        ("Received", size_text(costs.bytes_received)),
        ("Round trips", f"{costs.round_trips:,}"),
    ]
    phases = [(printable(phase), f"{seconds:.1f}") for phase, seconds in costs.phases.items()]
    return [Pairs(told), Grid(headed("<Phase", "Seconds"), phases)]


def _checks(told: Finished) -> PageSection:
    rows = [
        (f"Key of {told.party}", told.fingerprint),
        (f"Key of {told.run.peer.name}", told.run.peer.fingerprint),
        ("Run", told.run.run),
        ("Digest of the model", told.model.digest().hex()),
        ("Ledger", f"{told.entries:,} entries, the last {told.head.hex()}"),
    ]
    said = "The other party's page shows the same run, digest and certificates."
    return PageSection("checks", "What can be compared", [said, Pairs(rows)])
