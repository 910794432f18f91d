"""What was rehearsed: one page, whose table a screen shows, and the same as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Final

from party.names import printable
from party.node.check import Assessment
from party.node.rehearsal import Sides, Tried
from party.settings.toml import toml_value
from party.show.assessment import ended_lines
from party.show.document import Document, Drawing, Grid, PageSection, ReportPart, headed
from party.show.page.drawings import Interval, intervals_svg
from party.show.privacy_short import reading_json
from party.show.quality import figure_text
from protocols.kinds import kinds_of
from protocols.learning.model import beats_commonest
from protocols.learning.quality import Figure, ScoreTable
from protocols.terms import Leaves, Terms

THE_JOB: Final = "the job as it is"
_WIDE = 1.96  # standard errors of an interval of 95%
_COIN: Final = 0.5  # the AUC of one
_FIGURES: Final[dict[str, tuple[str, str]]] = {
    "accuracy": ("accuracy", ".3f"),
    "accuracy_error": ("±", ".3f"),
    "auc": ("AUC", ".3f"),
    "auc_error": ("±:6", ".3f"),
    "nodes": ("nodes:4", ",.0f"),
    "cost_ratio": ("cost\nratio:2", ".2f"),
    "bits": ("bits:3", ",.0f"),
    "most_bits": ("bits at\nmost:5", ",.0f"),
    "counts_revealed": ("counts\nrevealed:2", ",.0f"),
    "whole_records_read": ("records\nread:1", ".1%"),
}
"""Of each figure its heading and form."""


def choice_text(tried: Tried) -> str:
    terms, kinds = tried.terms, kinds_of(type(tried.terms))
    names = ["noise"] if "noise" in tried.changes else tried.changes  # which sets what it leaves no room for
    return ", ".join(f"{name} = {toml_value(kinds[name], getattr(terms, name))}" for name in names) or THE_JOB


def _figures(tried: Tried) -> dict[str, float | None]:
    found, accuracy, auc = tried.found, _accuracy(tried), _table(tried).auc()
    read = (reading_json(tried.read) or {"whole_records": 1.0})["whole_records"]
    return {
        "accuracy": accuracy.value,
        "accuracy_error": accuracy.error,
        "auc": auc and auc.value,
        "auc_error": auc and auc.error,
        "nodes": found.tree.size,
        "cost_ratio": tried.cost_ratio,
        "bits": None if found.bits is None else float(found.bits),
        "most_bits": None if found.most_bits is None else float(found.most_bits),
        "counts_revealed": found.revealed,
        "whole_records_read": float(str(read)) if tried.sends else None,
    }


def rehearsal_json(sides: Sides, found: Sequence[Tried]) -> dict[str, object]:
    rows = [{"choice": choice_text(each), **_figures(each)} for each in found]
    commonest, held_out = _commonest(found)
    return {
        "format": "cotally-rehearsal/1",
        "class": found[0].terms.class_name,
        "columns": {side.party: [each.name for each in side.attributes] for side in (sides.ours, sides.theirs)},
        "records": len(sides.ours.records),
        "held_out": held_out,
        "commonest": commonest.value,
        "model": found[0].found.tree.digest().hex(),
        "choices": rows,
    }


def job_lines(job: Path | None, terms: Terms) -> list[str]:
    whose = "the default, as none is named" if job is None else printable(str(job))
    leaves = f', leaves = "{terms.growth.leaves}"' if terms.opens_tree else ""
    return [f"The job: {whose} ({terms.method}{leaves})."]


def own_lines(own: Assessment | None, people: int) -> Iterator[str]:
    """Warn of what a run over our own table, if there is one, would not be: allowed, or as small as the rehearsal's."""
    if own is None:
        return
    if own.flaw is not None:
        yield f"This party refuses this job: {own.flaw}"
    if own.terms.opens_tree and 2 * people < (whole := own.records + own.tests):
        yield (
            f"Warning: {people:,} people are few beside the {whole:,} of our table. Leaves of {own.terms.min_leaf:,} "
            "and bits for so few end this tree early: a run over more grows a larger and better one."
        )


