"""The page of a finished run, in sections: whoever signs it, or files it, needs nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

from party.models.tree_file import references
from party.names import printable
from party.records.entries import date_text
from party.records.finished import FinishedRun
from party.records.tally import Dealings
from party.records.train_report import TrainReport
from party.show.figures import epsilon, percent
from party.show.ledger import dealings_lines
from party.show.page.templates import page_file, render, render_markdown
from party.show.page.tree_svg import shown_levels, tree_svg
from party.show.privacy_short import strongest, summary_lines
from party.show.runs import size_text
from party.show.tree import title, tree_lines
from protocols.learning.importance import importances
from protocols.learning.tree import Tree
from protocols.noise.accounting import Spending, changes_of
from protocols.noise.geometric import most_variance
from protocols.privacy.findings import Findings, measure_design
from protocols.randomized_response.precision import tells
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables.schema import Attribute
from protocols.terms import ALL, Method

_LINES = 400


@dataclass(frozen=True)
class Finished:
    """All that a page tells of.

    Args:
        party: Whose page it is.
        fingerprint: Of its key.
        tree: The model.
        written: When the model's file was written.
        run: The run that it is of.
        dealings: All that passed between both sides about the data set.
        entries: How many entries the ledger has.
        head: The digest of its last one.
        costs: What the run cost, if that was kept.
    """

    party: str
    fingerprint: str
    tree: Tree
    written: datetime
    run: FinishedRun
    dealings: Dealings
    entries: int
    head: bytes
    costs: TrainReport | None


Pairs = list[tuple[str, str]]


def page_html(told: Finished, levels: int | None = None) -> str:
    """Return the page of a finished run: one file, which asks for no other and runs no script.

    Args:
        told: What to tell.
        levels: How many levels of the tree to draw; as many as can be read, if None.
    """
    drawn = shown_levels(told.tree) if levels is None else levels
    drawing = {"style": page_file("report.css"), "svg": tree_svg(told.tree, drawn, alone=False)}
    return render("report.html", _words(told, drawn) | drawing)


def page_markdown(told: Finished, levels: int | None = None) -> str:
    """Return the same as Markdown, for a ticket or a wiki: the tree as text, whatever names hold as plain text.

    Args:
        told: What to tell.
        levels: How many levels of the tree to write; as many as can be read, if None.
    """
    drawn = shown_levels(told.tree) if levels is None else levels
    lines = list(tree_lines(told.tree, drawn))[1:]
    return render_markdown("report.md", _words(told, drawn) | {"lines": lines})


def _words(told: Finished, drawn: int) -> dict[str, object]:
    tree = told.tree
    return {
        "class_name": printable(tree.schema.class_attribute.name),
        "built": _built(told),
        "drawn": drawn,
        "depth": tree.depth,
        "tree_title": title(tree),
        "lines": list(tree_lines(tree, None if tree.size <= _LINES else drawn))[1:],
        "worth": _worth(told),
        "importances": _importances(tree),
        "ledger": [(len(line) - len(line.lstrip()), line.strip()) for line in _ledger_lines(told)],
        "privacy": _privacy(told),
        "costs": _costs(told.costs),
        "phases": _phases(told.costs),
        "checks": _checks(told),
    }


def page_written(path: Path) -> str:
    """Say where a page is."""
    return f"Wrote {path}" if is_markdown(path) else f"Wrote {path}: any browser opens it"


def is_markdown(path: Path) -> bool:
    """Tell whether a page's name asks for Markdown."""
    return path.suffix.lower() in {".md", ".markdown"}


def _ledger_lines(told: Finished) -> Iterator[str]:
    yield from dealings_lines(told.dealings, full=False)


def _built(told: Finished) -> Pairs:
    run, schema = told.run, told.tree.schema
    held = {side: [a.name for a in schema.attributes if a.party == side] for side in (told.party, run.peer.name)}
    return [
        ("Parties", f"{told.party} (whose page this is) and {run.peer.name}"),
        ("Data set", printable(run.dataset)),
        ("Class", f"{printable(schema.class_attribute.name)}, held by {' and '.join(run.class_owners)}"),
        ("People", f"{run.records:,}, of whom both sides had a record"),
        *((f"Columns of {side}", printable(", ".join(names)) or "none") for side, names in held.items()),
        ("Terms", _terms_text(run.terms)),
        ("Run", f"began {run.began}, ended {run.ended}"),
        ("Model file", f"written {date_text(told.written)}"),
    ]


def _terms_text(terms: Mapping[str, Any]) -> str:
    told = ((name, "none" if value is None else str(value)) for name, value in terms.items() if name != "class_name")
    return printable(", ".join(f"{name} {value}" for name, value in told))


