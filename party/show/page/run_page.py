"""The page of a finished run, whatever it has learned: to sign it, or to file it, nothing else is needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import sqrt

from party.association.mining import ResultColumns, RuleThreshold, rules_of, sets_of
from party.models.any_file import KeptResult
from party.models.tree_file import references
from party.names import printable
from party.node.check import Assessment, OwnCopy, Past, assess_finished
from party.records.finished import FinishedRun
from party.records.json_codec import to_json
from party.records.ledger import date_text
from party.records.run_file import TrainReport
from party.records.tally import Dealings
from party.settings.job import unused_terms
from party.settings.party import Acceptance
from party.show.assessment import (
    SOLVED,
    counts_kind,
    deviations,
    deviations_of,
    ended_lines,
    follows_lines,
    noise_lines,
    past_lines,
    revealed_lines,
    revealed_text,
)
from party.show.baskets import (
    doubt_lines,
    first_rows,
    formatted,
    joint_title,
    rule_text,
    set_text,
    uncounted_lines,
    up_to,
)
from party.show.document import (
    Document,
    Drawing,
    Grid,
    PageSection,
    Pairs,
    ReportPart,
    ScreenColumn,
    counted,
    headed,
    laid_out,
)
from party.show.ledger import alignment_text, dealings_lines
from party.show.page.drawings import (
    WindowPoint,
    bayes_svg,
    joint_svg,
    quality_drawings,
    shown_levels,
    tree_svg,
    windows_svg,
)
from party.show.privacy_short import figures, known_or_none, reading_line, summary_lines
from party.show.quality import OPENED, quality_lines, score_grids, worth_lines
from party.show.runs import size_text
from party.show.tree import bayes_parts, counts_line, pure_leaves, pure_lines, title, tree_lines
from protocols.association.joint import JointItemsets
from protocols.errors import InputError
from protocols.learning.impurity import importances, informations
from protocols.learning.model import beats_commonest, beats_when_tested, commonest_share
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import TENTHS, Tree
from protocols.secret_tree.bits import Follows
from protocols.secret_tree.held_out import NO_TENTH
from protocols.tables import Attribute
from protocols.terms import ALL, NOISE, OMEGA, Learner, Leaves, Method, Terms, fixed_terms

IMPORTANCE = "Which attributes matter"
_BEST = RuleThreshold("confidence", Fraction(1, 2))
_RATIOS = {"confidence": ".3f", "support": ".2%", "lift": ".2f"}


def _informing(model: NaiveBayes) -> PageSection:
    attributes, bits = model.schema.attributes, informations(model).tolist()
    rows = sorted(zip(bits, references(attributes), attributes, strict=True), key=lambda row: -row[0])
    heads = headed("<Attribute", "<Party", "Bits")
    cells = [(printable(name), each.party, f"{bits_of:.4f}") for bits_of, name, each in rows]
    most = max(bits, default=0.0)
    said = "How many bits of the class each attribute gives by itself, by the model's chances."
    bars = [bits_of / most if most > 0 else 0.0 for bits_of, *_ in rows]
    return PageSection("importance", IMPORTANCE, [said, Grid(heads, cells, bars)])


def rules_sections(found: JointItemsets, most_items: int | None) -> list[PageSection]:
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
            *formatted(sets, k, {"support": ".2%"}),
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
    rows = [(rule_text(rules, k, "→"), *formatted(rules, k, _RATIOS), _known(rules, k, ".3f")) for k in order]
    yield Grid(heads, rows)
    yield from _rest(len(rows), len(rules["low"]), f"rules of a confidence of {float(_BEST.least):g} or more")


def _rest(shown: int, every: int, what: str) -> Iterator[ReportPart]:
    if shown < every:
        yield f"{shown:,} of {every:,} {what}; `cotally rules MODEL -o FILE` writes all."


def _known(columns: ResultColumns, k: int, form: str) -> str:
    return "exactly" if columns["settled"][k] else f"{columns['low'][k]:{form}} to {columns['high'][k]:{form}}"


_LINES = 400
_GONE = "The table that was released is not here as it was, so what a receiver reads of the copy is not computed."
_KEEP = "They also show how common each of our values is: keep this page at home. What can be compared is at its end."
_NOT_COUNTS = "These figures cover the copy, and not the counts, which the peer has too."


@dataclass(frozen=True)
class Finished:
    """All that a page shows; `copy` and `follows` are None too where our table is not here as it was.

    Of runs that differ in method and window alone, this one among them, `alike` has all.
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