def rehearsal_page(sides: Sides, found: Sequence[Tried], beside: Iterable[str]) -> Document:
    figures = [_figures(each) for each in found]
    kept = [name for name in _FIGURES if any(row[name] for row in figures)]
    rows = [
        [
            choice_text(each),
            *("-" if (value := row[name]) is None else _figure(name, value) for name in kept),
        ]
        for each, row in zip(found, figures, strict=True)
    ]
    grid = Grid(headed("<choice", *(_FIGURES[name][0] for name in kept)), rows, rule=True)
    ranks = found[0].terms.growth.leaves == Leaves.TENTHS and all(row["auc"] is not None for row in figures)
    what, level, line = "Accuracy", _commonest(found)[0].value, "the commonest class"
    if ranks:
        what, level, line = "AUC", _COIN, "a coin"
    figure = [(_table(each).auc() if ranks else _accuracy(each)) or Figure(_COIN, 0.0) for each in found]
    shares = [
        Interval(choice_text(each), of.value, of.value - _WIDE * of.error, of.value + _WIDE * of.error)
        for each, of in zip(found, figure, strict=True)
    ]
    picture = intervals_svg(f"{what} on held-out records, 95%", shares, level, alone=False)
    label = f"{what} of each choice on held-out records; the line is {line}"
    given: list[ReportPart] = [grid, Drawing(label, picture), "", *_notes(found, len(sides.ours.records))]
    sections = [
        PageSection("supposed", "What is rehearsed", [*_supposed(sides, found), *beside]),
        PageSection("found", "What each choice gives", given),
    ]
    return Document(f"Rehearsal of {printable(found[0].terms.class_name)}", sections)


def _figure(name: str, value: float) -> str:
    """Return a figure in its form; bits are rounded up, as everywhere."""
    return format(ceil(value) if "bits" in name else value, _FIGURES[name][1])


def _supposed(sides: Sides, found: Sequence[Tried]) -> Iterator[str]:
    ours, theirs = (len(side.attributes) for side in (sides.ours, sides.theirs))
    _, held_out = _commonest(found)
    name, records = printable(found[0].terms.class_name), len(sides.ours.records)
    whose = "is ours" if sides.ours.holds_class else "stands for the partner's class"
    yield (
        f"{name} {whose}; {ours} columns of ours and {theirs} of the partner; {records:,} records, {held_out:,} of "
        "them held out. Nobody was called, and nothing has left."
    )


def _notes(found: Sequence[Tried], records: int) -> Iterator[str]:
    job, (commonest, held_out) = found[0], _commonest(found)
    yield f"Always saying the commonest class: {figure_text(commonest)}. ± is the standard error of a figure."
    accuracy = _accuracy(job)
    if not beats_commonest(commonest.value, accuracy.value * held_out, held_out, 0.0):
        yield "Within its error, the job's tree is no better than always guessing the commonest class."
        auc = _table(job).auc()
        if auc is not None and auc.value - _WIDE * auc.error > _COIN:
            yield f"Yet its scores tell people apart (AUC {figure_text(auc)})."
    yield from ended_lines(job.found.tree, job.terms, records)
    if not any(each.found.revealed for each in found):
        yield "No count is revealed."
    if any(each.terms.disguises or each.terms.noise is not None for each in found):
        yield "Coins and noise were drawn once for all rows; a real run draws its own, so its tree can differ."
    if any(each.sends for each in found):
        yield "Records read: whole records of ours that the receiver of our copy reads, as `cotally check` explains."
    if any(each.found.bits is not None for each in found):
        yield "Bits: what this tree would reveal, and what any tree of these terms may."
    if any("most_bits" in each.changes and "noise" not in each.changes for each in found):
        yield "More most_bits needs the same under [agree] of both: a partner may then know as many facts about people."
    if any("weights" in each.changes for each in found):
        yield "These weights balance the classes; in a job the partner would learn the ratio of your classes from them."


def _accuracy(tried: Tried) -> Figure:
    return _table(tried).accuracy()


def _table(tried: Tried) -> ScoreTable:
    assert tried.found.scores is not None  # noqa: S101  # without held-out records nothing is rehearsed
    return tried.found.scores


def _commonest(found: Sequence[Tried]) -> tuple[Figure, int]:
    """Return the share of the commonest class, and of how many held-out records."""
    scores = _table(found[0])
    return scores.commonest(), round(float(scores.cells.sum()))
