"""The ledger in words: what they learned from us, and we from them."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from math import ceil
from pathlib import Path

from party.names import printable
from party.records.approvals import Proposal
from party.records.journal import RunRecord, RunState
from party.records.json_codec import to_json
from party.records.ledger import PeerName
from party.records.ledger_entries import ColumnsEntry, CopyEntry, CrosstabEntry, EntryOfData, WouldReveal, terms_read
from party.records.tally import Dealings, ListsAligned, NodePath, Revealed, Side
from party.settings.job import unused_terms
from party.show.assessment import people_read
from party.show.document import counted
from party.show.progress import WORDS
from protocols.role import Phase
from protocols.terms import NOISE
from protocols.two_party.memory import LedgerHead

NOTHING_YET = "Nothing was revealed or learned yet: no run has got as far"


def dealings_lines(dealings: Dealings, *, full: bool) -> Iterator[str]:
    peer = dealings.peer.name
    runs = counted(len(dealings.runs), "run")
    when = dealings.first if dealings.first == dealings.last else f"{dealings.first} to {dealings.last}"
    yield f"Data set {printable(dealings.dataset)!r} with {peer}: {runs}{when and f', {when}'}"
    if dealings.unlisted:
        yield f"  before that, cotally {dealings.unlisted} revealed exact counts, and listed none"
    yield from (f"  {line}" for each in dealings.proposed for line in proposed_lines(each))
    yield from (f"  {alignment_text(each, peer)}" for each in dealings.alignments.values())
    if dealings.refused:
        times = counted(dealings.refused, "comparison")
        yield f"  {times} of whole lists found a difference, or never finished: each may be a guess at our list"
    sides, noisy = _parted(dealings.told, dealings.learned), _parted(dealings.told_noisy, dealings.learned_noisy)
    asked_us, asked_them = _people(dealings.told), _people(dealings.learned)
    heads: Sequence[tuple[str, list[str]]] = (
        (f"What {peer} learned from us", [*map(_named_text, dealings.named), *_asked_lines(asked_them, "we")]),
        (f"What we learned from {peer}", [*map(_named_text, dealings.heard), *_asked_lines(asked_us, peer)]),
        ("What both learned", list(map(_crosstab_text, dealings.crosstabs.values()))),
    )
    for (head, first), exact, noise in zip(heads, sides, noisy, strict=True):
        bits = _bits_lines(dealings) if exact is sides[0] else ()
        lines = [*first, *_side_lines(exact), *bits]
        if Revealed.of(noise).counts or noise.opened:
            terms = len(dealings.epsilons)
            several = f" in all ({terms} runs on different terms)" if terms > 1 else ""
            lines.append(f"with noise, epsilon {sum(dealings.epsilons)}{several} against each side:")
            lines += [f"  {line}" for line in _side_lines(noise, "counts")]
        yield from (f"  {head}:", *(f"    {line}" for line in lines)) if lines else ()
    for kind, side in (("exact counts", dealings.learned), ("counts with noise", dealings.learned_noisy)):
        if full and side.counts:
            yield f"  Every table of {kind} that we know, values by classes:"
            for (path, column, _), rows in side.counts.items():
                counts = "; ".join(", ".join(map(str, row)) for row in rows)
                yield f"    {_node_text(path)}: {printable(column)}: {counts}"
    if full and dealings.learned.itemsets:
        yield "  Every exact count of a set of items that we know:"
        yield from (f"    {_node_text(path)}: {count}" for path, count in dealings.learned.itemsets.items())


def _crosstab_text(said: CrosstabEntry) -> str:
    first, second = (printable(column.column) for column in said.columns)
    noise = "exact" if said.noise is None else f"noise of epsilon {said.noise} against each side"
    return f"a table of {said.cells:,} counts of {first} by {second}, {noise}"


def _parted(ours: Side, learned: Side) -> tuple[Side, Side, Side]:
    """Return what the peer alone learned, we alone, and both."""
    alike = {name: value for name, value in vars(ours).items() if name in _OF_BOTH and getattr(learned, name) == value}
    nothing = {name: getattr(Side(), name) for name in alike}
    return replace(ours, **nothing), replace(learned, **nothing), replace(Side(), **alike)


_OF_BOTH = {"class_counts", "windows", "tables", "counts", "accuracies", "itemsets", "opened", "models"}


def _people(side: Side) -> int:
    return len({person for people in side.answers.values() for person in people})


def _asked_lines(people: int, asker: str) -> Iterator[str]:
    if people:
        yield f"whom {asker} asked about, to have them classified: {people:,} people"


def _bits_lines(dealings: Dealings) -> Iterator[str]:
    runs = list(dealings.bits_of_runs.values())
    parts = [f"run on terms of its own: {ceil(bits):,}" for bits in runs] if len(runs) > 1 else []
    if answers := dealings.bits - sum(runs):
        parts.append(f"answers by them: {ceil(answers):,}")
    if dealings.bits:
        yield f"at most {ceil(dealings.bits):,} bits of trees alone{''.join(f'; {part}' for part in parts)}"


def _named_text(said: ColumnsEntry) -> str:
    values = [column.values for column in said.columns]
    classes = said.class_values
    label = "" if classes is None or len(classes) < 2 else f", of {len(classes)} classes"
    columns = counted(len(values), "column")
    names = printable(", ".join(column.column for column in said.columns))
    named = f"the names of {columns}{f' ({names})' if names else ''} and of their {sum(map(len, values)):,} values"
    return f"{named}{label}, as the whole file has them; {said.records:,} of its records take part"


def alignment_text(aligned: ListsAligned, peer: str) -> str:
    said = aligned.said
    kind = "people to be classified" if said.rows else "people"
    lists = f"{said.mine:,} {kind} of ours and {said.yours:,} of {peer}"
    begun = f"An alignment of {lists} was begun: {peer} may know"
    often = "" if aligned.times == 1 else f", {aligned.times:,} times"
    tried = said.tries or said.yours  # by 0.2.0 those of its list
    places = f"{tried:,} ids at most{often} (the size of its messages, not of its list)"
    deviating = "if it did not and knew some dozens of common ids, any number"
    tries = f"if {peer} followed the protocol, it could try {places}; {deviating}"
    if said.both is None and said.named:
        return f"{begun} which of its own are common; {tries}"
    if said.both is None:
        what = f"whether {said.least:,} are common" if said.least else "how many are common"
        return f"{begun} {what}; {tries}"
    which = "each side now knows which of its own people the other has too"
    who = which if said.named else "neither side learned which"
    return f"Both learned how many of {lists} are common: {said.both:,}; {who}; {tries}"


def _side_lines(side: Side, counts: str = "exact counts") -> Iterator[str]:
    yield from chain.from_iterable(map(_copy_lines, side.copies))
    if side.class_counts:
        each = len(side.class_counts[0])
        yield "how many records there are" if each == 1 else f"how many training records each of {each} classes has"
    if side.windows:
        yield f"which columns rank highest at {counted(len(side.windows), 'node')}, unordered"
    if side.mined:
        yield f"a mined tree without counts, sent {'once' if side.mined == 1 else f'{side.mined} times'}"
    if side.tables:
        nodes = len({path for path, _, _ in side.tables})
        tables = f"{counted(len(side.tables), 'table')} at {counted(nodes, 'node')}"
        yield f"{sum(side.tables.values()):,} {counts} in {tables}, each once"
    if side.itemsets:
        yield f"{len(side.itemsets):,} {counts} of sets of items, each once"
    if side.accuracies:
        trees = len(side.accuracies)
        yield f"how many held-out records {'the model gets' if trees == 1 else f'each of {trees} models gets'} right"
    for (_, probabilities), people in side.answers.items():
        what = "class, and the shares of the classes where the row ends," if probabilities else "class"
        yield f"the {what} of {counted(len(people), 'row')} by one model"
    if side.opened:
        kinds = Counter(str(what) for what, *_ in side.opened)
        texts = (
            ("leaves", "for {:,} nodes whether they split"),
            ("splits", "for {:,} which column splits it"),
            ("labels", "for {:,} leaves the class"),
            ("tenths", "for {:,} the shares of the classes in tenths"),
            ("sets", "which of {:,} sets of items are frequent"),
            ("scores", "with noise, how many held-out records of each class get which class"),
        )
        yield f"opened of models: {', '.join(text.format(kinds[kind]) for kind, text in texts if kinds[kind])}"
    if side.models:
        yield "the finished model" if len(side.models) == 1 else f"{len(side.models)} finished models"


def _copy_lines(copy: CopyEntry) -> Iterator[str]:
    columns = [*copy.odds, *copy.plain]
    if not columns:
        yield "a copy of columns with one value each: it reveals nothing"
        return
    yield f"a disguised copy of {len(columns)} columns, theta {copy.theta}: {printable(', '.join(columns))}"
    if copy.plain:
        yield f"  sent as they are: {printable(', '.join(copy.plain))}"
    strongest = max(copy.odds.items(), key=lambda each: (each[1] is None, Fraction(each[1] or 0)), default=None)
    if strongest is not None:
        yield f"  strongest odds of a value: {strongest[1] or 'infinite'} to 1, in column {printable(strongest[0])!r}"
    for first, second, modulus in copy.relations:
        what = "whether they are alike" if modulus == 2 else f"their difference modulo {modulus}"
        yield f"  for certain, of {printable(first)!r} and {printable(second)!r} in each record: {what}"


def _node_text(path: NodePath) -> str:
    return printable(" and ".join(sorted(f"{name} = {value}" for name, value in path)) or "all training records")


def head_line(peer: PeerName, theirs: LedgerHead, own: LedgerHead) -> str:
    return (
        f"About {peer.name} ({peer.fingerprint[:9]}): {own.entries} entries here, the last {own.digest.hex()[:16]}; "
        f"{peer.name} last showed us {theirs.entries} of its own, the last {theirs.digest.hex()[:16]}"
    )


def ledger_written_line(path: Path, entries: int) -> str:
    return f"Wrote {entries:,} entries to {path}."


def whole_line(path: Path, entries: int) -> str:
    return f"{path}: {entries} entries, not one altered, dropped or moved"


def dealings_json(all_dealings: Iterable[Dealings]) -> dict[str, object]:
    return {"format": "cotally-dealings/1", "dealings": list(map(_dealing, all_dealings))}


def _dealing(dealings: Dealings) -> dict[str, object]:
    return {
        "dataset": dealings.dataset,
        "peer": dealings.peer.name,
        "fingerprint": dealings.peer.fingerprint,
        "runs": dealings.runs,
        "first": dealings.first,
        "last": dealings.last,
        "alignments": [
            {**each.entry.content, "both": each.said.both, "named": each.said.named, "times": each.times}
            for each in dealings.alignments.values()
        ],
        "named": list(map(_said, dealings.named)),
        "heard": list(map(_said, dealings.heard)),
        "crosstabs": list(map(_said, dealings.crosstabs.values())),
        "comparisons_refused": dealings.refused,
        "proposed": list(map(_proposal, dealings.proposed)),
        "epsilons": dealings.epsilons,
        "told": _side(dealings.told),
        "learned": _side(dealings.learned),
        "told_with_noise": _side(dealings.told_noisy),
        "learned_with_noise": _side(dealings.learned_noisy),
    }


def _said(said: EntryOfData) -> dict[str, object]:
    """Return what an entry says, whatever data set or run it is of, and who learns it."""
    return {name: value for name, value in to_json(said).items() if name not in {"dataset", "run", "way"}}


def _side(side: Side) -> dict[str, object]:
    return {
        "copies": list(map(_said, side.copies)),
        "class_counts": side.class_counts,
        "windows": len(side.windows),
        "opened": dict(Counter(what for what, *_ in side.opened)),
        "tables": len(side.tables),
        "counts": sum(side.tables.values()),
        "itemsets": len(side.itemsets),
        "mined_trees": side.mined,
        "accuracies": len(side.accuracies),
        "models": side.models,
        "rows_classified": sum(map(len, side.answers.values())),
    }


def whole_json(entries: int, heads: Iterable[tuple[PeerName, LedgerHead, LedgerHead]]) -> dict[str, object]:
    return {
        "format": "cotally-ledger-check/1",
        "entries": entries,
        "peers": [
            {"peer": peer.name, "fingerprint": peer.fingerprint, "theirs": _head(theirs), "here": _head(own)}
            for peer, theirs, own in heads
        ],
    }


def _head(head: LedgerHead) -> dict[str, object]:
    return {"entries": head.entries, "digest": head.digest.hex()}


def proposed_lines(job: Proposal) -> Iterator[str]:
    said = job.said
    unused = unused_terms(terms_read(said.job)) if said.job["kind"] == "train" else []
    named = ((name, value) for name, value in said.job.items() if name not in ("kind", *unused))
    shown = ((name.removesuffix("_name"), value) for name, value in named if name == "noise" or value not in (None, []))
    terms = (  # NB: a peer chooses its texts
        f"{name} = {'none' if value is None else json.dumps(value, ensure_ascii=False)}" for name, value in shown
    )
    of = "us" if said.ours else job.peer.name
    peer = job.peer.name
    again = "" if said.other is None else f", with another {said.other} of {peer} than it began with"
    again = f", more than was signed by {peer}'s columns" if said.other == "columns" else again
    known = f"with {peer}'s columns" if said.other in ("table", "columns") else f"if {peer}'s columns are like ours"
    yield f"Job {job.name} of {of}: {_job_text(said.job)}{again}, proposed {job.time}"
    yield f"  terms: {printable(', '.join(terms))}"
    by = known if said.job["kind"] == "train" else "by what was known then"
    yield f"  {by}, of {said.records:,} records: {_would_text(said.reveals)}"
    if said.job["kind"] == "crosstab" and said.reveals.counts and said.reveals.epsilon:
        read = people_read(said.records, said.reveals.counts, said.reveals.epsilon)
        deviates = f"one that deviates can read {read} by the table"
        yield f"  epsilon is against a partner that follows the protocol; {deviates}"
    for name, approved, time in job.words.values():
        yield f"  {'approved' if approved else 'refused'} by {printable(name)}, {time}"


_NAMES = "names of columns and values, and the number of records,"


def _would_text(would: WouldReveal) -> str:
    refused = "no tree and no count, since our table or what was revealed before refuses it"
    return "; ".join(_would_parts(would)) or f"{refused}; {_NAMES} may cross before it does"


def _would_parts(would: WouldReveal) -> Iterator[str]:
    kind = "counts" if would.epsilon is not None else "exact counts"
    amounts = ((would.bits, would.likely_bits, "bits of a tree"), (would.counts, would.likely_counts, kind))
    for most, likely, what in amounts:
        if most is not None:
            yield f"at most {most:,} {what}" + ("" if likely is None else f", probably {likely:,}")
    if would.epsilon is not None:
        yield f"epsilon {NOISE.text(would.epsilon)}"
    if would.read is not None:
        yield "a copy of which {:,} of {:,} whole records are read".format(*would.read)
    if would.people is not None:
        yield f"{would.people:,} people asked about"
    if would.seconds is not None:
        yield f"about {would.seconds:,.0f} s and {would.megabytes} MB"
    if would.likely_counts == 0:
        yield f"our table refuses it in the run: {_NAMES} cross before"


def proposal_lines(jobs: Sequence[Proposal], approvals: int) -> Iterator[str]:
    for job in jobs:
        yield from proposed_lines(job)
        yield f"  {_standing(job, approvals)}"


def _standing(job: Proposal, approvals: int) -> str:
    if job.ended is not None:
        return f"has run, by {job.ended}"
    if job.refused:
        return "refused: it does not run"
    if not job.waits(approvals):
        return "approved: it runs when it is called"
    needed = job.still_needed(approvals)
    who = "person" if needed == 1 else "people"
    return f"waits for {needed} {who}: `cotally approve {job.name} --as NAME`, or `cotally refuse`"


def decided_line(job: Proposal, approvals: int) -> str:
    return f"Job {job.name} {_standing(job, approvals)}"


def proposals_json(jobs: Iterable[Proposal], approvals: int) -> dict[str, object]:
    return {"proposals": [{**_proposal(job), "lacks": job.still_needed(approvals)} for job in jobs]}


def _proposal(job: Proposal) -> dict[str, object]:
    decisions = [{"name": name, "approved": approved, "time": time} for name, approved, time in job.words.values()]
    return {**_said(job.said), "run": job.name, "peer": job.peer.name, "time": job.time, "decisions": decisions}


def open_run_lines(records: Sequence[RunRecord], busy: bool, *, ended: bool) -> Iterator[str]:
    shown = _listed(records, ended=ended)
    if not shown:
        over = len(records) - len(shown)
        yield "No run is open" + (f"; {over} {'has' if over == 1 else 'have'} ended" if over else "")
        if busy:
            yield (
                "A process of cotally works in this folder (`serve`, or a command that has no run yet). To end it: "
                "Ctrl-C where it runs, or SIGTERM"
            )
    for record in shown:
        began, last = ("first asked", "last asked") if record.state is RunState.WAITING else ("begun", "last step")
        yield (
            f"{record.run}  {record.state}  {_job_text(record.job)} with {record.peer}, data set "
            f"{printable(record.dataset)!r}, {began} {record.began}, {last} {record.changed}{_phase_text(record)}"
        )
        if (waits := _waits_for(record, busy)) is not None:
            yield f"    {waits}"


def _listed(records: Sequence[RunRecord], *, ended: bool) -> list[RunRecord]:
    return [record for record in records if ended or record.is_open or record.state is RunState.WAITING]


def runs_json(records: Sequence[RunRecord], *, ended: bool) -> dict[str, object]:
    names = ("run", "peer", "dataset", "job", "initiator", "began", "changed", "state", "phase", "settled")
    shown = [{name: getattr(record, name) for name in names} for record in _listed(records, ended=ended)]
    return {"format": "cotally-runs/1", "runs": shown}


def resumed_text(record: RunRecord) -> str:
    return (
        f"Run {record.run} with {record.peer} goes on from where it ended early: begun {record.began}, last step "
        f"{record.changed}{_phase_text(record)}"
    )


def cancelled_text(record: RunRecord) -> str:
    if record.state is RunState.WAITING:
        return f"Job {record.run} has not begun, and is listed here no more; {record.peer} keeps it for its people"
    if record.state is RunState.DONE:
        return (
            f"Run {record.run} is done here and no longer waits for {record.peer}: what was kept for it is gone. "
            "If it has not ended there, the same job begins again"
        )
    return (
        f"Run {record.run} is cancelled here; {record.peer} hears of it now, or when both meet again. The same job may "
        "begin again"
    )


def _job_text(job: Mapping[str, object]) -> str:
    window = f", omega {job['omega'] or 'all'}" if job.get("method") == "hybrid" else ""
    if job["kind"] != "train":
        return str(job["kind"])
    return f"{job['kind']} ({job.get('method', '')}{window}, class {printable(str(job.get('class_name', '')))!r})"


def _phase_text(record: RunRecord) -> str:
    return f", {WORDS[Phase[record.phase]]}" if record.phase else ""


def _waits_for(record: RunRecord, busy: bool) -> str | None:
    if record.state is RunState.WAITING:
        again = "the process that works in this folder asks again" if busy else "start the same command again"
        return f"waits for people at {record.peer} to approve it: {again}; `cotally cancel {record.run}` gives it up"
    if record.state is RunState.DONE and not record.settled:
        return (
            f"done here; {record.peer} has not said yet that it holds the model: the same command again makes sure, "
            f"`cotally cancel {record.run}` ends the wait"
        )
    if record.state is not RunState.OPEN:
        return None
    if record.initiator:
        return (
            "a process works in this folder; if it is not at this run, `cotally train` with the same job goes on"
            if busy
            else "waits for `cotally train` with the same job and data, which goes on from here"
        )
    return f"waits for {record.peer} to call again" if busy else f"waits for `cotally serve`, then for {record.peer}"