def page_of_run(finished: Finished, levels: int | None = None) -> Document:
    title, found = _model_sections(finished.model, levels)
    run = finished.assessment
    spent = [
        *revealed_lines(run.terms, finished.run.revealed),
        *noise_lines(run),
        *past_lines(finished.past, finished.agree),
    ]
    learned = [*spent, "", *dealings_lines(finished.dealings, full=False)]
    rows = [
        (f"Key of {finished.party}", finished.fingerprint),
        (f"Key of {finished.run.peer.name}", finished.run.peer.fingerprint),
        ("Digest of the model", finished.model.digest().hex()),
        ("Model file", f"written {date_text(finished.written)}"),
        ("Ledger", f"{finished.entries:,} entries, the last {finished.head.hex()}"),
    ]
    said = "The other party's page shows the same run, digest of the model and keys."
    names = [] if _fits(finished) else [Pairs(list(_names(finished, whole=True)))]
    signed = [
        PageSection("built", "What was built, and by whom", [Pairs(_built(finished))]),
        PageSection("crossed", "What the other side learned", [Pairs([*_crossed(finished)]), *_scores(finished)]),
        PageSection("deduced", "What can be deduced of people", [*_deduced(finished)]),
        PageSection("deviating", "What a partner that deviates could have done", [*_deviating(finished, run)]),
        PageSection("signature", "Signed", [Pairs([(each, "") for each in ("Name", "Date", "Signature")])]),
        PageSection("worth", "What it is worth", [Pairs(_worth(finished))]),
    ]
    annex = [
        PageSection("quality", "How good it is on people held out", [*_quality(finished)]),
        PageSection("windows", "Runs that differ in their windows", _windows(finished)),
        PageSection("learned", "What each side has learned in all runs over this data set", learned),
        PageSection("privacy", "What our disguised copy reveals of a single person", _privacy(finished)),
        PageSection("names", "The names that crossed", names),
        PageSection("time", "What it took", [] if finished.costs is None else _costs(finished.costs)),
        PageSection("checks", "What can be compared", [said, Pairs(rows)]),
    ]
    return Document(title, [*signed, *found, *(each for each in annex if each.parts)])


def card_of_run(finished: Finished, levels: int | None = None) -> Document:
    title, found = _model_sections(finished.model, levels)
    model, tests = finished.model, finished.run.tests
    use = _RULES_SAY if isinstance(model, JointItemsets) else _CLASSES_SAY
    details = [*_built(finished), ("The model", _model_text(model)), ("Digest", model.digest().hex())]
    held = f"{tests:,} people, chosen by chance, whom it was not learned from" if tests else "nobody"
    data = [*_names(finished, whole=True), ("Tested on", held)]
    sections = [
        PageSection("details", "What it is", [Pairs(details)]),
        PageSection("use", "What it is for", [use]),
        PageSection("limits", "What it is not for", [*_LIMITS]),
        PageSection("data", "What it was learned from, and tested on", [Pairs(data)]),
        PageSection("worth", "How good it is", [Pairs(_worth(finished)), *_quality(finished)]),
        PageSection("people", "What it reveals about the people it was trained on", [*_deduced(finished)]),
    ]
    return Document(f"Model card: {title}", [*sections, *found])


