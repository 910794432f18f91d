"""A look before leaving, in words and as JSON: what becomes of columns, what a copy and a run reveal, what did."""

from collections.abc import Iterable, Iterator

from party.data import Notice
from party.names import printable
from party.node.check import LeavingCheck, LeavingColumn, Past
from party.node.inputs import ReleasedBefore
from party.records.releases import release_text
from party.settings.party import Acceptance, Approve
from party.show.assessment import MANY, past_json, past_lines, run_json, run_lines
from party.show.document import Grid, ReportPart, headed
from party.show.notices import notice_text
from party.show.privacy_full import findings_json, privacy_parts
from party.show.privacy_short import reading_json, reading_line
from protocols.terms import NO_CLASS
from protocols.two_party.inputs import USUAL_LIMITS

_HEADINGS = headed("<column", "values", "rarest value\nheld by", "<sent")
_WORTH = headed("<column", "bits", "of the\nclass", "bits by\nchance")
_MOST_VALUES = 12
_RELEASE = ("class", "theta", "seed", "test")  # the terms of a release; the rest are digests and lists

Notices = Iterable[Notice | ReleasedBefore]


def check_parts(found: LeavingCheck, agree: Acceptance, notices: Notices, *, full: bool) -> list[ReportPart]:
    rows = [[each.name, str(len(each.values)), f"{each.rarest:,}", _sent(each, found)] for each in found.columns]
    head = f"Data set {found.dataset!r}: {found.records:,} records. Every method sends names and values."
    held_out = "; both learn who is held out" if found.run.terms.test else ""
    head += (
        " Where the lists of people differ, each side learns how many the other lists and, if enough are on both, "
        f"which of its own these are{held_out}."
    )
    moved = (
        ""
        if found.past.release
        else " (people whom the peer does not list are left out; values and bins do not change)"
    )
    return [
        f"{head} What each column becomes{moved}:",
        "",
        Grid(_HEADINGS, rows),
        "",
        *map(_values_line, found.columns),
        *[f"Note: {notice_text(notice)}" for notice in notices],
        *(_worth_parts(found) if any(column.is_class for column in found.columns) else _no_class_lines(found)),
        "",
        *([_USUAL] if found.is_usual else []),
        _most_line(found, agree),
        *_copy_parts(found, full=full),
        "",
        *released_lines(found.past),
        *past_lines(found.past, agree),
        *_wide_lines(found),
        *run_lines(found.run, found.past, agree),
        *_noise_lines(found),
    ]


_USUAL = (
    "No job is named: this is the one that `init` writes, which reveals the tree alone. A job of "
    'method = "hybrid" or "randomized", or of reveal = "counts", reveals more: name yours after the party: `cotally '
    "check PARTY job.toml`. `cotally rehearse` shows what a model would be worth."
)


def _most_line(found: LeavingCheck, agree: Acceptance) -> str:
    bits = agree.life.bits_of(found.records)
    trees = "a tree alone of any bits" if bits is None else f"a tree alone of at most {bits:,} bits"
    counts = "exact counts too" if agree.exact_counts else "no exact count"
    methods = ", ".join(agree.methods)
    runs = {Approve.ALWAYS: "at once", Approve.BY_HAND: "once people have approved it"}
    when = runs.get(agree.approve, "at once, if no bound is any")
    return (
        "The rest is about this job. The side that calls chooses the job. Any job that [agree] allows runs "
        f"{when}: by {methods}, with {trees} and {counts}."
    )


def _worth_parts(found: LeavingCheck) -> Iterator[ReportPart]:
    worth = {column.name: column.worth for column in found.columns if column.worth is not None}
    if not worth:
        return
    ranked = sorted(worth.items(), key=lambda each: -each[1].gain)
    rows = [[name, f"{of.gain:.4f}", f"{of.share:.1%}", f"{of.by_chance:.4f}"] for name, of in ranked]
    yield from ("", "What each of our columns alone says about the class:", "", Grid(_WORTH, rows))
    if chance := [name for name, of in ranked if of.mostly_chance]:
        yield ""
        yield (
            f"Mostly chance: {', '.join(chance)}. A column of as many values that says nothing often gains about as "
            "much: give it fewer values ([columns] bins, max_values), bring more records, or leave it out."
        )