def _worth(told: Finished) -> Pairs:
    run, counts = told.run, told.tree.root.counts
    commonest = max(counts) / max(sum(counts), 1)
    found = [*_accuracy(told), ("Commonest class", f"{commonest:.3f} of the training records")]
    if run.countable:
        share = run.counted / run.countable
        text = f"{share:.1%}: {run.counted:,} secure counts, of {run.countable:,} for all candidates at the same nodes"
        found.append(("Cost ratio", text))
    if run.terms["noise"] is not None:
        text = f"each off by a standard deviation of up to {_deviations(told)[0]:,.1f} records, by noise"
        found.append(("Counts in the tree", text))
    return found


def _deviations(told: Finished) -> tuple[float, float]:
    """Return the standard deviations, at most, that noise gives a cell and the number of correct held-out records."""
    terms, columns = told.run.terms, told.tree.schema.attributes
    window = ALL if terms["method"] == Method.SMC else terms["omega"]

    def spent(side: str) -> Spending:
        own, alone = sum(each.party == side for each in columns), told.run.class_owners == (side,)
        changes = changes_of(len(columns), own, alone, window, terms["max_depth"])
        return Spending(Fraction(terms["noise"]), changes)

    ours, theirs = spent(told.party), spent(told.run.peer.name)
    cell, correct = most_variance(ours.cells, theirs.cells), most_variance(ours.accuracy, theirs.accuracy)
    return sqrt(cell), sqrt(correct)


def _accuracy(told: Finished) -> Pairs:
    run = told.run
    tests = run.tests or (told.costs.records_test if told.costs else 0)
    if run.correct is None or not tests:
        return [("Accuracy", "not known: no records were held out, or the run's costs were not kept")]
    share, error = run.correct / tests, run.error / tests
    if not error:
        noise = ""
        if run.terms["noise"] is not None:
            noise = f", counted with noise of a standard deviation of up to {_deviations(told)[1] / tests:.3f}"
        return [("Accuracy", f"{share:.3f} on {tests:,} held-out records{noise}")]
    if not tells(error):
        return [("Accuracy", f"{tests:,} held-out records are too few to tell it from disguised copies")]
    estimated = f"estimated from disguised copies, with a standard error of up to {error:.3f}"
    return [("Accuracy", f"{share:.3f} on {tests:,} held-out records, {estimated}")]


def _importances(tree: Tree) -> list[tuple[str, str, float]]:
    """Return party, attribute and share of all decrease of impurity, the largest first, without those of none."""
    names = references(tree.schema.attributes)
    shares = zip(tree.schema.attributes, names, importances(tree), strict=True)
    rows = [(each.party, printable(name), round(float(share), 4)) for each, name, share in shares if share > 0]
    return sorted(rows, key=lambda row: -row[2])


def _privacy(told: Finished) -> Mapping[str, object] | None:
    """Return what our copy discloses; None where none left."""
    if told.run.copy is None:
        return None
    found = _findings(told)
    rows = [_privacy_row(found, k) for k, own in enumerate(found.attributes) if own.hides]
    return {"sentences": summary_lines(found), "rows": rows}


def _findings(told: Finished) -> Findings:
    schema, copy = told.tree.schema, told.run.copy or {}
    sent: Sequence[Attribute] = [each for each in schema.attributes if each.party == told.party]
    if told.run.class_owners == (told.party,):
        sent = [*sent, schema.class_attribute]
    names = [each.name for each in sent]
    groups = tuple(tuple(names.index(name) for name in group) for group in copy["groups"])
    design = RelatedDesign.of_contrast(tuple(each.size for each in sent), groups, Fraction(copy["theta"]))
    return measure_design(design, [printable(n) for n in names], [[printable(v) for v in each.values] for each in sent])


def _privacy_row(found: Findings, column: int) -> tuple[str, str, str, str]:
    own, measured = found.attributes[column], found.read(column)[0]
    belief = strongest(measured, own.prior, column)
    group = found.groups[own.group or 0].name
    return own.name, group, f"{percent(belief.after)} (was {percent(belief.before)})", epsilon(own.loss)


def _costs(costs: TrainReport | None) -> Pairs:
    if costs is None:
        return []
    return [
        ("Time", f"{costs.seconds:.1f} s"),
        ("Sent", size_text(costs.bytes_sent)),
        ("Received", size_text(costs.bytes_received)),
        ("Round trips", f"{costs.round_trips:,}"),
        ("Counts told", f"{costs.exact_counts_disclosed:,}"),
    ]


def _phases(costs: TrainReport | None) -> list[tuple[str, str]]:
    return [] if costs is None else [(printable(phase), f"{seconds:.1f}") for phase, seconds in costs.phases.items()]


def _checks(told: Finished) -> Pairs:
    return [
        (f"Key of {told.party}", told.fingerprint),
        (f"Key of {told.run.peer.name}", told.run.peer.fingerprint),
        ("Run", told.run.run),
        ("Digest of the model", told.tree.digest().hex()),
        ("Ledger", f"{told.entries:,} entries, the last {told.head.hex()}"),
    ]