_CLASSES_SAY = (
    "It gives each person a class from the columns of both parties and, where it holds shares, a score to rank by. "
    "`cotally predict` does so for a file; `cotally export` writes the model for a database or another program."
)
_RULES_SAY = (
    "Its rules show which values occur together among the people whom both parties list. They do not show that one "
    "causes another."
)
_LIMITS = (
    "It fits people like those that it was learned from, as they were then. Test it on others before you use it there.",
    "It has not been tested on each group of people by itself: compare its errors by group before it decides on any.",
    "It is not anonymous: everyone who has this card can read what it reveals about the people it was trained on.",
)


def _model_sections(model: KeptResult, levels: int | None) -> tuple[str, list[PageSection]]:
    if isinstance(model, JointItemsets):
        return "Association rules of two parties", rules_sections(model, levels)
    name = printable(model.schema.class_attribute.name)
    if isinstance(model, Tree):
        importance = [importance_section(model)] if model.has_counts else []
        return f"Decision tree for {name}", [tree_section(model, levels), *importance]
    if levels is not None:
        raise InputError("--levels: naive Bayes has none")
    title, *lines = laid_out(bayes_parts(model), None)
    said = f"{title}: how likely each value is in each class, as bars in the classes' order."
    drawing = Drawing("The model", bayes_svg(model, alone=False), lines)
    return f"Naive Bayes for {name}", [PageSection("model", "The model", [said, drawing]), _informing(model)]


def tree_section(tree: Tree, levels: int | None) -> PageSection:
    drawn = shown_levels(tree) if levels is None else levels
    lines = list(tree_lines(tree, None if tree.size <= _LINES else drawn))[1:]
    said, cut = f"{title(tree)}. {counts_line(tree)}", f"The first {drawn} of {tree.depth} levels"
    if drawn < tree.depth and tree.size > _LINES:
        said += f" {cut} are here."
    note = f"{cut} are drawn; a dashed box has more below it." if drawn < tree.depth else ""
    drawing = Drawing("The tree", tree_svg(tree, drawn, alone=False), lines, note)
    return PageSection("tree", "The tree", [said, drawing])


def importance_section(tree: Tree) -> PageSection:
    rows = _importances(tree)
    if not rows:
        return PageSection("importance", IMPORTANCE, ["No split of the tree decreases impurity."])
    said = "Each attribute's share of all that the tree's splits decrease impurity by, on the training records."
    parties = ["<Party"] if len({party for party, *_ in rows}) > 1 else []
    heads = headed("<Attribute", *parties, "Share")
    cells = [(name, *([party] if parties else []), f"{100 * share:.1f}%") for party, name, share in rows]
    bars = [share / rows[0][2] for *_, share in rows]
    return PageSection("importance", IMPORTANCE, [said, Grid(heads, cells, bars)])


def _crossed(finished: Finished) -> Iterator[tuple[str, str]]:
    run, terms, peer = finished.run, finished.assessment.terms, finished.run.peer.name
    common = [alignment_text(each, peer) for each in finished.dealings.alignments.values() if not each.said.rows][-1:]
    yield "Who is common", " ".join(common) or f"Both listed the same {run.begun.records:,} people"
    yield from _names(finished, whole=_fits(finished))
    if run.tests:
        yield "Who is held out", f"{run.tests:,} of the {run.begun.records:,} people; both know which"
    yield "Terms", "those above"
    ordered = [printable(each.name) for each in _columns(finished) if each.ordered]
    yield "Order of values", f"of {', '.join(ordered)}" if ordered else "of no column"
    if terms.counts_exactly and not terms.encrypts:
        yield "Masked numbers", "of every record, at each step: they show nothing by themselves"
    if terms.disguises:
        whose = "of each side" if run.copy and not terms.mines else "ours" if run.copy else f"that of {peer}"
        yield "Disguised copy", f"{whose}, theta {terms.theta}"
    if terms.window is not ALL:
        yield "Windows", "which columns rank highest at each node, unordered"
    if terms.reveals_counts:
        yield "Counts", revealed_text(run.revealed, counts_kind(terms))
    if finished.run.scores is not None:
        yield "Held-out people", "the table below, with noise"
    yield "The model", f"{_model_text(finished.model)}; digest {finished.model.digest().hex()[:16]}; drawn below"