def _no_class_lines(found: LeavingCheck) -> Iterator[str]:
    yield ""
    if not found.is_usual and found.run.terms.class_name != NO_CLASS:
        name = printable(found.run.terms.class_name)
        yield f"The job's class, {name!r}, is no column of ours: ask the partner if its [data] class has this name."
    yield (
        "What our columns say about the class cannot be shown here, since the class is the partner's: the tree of a "
        "run shows which of them split, and the partner's `cotally check` ranks its own."
    )


def _wide_lines(found: LeavingCheck) -> Iterator[str]:
    most = USUAL_LIMITS.most_values
    wide = [column.name for column in found.columns if not column.is_class and len(column.values) > most]
    if wide and found.run.terms.hides_counts:
        yield (
            f"More than {most} values: {', '.join(wide)}. Where no count is revealed a peer refuses them, unless "
            "its [agree] most_values allows more: merge values ([columns] max_values), or ask it."
        )


def _noise_lines(found: LeavingCheck) -> Iterator[str]:
    of_two = any(column.is_class and len(column.values) == 2 for column in found.columns)
    if found.is_usual and found.records >= MANY and of_two:
        yield (
            f'Two classes and {found.records:,} records may be enough for a tree with noise: noise = "1" in the job '
            "bounds what is learned about each person. On public data it cost .002 of AUC (48,842 people) to .12 "
            "(4,500): `cotally rehearse` shows what it costs on yours."
        )


def _sent(column: LeavingColumn, found: LeavingCheck) -> str:
    if found.copy is None:
        how = "in no copy"
    elif column.group is None:
        how = "plain, as it is"
    else:
        how = f"disguised, group {column.group + 1}"
    return f"{how} (the class)" if column.is_class else how


def _values_line(column: LeavingColumn) -> str:
    each = [f"{value} {held:,}" for value, held in column.values.items()]
    more = [f"and {len(each) - _MOST_VALUES} more"] if len(each) > _MOST_VALUES else []
    return f"{column.name}: {', '.join([*each[:_MOST_VALUES], *more])}"


def _copy_parts(found: LeavingCheck, *, full: bool) -> list[ReportPart]:
    copy = found.copy
    if copy is None:
        return []
    head = f"The copy, with theta = {copy.found.theta}; a receiver is taken to know how common each value is."
    if found.run.terms.counts_exactly:
        head += " These figures cover the copy, and not counts."
    refused = [] if copy.refused is None else [f"[agree] refuses this copy: {copy.refused}"]
    return [head, reading_line(copy.read), *refused, "", *privacy_parts(copy.found, full=full)]


def released_lines(past: Past) -> list[str]:
    if not past.release:
        return ["Nothing has been released under this name."]
    terms = ", ".join(f"{name} {release_text(past.release[name])}" for name in _RELEASE if name in past.release)
    party = past.release.get("party")
    whom = f" to {party[0]}" if isinstance(party, list) and party else ""
    refused = [] if past.changed is None else [f"This table is refused as it is now: {past.changed}"]
    same = "Later runs over this data set must have the same peer"
    if not terms:
        return [f"Last release{whom}. {same}.", *refused]
    others = "[agree] most_runs bounds runs whose other terms differ"
    return [f"Last release{whom}: {terms}. {same} and the same of these; {others}.", *refused]


def check_json(found: LeavingCheck, agree: Acceptance, notices: Notices) -> dict[str, object]:
    past, copy = found.past, found.copy
    return {
        "format": "cotally-check/1",
        "dataset": found.dataset,
        "records": found.records,
        "columns": [
            {
                "name": column.name,
                "class": column.is_class,
                "values": column.values,
                "rarest": column.rarest,
                "group": column.group,
                "worth": column.worth,
            }
            for column in found.columns
        ],
        "notes": [notice_text(notice) for notice in notices],
        "copy": copy
        and {
            **findings_json(copy.found),
            "read": reading_json(copy.read),
            "refused": copy.refused and str(copy.refused),
        },
        **past_json(past, agree, ("party", *_RELEASE)),
        "run": run_json(found.run),
    }
