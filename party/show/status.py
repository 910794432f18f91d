"""Runs in words: how far each has come, and what it waits for."""

from collections.abc import Iterator, Sequence

from party.names import printable
from party.records.journal import RunRecord, RunState
from party.show.progress import WORDS
from protocols.role import Phase


def open_run_lines(records: Sequence[RunRecord], busy: bool, *, ended: bool) -> Iterator[str]:
    told = [record for record in records if ended or record.is_open]
    if not told:
        over = len(records) - len(told)
        yield "No run waits for anything" + (f"; {over} {'is' if over == 1 else 'are'} over" if over else "")
        if busy:
            yield (
                "A process works in this folder, at no run that is on record: `serve` listens; `align`, `predict` and "
                "what has not met its peer yet have nothing to go on with. To end it: Ctrl-C where it runs, or SIGTERM"
            )
    for record in told:
        yield (
            f"{record.run}  {record.state}  {_job_text(record)} with {record.peer}, data set "
            f"{printable(record.dataset)!r}, begun {record.began}, last step {record.changed}{_phase_text(record)}"
        )
        if (waits := _waits_for(record, busy)) is not None:
            yield f"    {waits}"


def runs_json(records: Sequence[RunRecord], *, ended: bool) -> dict[str, object]:
    names = ("run", "peer", "dataset", "job", "initiator", "began", "changed", "state", "phase", "settled")
    told = [record for record in records if ended or record.is_open]
    return {"format": "cotally-runs/1", "runs": [{name: getattr(record, name) for name in names} for record in told]}


def resumed_text(record: RunRecord) -> str:
    return (
        f"Run {record.run} with {record.peer} goes on from where it ended early: begun {record.began}, last step "
        f"{record.changed}{_phase_text(record)}"
    )


def cancelled_text(record: RunRecord) -> str:
    if record.state is RunState.DONE:
        return (
            f"Run {record.run} is done here, and {record.peer} is waited for no more: what was kept for it is gone. "
            "Where it has not ended there, the same job begins again"
        )
    return (
        f"Run {record.run} is cancelled here; {record.peer} hears of it now, or when both meet again. The same job may "
        "begin again"
    )


def _job_text(record: RunRecord) -> str:
    job = record.job
    window = f", omega {job['omega'] or 'all'}" if job.get("method") == "hybrid" else ""
    return f"{job['kind']} ({job.get('method', '')}{window}, class {printable(str(job.get('class_name', '')))!r})"


def _phase_text(record: RunRecord) -> str:
    return f", {WORDS[Phase[record.phase]]}" if record.phase else ""


def _waits_for(record: RunRecord, busy: bool) -> str | None:
    if record.state is RunState.DONE and not record.settled:
        return (
            f"done here; {record.peer} has not said yet that it holds the model: the same command again makes sure, "
            f"`cotally cancel {record.run}` waits no more"
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
