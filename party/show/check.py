"""A look before leaving, in words and as JSON: what becomes of columns, what a copy and a run tell, what was told."""

import re
from collections.abc import Iterable
from fractions import Fraction

from party.data import Notice
from party.node.check import LeavingCheck, LeavingColumn, Past, RunOutlook
from party.node.inputs import ReleasedBefore
from party.records.changes import release_text
from party.settings.party import Acceptance
from party.show.checks import alike_line, seen_json
from party.show.layout import Block, ScreenColumn, screen_table
from party.show.left import left_lines
from party.show.notices import notice_text
from party.show.privacy import privacy_blocks
from party.show.privacy_json import findings_json

_HEADINGS = (
    ScreenColumn("column", is_text=True),
    ScreenColumn("values"),
    ScreenColumn("rarest is\nheld by"),
    ScreenColumn("sent", is_text=True),
)
_YEARS = re.compile(
    r"<= (?P<upto>\d{4})-12-31|> (?P<after>\d{4})-12-31|\((?P<before>\d{4})-12-31, (?P<last>\d{4})-12-31\]", re.ASCII
)
_MOST_VALUES = 12
_RELEASE = ("class", "theta", "seed", "test", "prune")  # the terms of a release; the rest are digests and lists

Notices = Iterable[Notice | ReleasedBefore]


def check_blocks(found: LeavingCheck, agree: Acceptance, notices: Notices, *, full: bool, width: int) -> list[Block]:
    """Return the report.

    Args:
        found: What to tell.
        agree: What this party agrees to.
        notices: What was noticed when the data were read.
        full: Tell everything that the copy discloses; else what fits a screen.
        width: Of the screen.
    """
    rows = [
        [column.name, str(len(column.values)), f"{column.rarest:,}", _sent(column, found)] for column in found.columns
    ]
    head = f"Data set {found.dataset!r}: {found.records:,} records. Names and values cross by any method."
    return [
        f"{head} What each column becomes:",
        "",
        screen_table(_HEADINGS, rows, width).drawn,
        "",
        *[f"{column.name}: {_values(column)}" for column in found.columns],
        *[f"Note: {notice_text(notice)}" for notice in notices],
        "",
        *_copy_blocks(found, full=full, width=width),
        "",
        *told_lines(found.told),
        *left_lines(found.told, agree),
        *_run_lines(found.run),
    ]


def _sent(column: LeavingColumn, found: LeavingCheck) -> str:
    if found.copy is None:
        how = "in no copy"
    elif column.group is None:
        how = "plain, as it is"
    else:
        how = f"disguised, group {column.group + 1}"
    return f"{how} (the class)" if column.is_class else how


def years_text(value: str) -> str:
    """Write a bin of whole years as people do, and any other value as it is.

    >>> years_text("(1990-12-31, 1991-12-31]"), years_text("(1990-12-31, 1993-12-31]")
    ('1991', '1991 to 1993')
    >>> years_text("<= 1990-12-31"), years_text("> 1998-12-31"), years_text("> 40")
    ('up to 1990', 'from 1999', '> 40')
    """
    match = _YEARS.fullmatch(value)
    if match is None:
        return value
    last, first = match["upto"] or match["last"], str(int(match["after"] or match["before"] or 0) + 1)
    if match["upto"]:
        return f"up to {last}"
    return f"from {first}" if match["after"] else first if first == last else f"{first} to {last}"


def _values(column: LeavingColumn) -> str:
    told = [f"{years_text(value)} {held:,}" for value, held in column.values.items()]
    more = [f"and {len(told) - _MOST_VALUES} more"] if len(told) > _MOST_VALUES else []
    return ", ".join([*told[:_MOST_VALUES], *more])


def _copy_blocks(found: LeavingCheck, *, full: bool, width: int) -> list[Block]:
    if found.copy is None:
        return ["No disguised copy leaves."]
    which = "" if found.run else ", in the weakest disguise that [agree] allows"
    head = f"The copy, with theta = {found.copy.theta}{which}; a receiver is taken to know how common each value is:"
    return [head, "", *privacy_blocks(found.copy, full=full, width=width)]


def told_lines(told: Past) -> list[str]:
    """Say what was released of a data set, and to whom."""
    if not told.release:
        return ["Nothing has been released of this data set."]
    terms = ", ".join(f"{name} {release_text(told.release[name])}" for name in _RELEASE if name in told.release)
    party = told.release.get("party")
    whom = f" to {party[0]}" if isinstance(party, list) and party else ""
    return [f"Last release{whom}: {terms}. Anything else under this name is refused."]


def _run_lines(run: RunOutlook | None) -> list[str]:
    if run is None:
        return []
    if run.terms.counts_exactly:
        kind = "exact counts" if run.terms.noise is None else "counts with noise"
        whatever = "whatever tree it grows" if run.terms.rules is None else "whatever sets are frequent"
        told = f"This run tells at most {run.most:,} {kind}, {whatever}, and probably about {run.likely:,}"
    else:
        told = "This run tells the counts of the classes and no others exactly"
    refused = [] if run.flaw is None else [f"This party refuses this job: {run.flaw}"]
    checks = [] if run.seen is None else [alike_line(run.seen, run.terms)]
    return [f"{told}, if the peer has columns like ours.", *checks, *refused]


def check_json(found: LeavingCheck, agree: Acceptance, notices: Notices) -> dict[str, object]:
    """Return the report as plain types for `json.dumps`."""
    told, run = found.told, found.run
    return {
        "format": "cotally-check/1",
        "dataset": found.dataset,
        "records": found.records,
        "columns": [
            {
                "name": column.name,
                "class": column.is_class,
                "values": dict(column.values),
                "rarest": column.rarest,
                "group": column.group,
            }
            for column in found.columns
        ],
        "notes": [notice_text(notice) for notice in notices],
        "copy": None if found.copy is None else findings_json(found.copy),
        "released": {name: told.release[name] for name in ("party", *_RELEASE) if name in told.release},
        "told": {"runs": told.runs, "counts": told.counts, "epsilon": _text(told.epsilon)},
        "allowed": {"runs": agree.life.runs, "counts": agree.life.counts, "epsilon": _text(agree.epsilon)},
        "run": None
        if run is None
        else {
            "counts_at_most": run.most,
            "counts_probably": run.likely,
            "seen": seen_json(run.seen),
            "refused": None if run.flaw is None else str(run.flaw),
        },
    }


def _text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)