def _model_text(model: KeptResult) -> str:
    match model:
        case JointItemsets():
            rules = "" if model.reached is None else f", and which of their rules have a {model.reached.metric} of "
            least = "" if model.reached is None else f"{model.reached.least} or more"
            of = "" if model.has_counts else f", which of the sets asked about are frequent{rules}{least}, and no count"
            return f"{len(model.frequent):,} frequent sets{of}"
        case Tree():
            shares = " with the share of every class in tenths" if model.growth.leaves == Leaves.TENTHS else ""
            return f"tree of {counted(model.size, 'node')}, depth {model.depth}: {_SPLITS}{shares}"
        case NaiveBayes():
            return "naive Bayes: how likely each value is in each class"


_SPLITS = "which column splits which node, and the class of each leaf"


def _columns(finished: Finished) -> list[Attribute]:
    """Return the columns of both sides, the class among them."""
    if isinstance(finished.model, JointItemsets):
        return list(finished.model.attributes)
    label, owners = finished.model.schema.class_attribute, finished.run.begun.label.owners
    return [*finished.model.schema.base.attributes, *(replace(label, party=owner) for owner in owners)]


def _names(finished: Finished, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield the names of each side's columns and, if there is room, of their values, edges of bins among them."""
    columns = _columns(finished)
    for side in (finished.party, finished.run.peer.name):
        own = [each for each in columns if each.party == side]
        values = f"their {sum(each.size for each in own):,} values, below"
        text = f"{', '.join(each.name for each in own)}, and {values}"
        if whole:
            marks = (f"; missing: {', '.join(each.missing.marks)}" if each.missing.marks else "" for each in own)
            text = "; ".join(f"{c.name} ({', '.join(c.values)}{m})" for c, m in zip(own, marks, strict=True))
        elif len(text) > _ROOM:
            text = f"of {len(own)} columns, and {values}"
        yield f"Names of {side}", printable(text)


_ROOM = 700  # characters of a row of the page that is signed


def _fits(finished: Finished) -> bool:
    return all(len(text) <= _ROOM for _, text in _names(finished, whole=True))


def _deduced(finished: Finished) -> Iterator[str]:
    run, terms, life = finished.assessment, finished.assessment.terms, finished.agree.life
    if terms.epsilon is not None:
        bound = f"Epsilon {NOISE.text(terms.epsilon)} bounds this run: odds about any one person change"
        spent = finished.past.epsilon
        all_runs = (
            "no sum of all runs is bounded" if spent is None else f"{NOISE.text(spent)} in all runs ({_factor(spent)})"
        )
        yield f"{bound} {_factor(terms.epsilon)}. Used: {all_runs}, of {_any(finished.agree.epsilon)} allowed."
    elif terms.opens_tree or (terms.mines and run.holds_class):
        most = _any(life.bits_of(finished.run.begun.records))
        yield f"{_FACTS} Used in all: {finished.past.bits:,} bits, of {most} allowed."
    elif terms.counts_exactly and not terms.hides_counts:
        yield f"{SOLVED} Used in all: {finished.past.counts:,} counts, of {_any(life.most_counts)} allowed."
    if terms.mines and run.holds_class:
        yield "What follows of single people is not computed: the leaves rest on estimates from a copy, not on counts."
    elif terms.opens_tree and finished.follows is None:
        yield "What follows of single people is not computed: our table is not here as it was in the run."
    yield from follows_lines(finished.follows, finished.run.peer.name, holds_class=run.holds_class)
    if finished.copy is not None:
        yield reading_line(finished.copy.read, "our copy")
    yield from _answers(finished)


def _factor(epsilon: Fraction) -> str:
    """Return by how much epsilon lets odds change.

    >>> _factor(Fraction(3, 2)), _factor(Fraction(1000))
    ('by a factor of 4.5 at most', 'by a factor of 2.0e+434 at most')
    """
    return f"by a factor of {(Decimal(epsilon.numerator) / epsilon.denominator).exp():.2g} at most"


_FACTS = (
    "The tree answers questions: a partner that chose its columns for this may learn one fact about our people per bit."
)


def _any(most: Fraction | int | None) -> str:
    return "any number" if most is None else NOISE.text(Fraction(most))


def _answers(finished: Finished) -> Iterator[str]:
    """Say whose class the model gives away, and which columns of ours an answer by it can reveal, if we answer."""
    if isinstance(finished.model, JointItemsets):
        return
    yield from pure_lines(pure_leaves(finished.model, finished.assessment.terms))
    schema = finished.model.schema
    columns = [schema.base.attributes[column] for column in sorted(schema.base_columns(finished.model.columns))]
    read = ", ".join(printable(each.name) for each in columns if each.party == finished.party)
    if finished.agree.answers and read:
        yield f"A prediction with the peer can reveal, of the person asked about, our columns {read}."


def _deviating(finished: Finished, run: Assessment) -> Iterator[str]:
    can = deviations_of(run, finished.model)
    if finished.dealings.alignments:
        can.append(
            "list guessed ids and, if it knew some dozens of common ids, get what lets it try any id on its own machine"
        )
    if finished.agree.answers and not isinstance(finished.model, JointItemsets):
        can.append("send prediction bits that match no path, and so read our columns on the paths")
    can.append("lie about its table, so that both get the same wrong model, or stop once it has learned what it wanted")
    yield from (f"It could {each}." for each in can)
    yield 'SECURITY.md in the source of cotally, "What a side that deviates can do", has all of it, with rates.'


def _built(finished: Finished) -> _Rows:
    run, model, owners = finished.run, finished.model, " and ".join(finished.run.begun.label.owners)
    names = [] if isinstance(model, JointItemsets) else [model.schema.class_attribute.name]
    return [
        ("Parties", f"{finished.party} (whose page this is) and {run.peer.name}"),
        ("Data set", f"{printable(run.begun.dataset)}, {run.begun.records:,} people of whom both sides had a record"),
        *(("Class", f"{printable(name)}, held by {owners}") for name in names),
        ("Terms", _terms_text(run.begun.agreed)),
        ("Run", f"{run.begun.run}, began {run.began}, ended {run.ended}"),
    ]


def _class_values(model: KeptResult) -> Sequence[str]:
    return () if isinstance(model, JointItemsets) else model.schema.class_attribute.values


def _terms_text(terms: Terms) -> str:
    """Say the terms that such a run has and uses, those of rules among them, but for the class and what is off."""
    content, unused = to_json(terms), {"class_name", *unused_terms(terms), *fixed_terms(type(terms))}
    rules = content.pop("rules") or {}
    named = {name: value for name, value in content.items() if name not in unused} | rules
    named |= {"omega": "all"} if terms.ranks and terms.omega is ALL else {}
    off = {name for name, value in named.items() if value is False or value in (None, [], "0")}
    used = {name: value if isinstance(value, list) else [value] for name, value in named.items() if name not in off}
    return printable(", ".join(f"{name} {' '.join(map(str, value))}" for name, value in used.items()))


def _worth(finished: Finished) -> _Rows:
    run, model = finished.run, finished.model
    if isinstance(model, JointItemsets):
        return list(_settled(run, model))
    commonest = commonest_share(model)
    common = [] if commonest is None else [("Commonest class", f"{commonest:.3f} of the training records")]
    found = [*_accuracy(finished), *common]
    error = run.error or _deviations(finished)[1]
    tested = run.correct is not None and run.tests > 0
    beats, table = beats_when_tested(model, run.correct or 0, run.tests, error) if tested else None, None
    if run.scores is not None:
        beats = beats_commonest(run.scores.commonest_share, run.scores.correct, run.tests, run.scores.correct_error)
        table = run.scores.table
    if worth := worth_lines(model, beats, table):
        found.append(("Against a guess", " ".join(worth)))
    if ended := ended_lines(model, finished.assessment.terms, run.begun.records):
        found.append(("Where growth ended", " ".join(ended)))
    if run.countable and finished.assessment.terms.window is ALL:
        text = f"{run.counted:,}, those of all candidates at every node: these terms count no fewer"
        found.append(("Secure counts", text))
    elif run.countable:
        share = run.counted / run.countable
        text = f"{share:.1%}: {run.counted:,} secure counts, of {run.countable:,} for all candidates at the same nodes"
        found.append(("Cost ratio", text))
    if isinstance(finished.assessment.noise, tuple):
        text = f"each off by a standard deviation of up to {_deviations(finished)[0]:,.1f} records, by noise"
        found.append(("Counts", text))
    return found


def _settled(run: FinishedRun, found: JointItemsets) -> Iterator[tuple[str, str]]:
    sides = {f"{each.party}.{each.name}": each.party for each in found.attributes}
    rules = run.begun.agreed.rules
    most = 0 if rules is None else rules.most_sets
    of_both = sum(len({sides[column] for column, _ in items}) > 1 for items in run.itemsets)
    settled = sum(each.settled for each in found.frequent)
    yield "Frequent sets", f"{len(found.frequent):,} at {found.least:,} records of {found.records:,} or more"
    if found.has_counts:
        estimated = f"{len(found.frequent) - settled:,} are estimated from disguised copies"
        yield "Known exactly", f"{settled:,} of them; {estimated}"
    yield "Left undecided", f"{found.undecided:,} sets"
    if found.has_counts:
        yield "Counted exactly", f"{of_both:,} sets with items of both sides, of at most {most:,}"
        yield "Sent exactly", f"{len(run.itemsets) - of_both:,} sets of items of one side"


def _windows(finished: Finished) -> list[ReportPart]:
    methods = (Method.RANDOMIZED, Method.HYBRID, Method.SMC)
    alike = [(run, run.begun.agreed) for run in finished.alike]
    runs = sorted(alike, key=lambda each: (methods.index(each[1].method), each[1].omega or OMEGA.high + 1))
    if len(runs) < 2 or finished.run.begun.agreed.learner == Learner.RULES or finished.assessment.terms.hides_counts:
        return []
    points = [
        WindowPoint(
            f"ω = {OMEGA.text(terms.omega)}" if terms.ranks else terms.method,
            _share(run.correct, run.tests),
            _share(run.counted, run.countable),
        )
        for run, terms in runs
    ]
    label = "Accuracy and cost ratio against the window"
    said = "Runs over the same people that differ only in method and window."
    heads = headed("<Window", "Accuracy", "Cost ratio", "Secure counts")
    rows = [
        (point.window, _told_share(point.accuracy), _told_share(point.cost), f"{run.counted:,}")
        for point, (run, _) in zip(points, runs, strict=True)
    ]
    return [Drawing(label, windows_svg(label, points)), Grid(heads, rows, title=label), said]


def _share(part: float | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _told_share(share: float | None) -> str:
    return "not known" if share is None else f"{share:.3f}"


def _deviations(finished: Finished) -> tuple[float, float]:
    """Return the standard deviations, at most, that noise gives a cell and the number of correct held-out records."""
    spent = finished.assessment.noise
    return deviations(*spent) if isinstance(spent, tuple) else (0.0, 0.0)


def _accuracy(finished: Finished) -> _Rows:
    run, tests = finished.run, finished.run.tests
    if run.correct is None or not tests:
        why = "only the party that holds the class can estimate it" if tests else "no records were held out"
        return [("Accuracy", f"not known: {why}")]
    if run.scores is not None:
        tried = f"{tests:,} held-out records"
        return [("How good", "; ".join(quality_lines(run.scores.table, _class_values(finished.model), tried)))]
    noise = ""
    if isinstance(finished.assessment.noise, tuple):
        noise = f", counted with noise of a standard deviation of up to {_deviations(finished)[1] / tests:.3f}"
    return [("Accuracy", f"{run.correct / tests:.3f} on {tests:,} held-out records{noise}")]


def _scores(finished: Finished) -> Iterator[Grid]:
    """Yield the table of held-out people that was opened, a row for each answer of the tree."""
    scores = finished.run.scores
    if scores is None:
        return
    names = [printable(each) for each in _class_values(finished.model)]
    ranks = any(row.tenth != NO_TENTH for row, _ in scores.rows)
    heads = [ScreenColumn("Model says", is_text=True), *([ScreenColumn(f"Share of {names[1]}")] if ranks else [])]
    rows = [
        (names[row.label], *([f"{row.tenth / TENTHS:.1f}"] if ranks else []), *(f"{people:,}" for people in cells))
        for row, cells in scores.rows
    ]
    off = f"noise of standard deviation {sqrt(2 * scores.law.variance):.0f} in each number: they need not add up"
    yield Grid([*heads, *(ScreenColumn(f"is {name}") for name in names)], rows, title=f"Held-out people, with {off}")


def _quality(finished: Finished) -> Iterator[ReportPart]:
    scores, classes = finished.run.scores, _class_values(finished.model)
    if scores is None:
        return
    yield OPENED
    yield from score_grids(scores.table, classes)
    yield from quality_drawings(scores.table, classes)


def _importances(tree: Tree) -> list[tuple[str, str, float]]:
    """Return party, attribute and share of all decrease of impurity, the largest first, without those of none."""
    schema, columns = tree.schema, tree.schema.base.attributes
    shares = dict.fromkeys(range(len(columns)), 0.0)
    for attribute, share in enumerate(importances(tree).tolist()):
        (column,) = schema.base_columns([attribute])
        shares[column] += share
    each = zip(columns, references(columns), shares.values(), strict=True)
    rows = [(column.party, printable(name), round(share, 4)) for column, name, share in each if share > 0]
    return sorted(rows, key=lambda row: -row[2])


def _privacy(finished: Finished) -> list[ReportPart]:
    """Return what our copy discloses, by the table that was released; nothing is shown that needs another."""
    if finished.run.copy is None:
        return []
    copy = finished.copy
    if copy is None:
        strengths = finished.run.copy.odds.items()
        odds = ", ".join(f"{printable(name)} {f'{each} to 1' if each else 'infinite'}" for name, each in strengths)
        return [_GONE, f"Odds of a true value against any one other: {odds}."]
    terms = finished.assessment.terms
    counts = [_NOT_COUNTS] if terms.counts_exactly and not terms.hides_counts else []
    said = [*counts, reading_line(copy.read), *summary_lines(copy.found), *known_or_none(copy.found)]
    shown = figures(copy.found)
    return [*said, *shown, *([_KEEP] if shown else [])]


def _costs(costs: TrainReport) -> list[ReportPart]:
    rows = [
        ("Time", f"{costs.seconds:.1f} s"),
        ("Sent", size_text(costs.bytes_sent)),
        ("Received", size_text(costs.bytes_received)),
        ("Round trips", f"{costs.round_trips:,}"),
    ]
    phases = [(printable(phase), f"{seconds:.1f}") for phase, seconds in costs.phases.items()]
    return [Pairs(rows), Grid(headed("<Phase", "Seconds"), phases)]
