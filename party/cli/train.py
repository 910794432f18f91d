"""What calls the peer: `train`, `align`, `crosstab`, `propose`."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, assert_never

from party.cli.outputs import fraction, give, need_least, settle_outputs
from party.compute import ComputeSettings, available_cpus
from party.errors import PausedError, PeerLostError, PeerPausedError
from party.files import is_there, locked_folder
from party.forecast.model import forecast_agreed, measure
from party.keys.certificates import utc_now
from party.keys.identity import load_identity
from party.keys.keystore import load_secret
from party.models.any_file import KeptModel
from party.node.aligning import Offers, OwnRows, load_common
from party.node.inputs import Tell, load_inputs, pinned_peer, with_workers
from party.node.line import call_peer
from party.node.players import Ended, FoundRules, Host, Matched, OnAgreed, Predicted, Tabulated, Trained
from party.node.policy import check_job
from party.node.runs import awaited_runs
from party.node.session import Report, propose_job, run_session
from party.records.journal import RunRecord, RunState, recorded_runs
from party.records.run_entries import job_content
from party.records.run_file import write_train_report
from party.settings.job import balances_classes, read_job
from party.settings.party import PartyConfig, read_party_config
from party.show import training
from party.show.document import Block
from party.show.ledger import resumed_text
from party.show.notices import note_on_job, notes_once
from party.show.parties import expiry_lines, matched_json, matched_lines
from party.show.progress import Display, Work, make_progress, waiting, working
from party.show.screen import note, note_all, put_json, say_all
from protocols.errors import InputError, NotApprovedError
from protocols.jobs import Align, Crosstab, CrosstabTerms, Job, Train
from protocols.privacy.attack import Disclosure
from protocols.terms import KEY_FLOOR, NOISE, Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs

T = TypeVar("T")

_MEETINGS = 6


def command_train(arguments: argparse.Namespace) -> int:
    config = read_party_config(arguments.party)
    read_job(arguments.job)  # one that cannot be read is refused before the data are
    settings, address = compute_settings(arguments, config), str(config.need_address())
    identity, peer = load_identity(config.folder), pinned_peer(config)
    note_all(expiry_lines([identity, peer], utc_now()))
    with locked_folder(config.folder) as held:
        tell = notes_once()
        local = load_common(config, KEY_FLOOR, tell)
        job = read_job(arguments.job, people=local.listed, classes=local.classes_listed)
        note_on_job(arguments.job, job.terms)
        done = runs_done_here(config, job)
        again = arguments.overwrite or not all(each.settled for each in done)
        try:
            settle_result_paths(arguments, config, replaces=again)  # NB: another process may be creating them
        except InputError as error:
            if not done:
                raise
            raise InputError(f"{error}. {_SAME_AGAIN}") from None
        check_job(local, config, job, peer)
        with make_progress(arguments.progress) as progress, with_workers(local, settings) as ready:
            rows = OwnRows(config, ready, tell)
            on_agreed = announcer(arguments, rows, settings, progress, job.terms)
            kept = KeptModel(lambda _: arguments.model)

            def meet(fresh: bool) -> Report:
                check = awaited_runs(config.folder, local.secrets.coins, job)
                progress.show(waiting(peer.name, address, config.node.patience))
                with call_peer(config, identity, peer, check) as channel:
                    on_matched = partial(announce_match, progress)
                    host = Host(progress.follow, on_agreed, kept, fresh, rows=rows, on_matched=on_matched)
                    return run_session(rows.local, config, held, channel, job, host)

            report = until_approved(lambda: meet_again(meet, arguments.fresh))
    write_results(arguments.report, kept, report, as_json=arguments.json)
    return 0


APPROVAL_SECONDS: Final = 5.0
"""Until a job that waits for people is proposed again."""


def until_approved(meet: Callable[[], T]) -> T:
    """Meet the peer again and again, though it is away at times, while people have not decided about the job."""
    shown: set[str] = set()
    while True:
        try:
            return meet()
        except NotApprovedError as error:
            if not error.waits:
                raise
            waits = training.waits_for_people(str(error))
            note_all({waits} - shown)
            shown.add(waits)
        except PeerLostError:
            if not shown:
                raise
        time.sleep(APPROVAL_SECONDS)


def meet_again(meet: Callable[[bool], Report], fresh: bool) -> Report:
    """Meet the peer, six times at most: a line that was cut or a peer that starts again does not end the run."""
    paused: PausedError | None = None
    for left in reversed(range(_MEETINGS)):
        try:
            return meet(fresh and paused is None)
        except PausedError as error:
            if not left or not isinstance(error.__cause__, PeerLostError | PeerPausedError):
                raise
            paused = error
            note(training.interrupted(str(error)))
        except PeerLostError as error:
            if paused is None:
                raise
            raise PausedError(f"{error} ({paused})") from error
        except (KeyboardInterrupt, SystemExit) as end:
            if paused is not None and not hasattr(end, "__notes__"):
                end.add_note(str(paused))
            raise
    raise AssertionError


_SAME_AGAIN = "A run on these terms has ended here: another one gives the same model, and reveals nothing new"


def runs_done_here(config: PartyConfig, job: Job) -> list[RunRecord]:
    """Return the runs of this very job that have ended; of one that is not settled, the peer may lack the model."""
    content = job_content(job)
    runs = recorded_runs(config.folder, load_secret(config.folder))
    done = (each for each in runs if each.state is RunState.DONE)
    return [each for each in done if each.job == content and each.dataset == config.data.dataset]


def settle_result_paths(arguments: argparse.Namespace, config: PartyConfig, *, replaces: bool) -> None:
    """Choose the paths of results, and check, before the work, that they can be written."""
    arguments.model = arguments.model or config.folder / "model.json"
    reads = (config.path, config.data.file, arguments.job if "job" in arguments else None)
    outputs = (arguments.model, arguments.report)
    settle_outputs(outputs, reads, overwrite=replaces, options=("--model", "--report"))


def compute_settings(arguments: argparse.Namespace, config: PartyConfig) -> ComputeSettings:
    if arguments.workers is None:
        return config.compute
    return replace(config.compute, workers=arguments.workers, cluster=None)


def announcer(
    arguments: argparse.Namespace, rows: OwnRows, settings: ComputeSettings, progress: Display, terms: Terms
) -> OnAgreed:
    """Measure this machine, if progress is displayed, and return what shows the terms and the costs to expect."""
    means, local = None, rows.local
    # NB: to measure is to encrypt, and a cluster gets our key only if the run needs it there
    if arguments.progress == "auto" and local.compute is not None and settings.cluster is None:
        progress.show(working(Work.MEASURING))
        means = measure(terms, local, local.compute.encryption, settings.workers or available_cpus())

    def on_agreed(agreed: Agreement, resumed: RunRecord | None, read: Disclosure | None) -> None:
        progress.finish()
        announce(rows.local, agreed, resumed, read)
        if means is not None:
            note_all(training.expected(forecast_agreed(agreed, rows.local, means)))

    return on_agreed


def announce(local: PartyInputs, agreed: Agreement, resumed: RunRecord | None, read: Disclosure | None) -> None:
    """Say what was agreed and what is read of our copy, before any data leaves, after a line if a run resumes."""
    note_all([] if resumed is None else [resumed_text(resumed)])
    note_all(training.agreed_lines(local, agreed, read))


def announce_match(progress: Display, matched: Matched) -> None:
    progress.finish()
    note_all(matched_lines(matched))


def write_results(costs: Path | None, kept: KeptModel, report: Report, *, as_json: bool = False) -> None:
    """Say what a job ended with, whose model is in its file by now, and write what it cost."""
    match report.ended:
        case Trained():
            lines: Iterable[Block] = training.result_lines(report.ended, kept.path)
        case FoundRules():
            lines = training.found_rules_lines(report.ended, kept.path)
        case Matched():
            say_all(matched_lines(report.ended), sys.stderr)
            return
        case Tabulated():
            say_all(training.crosstab_lines(report.ended), sys.stderr)
            return
        case Predicted():
            return
        case _:
            assert_never(report.ended)
    written = training.train_report(report.ended, report)
    if as_json:
        put_json(training.report_json(written, kept.path, report.ended))
    else:
        say_all(lines, sys.stderr)
    if costs is not None:
        write_train_report(costs, written)


def command_align(arguments: argparse.Namespace) -> int:
    ended = end_of(Align(arguments.count_only), arguments, read_party_config(arguments.party), common=False)
    if isinstance(ended, Matched):
        give(arguments, matched_json(ended), matched_lines(ended), sys.stderr)
    return 0


def command_crosstab(arguments: argparse.Namespace) -> int:
    noise = None if arguments.exact else fraction("--noise", arguments.noise)
    if noise is not None and (problem := NOISE.problem(noise)):
        raise InputError(f"--noise {problem}")
    job = Crosstab(CrosstabTerms(arguments.column, arguments.peer_column, noise))
    ended = end_of(job, arguments, read_party_config(arguments.party))
    if isinstance(ended, Tabulated):
        give(arguments, training.crosstab_json(ended), training.crosstab_lines(ended))
    return 0


def end_of(
    job: Job, arguments: argparse.Namespace, config: PartyConfig, *, common: bool = True, offers: Offers | None = None
) -> Ended:
    """Call the peer once for a job that leaves no file; with `common`, over the people whom both list."""
    settings, address = compute_settings(arguments, config), str(config.need_address())
    identity, peer = load_identity(config.folder), pinned_peer(config)
    tell: Tell = notes_once() if offers is None else lambda _: None
    with locked_folder(config.folder) as held:
        local = (load_common if common else load_inputs)(config, KEY_FLOOR, tell)
        check_job(local, config, job, peer)
        with make_progress(arguments.progress) as progress, with_workers(local, settings) as ready:
            rows = OwnRows(config, ready, tell) if common else None
            on_matched = partial(announce_match, progress)
            host = Host(progress.follow, offers=offers or Offers(), rows=rows, on_matched=on_matched)

            def meet() -> Ended:
                progress.show(waiting(peer.name, address, config.node.patience))
                with call_peer(config, identity, peer) as channel:
                    return run_session(ready, config, held, channel, job, host).ended

            return until_approved(meet)


def command_propose(arguments: argparse.Namespace) -> int:
    config = read_party_config(arguments.party)
    job = _proposed(arguments, config)
    identity, peer = load_identity(config.folder), pinned_peer(config)
    with call_peer(config, identity, peer) as channel:
        try:
            propose_job(config.name, channel, job)
        except NotApprovedError as error:
            if error.field == "refusal":
                raise
            shown = {"format": "cotally-proposed/1", "peer": peer.name, "waits": error.waits}
            return give(arguments, shown, [training.proposed_line(peer.name, waits=error.waits)])
    raise AssertionError


def _proposed(arguments: argparse.Namespace, config: PartyConfig) -> Train:
    """Read a job; our table only where a term follows from how many people it lists."""
    need_least("--records", arguments.records, 1)
    job, balances = read_job(arguments.job, people=arguments.records or 0), balances_classes(arguments.job)
    if not balances and (arguments.records is not None or job == read_job(arguments.job, people=_MANY)):
        return job
    if is_there(config.data.file):
        local = load_common(config, KEY_FLOOR)
        return read_job(arguments.job, people=arguments.records or local.listed, classes=local.classes_listed)
    cure = "write numbers" if balances else "write min_leaf in the job, or name the number by --records"
    raise InputError(
        f"{'weights' if balances else 'min_leaf'} of {arguments.job} follows from the people that our table lists, and "
        f"{config.data.file} is not there: {cure}"
    )


_MANY = 10**9
