"""What people of one side oversee: `check`, `plan`, `rehearse`, `status`, `approve`, `refuse`, `cancel`, `ledger`."""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path

from party.cli.outputs import give, need_least, settle_outputs
from party.compute import ComputeSettings, available_cpus, make_compute
from party.data import Notice, csv_text
from party.data.form import USUAL
from party.data.ids import one_column
from party.demo.data import ALICE, deal_dataset
from party.files import is_locked, is_there, write_atomically
from party.forecast.model import ByPaillier, Line, Means, forecast, guess_rules, measure
from party.keys.identity import signed_here
from party.keys.keystore import load_secret
from party.names import printable
from party.node.aligning import load_common
from party.node.approval import decide
from party.node.check import Supposed, assess, check_party, past_before, sends_copy, supposed_run
from party.node.inputs import ReleasedBefore
from party.node.policy import check_job
from party.node.rehearsal import own_run, rehearsed, rehearsed_sides
from party.records.approvals import Proposal, proposals
from party.records.journal import JOURNAL_FILE, cancel_run, open_journal, recorded_runs, unknown_run
from party.records.ledger import (
    LEDGER_FILE,
    LEDGER_VERSION,
    date_text,
    has_ledger,
    last_head,
    now,
    read_ledger,
)
from party.records.tally import dealings, peers
from party.settings.job import JOB_FILE, read_job, usual_terms
from party.settings.party import ColumnSettings, PartyConfig, read_party_config
from party.settings.place import CONFIG_FILE
from party.show import costs
from party.show import ledger as words
from party.show.assessment import past_json, past_lines, run_json, run_lines
from party.show.check import check_json, check_parts
from party.show.notices import note_on_job, notes_once
from party.show.page.parts import check_page_name, page_written, written
from party.show.privacy_short import own_odds, reading_json, reading_line
from party.show.progress import Work, shown_work
from party.show.rehearsal import job_lines, own_lines, rehearsal_json, rehearsal_page
from party.show.screen import json_text, put_json, say, say_all
from protocols.errors import InputError
from protocols.terms import ALL, KEY_FLOOR, BayesTerms, Method, MiningTerms, TermError, Terms, TreeTerms, Window
from protocols.two_party.inputs import PartyInputs, held_out_records, training_records
from protocols.two_party.memory import bare_head


def command_check(arguments: argparse.Namespace) -> int:
    config = read_party_config(arguments.party)
    notices: list[Notice | ReleasedBefore] = []
    local = load_common(config, KEY_FLOOR, notices.extend)
    terms = None
    if arguments.job is not None:
        terms = read_job(arguments.job, people=local.listed, classes=local.classes_listed).terms
        note_on_job(arguments.job, terms)
    peer_columns = len(local.attributes) or 1 if arguments.peer_columns is None else arguments.peer_columns
    need_least("--peer-columns", peer_columns, 1)
    found = check_party(local, config, terms, peer_columns, str if arguments.json else printable)
    parts = check_parts(found, config.agree, notices, full=arguments.full)
    give(arguments, check_json(found, config.agree, notices), parts, laid_out=True)
    if not found.is_usual and found.run.flaw is not None:
        raise found.run.flaw
    return 0


def command_status(arguments: argparse.Namespace) -> int:
    config = read_party_config(arguments.party, KEY_FLOOR)
    records = recorded_runs(config.folder, load_secret(config.folder))
    approvals, found = config.agree.approvals, list[Proposal]()
    if has_ledger(config.folder):
        with read_ledger(config.folder, load_secret(config.folder)) as ledger:
            found = proposals(ledger.entries(), signed_here(config.folder))
    jobs = [each for each in found if arguments.all or each.waits(approvals)]
    lines = [
        *words.proposal_lines(jobs, approvals),
        *words.open_run_lines(records, is_locked(config.folder), ended=arguments.all),
    ]
    shown = {**words.runs_json(records, ended=arguments.all), **words.proposals_json(jobs, approvals)}
    return give(arguments, shown, lines)


def _decide(arguments: argparse.Namespace, *, approved: bool) -> int:
    config = _party_of_run(arguments)
    secret, approvals = load_secret(config.folder), config.agree.approvals
    decided = decide(config.folder, secret, arguments.run_name, arguments.name, approved=approved)
    content = {"format": "cotally-decision/1", **words.proposals_json([decided], approvals)}
    return give(arguments, content, [words.decided_line(decided, approvals)])


command_approve, command_refuse = partial(_decide, approved=True), partial(_decide, approved=False)


def _party_of_run(arguments: argparse.Namespace) -> PartyConfig:
    if (Path(arguments.run_name) / CONFIG_FILE).is_file():
        raise InputError(f"{arguments.run_name} is a party: name the run after it, as `cotally status` shows it")
    return read_party_config(arguments.party, KEY_FLOOR)


def command_cancel(arguments: argparse.Namespace) -> int:
    config = _party_of_run(arguments)
    if not is_there(config.folder / JOURNAL_FILE):
        raise unknown_run(arguments.run_name)  # and makes no journal
    with open_journal(config.folder, load_secret(config.folder)) as journal:
        cancelled = cancel_run(journal, arguments.run_name, date_text(now()))
    return give(arguments, words.runs_json([cancelled], ended=True), [words.cancelled_text(cancelled)])


def command_ledger(arguments: argparse.Namespace) -> int:
    if arguments.output is not None and arguments.action != "export":
        raise InputError("--output is for export: leave it out")
    config = read_party_config(arguments.party, KEY_FLOOR)
    folder = config.folder
    settle_outputs([arguments.output], [config.path, folder / LEDGER_FILE], overwrite=arguments.overwrite)
    with read_ledger(folder, load_secret(folder)) as ledger:
        if arguments.action == "show":
            found = dealings(ledger.entries())
            lines = [line for each in found for line in words.dealings_lines(each, full=arguments.full)]
            return give(arguments, words.dealings_json(found), lines or [words.NOTHING_YET])
        if arguments.action == "verify":
            known = peers(ledger.entries())
            heads = [(peer, bare_head(last_head(ledger.entries(), peer)), ledger.head(peer)) for peer in known]
            lines = [words.whole_line(ledger.path, len(ledger)), *(words.head_line(*head) for head in heads)]
            return give(arguments, words.whole_json(len(ledger), heads), lines)
        entries = [{"number": each.number, **each.content, "chain": each.digest.hex()} for each in ledger.entries()]
    content = {"format": f"cotally-ledger/{LEDGER_VERSION}", "entries": entries}
    if arguments.output is None:
        put_json(content)
    else:
        write_atomically(arguments.output, f"{json_text(content)}\n")
        say(words.ledger_written_line(arguments.output, len(entries)))
    return 0


def command_plan(arguments: argparse.Namespace) -> int:
    for option in ("peer_columns", "splits", "records", "workers"):
        need_least(f"--{option.replace('_', '-')}", getattr(arguments, option), 1)
    rate = inf if arguments.megabits is None else arguments.megabits * 1e6
    line = Line(rate, delay=(arguments.delay or 0.0) / 1e3)
    config = read_party_config(arguments.party)
    local = load_common(config, KEY_FLOOR, notes_once())
    job = read_job(arguments.job, people=local.listed, classes=local.classes_listed)
    check_job(local, config, job)  # as the run would be, of our own people
    note_on_job(arguments.job, job.terms)
    if arguments.records:
        job = read_job(arguments.job, people=arguments.records, classes=local.classes_listed)
    if (refused := _plan_training(arguments, config, local, job.terms, line)) is not None:
        raise refused
    return 0


def _plan_training(
    arguments: argparse.Namespace, config: PartyConfig, local: PartyInputs, terms: Terms, line: Line
) -> InputError | None:
    """Show what the run will cost and reveal, and return why we would refuse it."""
    columns = arguments.peer_columns or len(local.attributes) or 1
    supposed = Supposed(columns, arguments.records, arguments.splits)
    mean = sum(each.size for each in local.attributes) / len(local.attributes) if local.attributes else 2
    design = local.design(terms.theta, class_is_shared=False) if terms.disguises else None
    sizes = supposed_run(local, terms, supposed)
    rules = guess_rules(local, terms, arguments.records) if isinstance(terms, MiningTerms) else None
    means = _means(local, terms, config.compute, arguments.workers)
    expected = forecast(sizes, terms, means, arguments.splits, line, rules)
    others = [(each, forecast(sizes, each, means, arguments.splits, line)) for each in alternatives(terms)]
    found = assess(local, config, terms, supposed)
    before = past_before(local, config.folder)
    read = None if design is None else local.disclosed(design)
    if arguments.json:
        shown = costs.forecast_json(expected, sizes.records, (len(local.attributes), columns))
        shown |= {"ways": costs.ways_json(others), **past_json(before, config.agree, ())}
        put_json({**shown, "run": run_json(found), "read": reading_json(read)})
        return found.flaw
    lines = []
    if design is not None:
        if sends_copy(local, terms):
            lines += [*own_odds(local, design), reading_line(read, "our copy")]
        if not terms.counts_exactly and local.holds_class:
            lines += costs.accuracy_outlook(design, held_out_records(sizes.records, terms.test))
        lines += costs.ranking_outlook(local, design, terms, training_records(sizes.records, terms))
    lines += [*past_lines(before, config.agree), *run_lines(found, before, config.agree)]
    lines.append(costs.guessed_line(columns, round(mean), columns_known=arguments.peer_columns is not None))
    lines += costs.supposed_line(arguments.records, arguments.workers, line)
    lines += [costs.forecast_text(expected), *costs.ways_lines(others)]
    say_all([*lines, costs.caveat(terms), *costs.memory_lines(expected)])
    return found.flaw


def alternatives(terms: Terms) -> list[Terms]:
    """Return these terms with SMC alone and with windows of 1, 3 and all, where such a run can be."""
    if not isinstance(terms, TreeTerms) or not terms.counts_exactly:
        return [terms] if isinstance(terms, BayesTerms) else []
    ways: list[tuple[Method, Window]] = [(Method.SMC, ALL), *((Method.HYBRID, omega) for omega in (1, 3, ALL))]
    found: list[Terms] = []
    for method, omega in ways:
        with suppress(TermError):
            found.append(replace(terms, method=method, omega=omega))
    return found


def _means(local: PartyInputs, terms: Terms, settings: ComputeSettings, workers: int | None) -> Means:
    """Measure this machine, and return the speed of this many workers; None for as many as the settings say."""
    wanted = workers or settings.workers or available_cpus()
    here = min(wanted, available_cpus())
    at_home = replace(settings, workers=here, cluster=None)  # the private key of a mere plan goes nowhere
    with make_compute(at_home) as compute:
        means = measure(terms, local, compute.encryption, here)
    return replace(means, speed=means.speed.with_workers(wanted)) if isinstance(means, ByPaillier) else means


_DEALT = 0  # the seed by which the columns of a data set are dealt


@dataclass(frozen=True)
class _Source:
    """What is rehearsed on: settings that name the table, and what in it is the partner's."""

    config: PartyConfig
    class_name: str
    partner: tuple[str, ...]
    pilot: Path | None


def command_rehearse(arguments: argparse.Namespace) -> int:
    output: Path | None = arguments.output
    config = read_party_config(arguments.party)
    reads = [config.path, config.data.file, arguments.job, arguments.pilot]
    settle_outputs([output], reads, overwrite=arguments.overwrite)
    check_page_name("-o", output)
    path: Path | None = arguments.job
    if path is None and is_there(config.folder / JOB_FILE):
        path = config.folder / JOB_FILE
    with _source(arguments, config, path) as source:
        sides = rehearsed_sides(source.config, source.class_name, source.partner, source.pilot, notes_once())
    people, classes = sides.ours.listed, sides.holder.classes_listed
    job = None if path is None else read_job(path, people=people, classes=classes).terms
    terms = replace(job or usual_terms(None, people), class_name=source.class_name)
    if not isinstance(terms, TreeTerms) or not terms.test:
        here = "" if arguments.job is not None or path is None else f", as {path} is not"
        raise InputError(f"a tree is rehearsed, on held-out records{here}: name a job of one, whose test is above 0")
    if path is not None:
        note_on_job(path, terms)
    with shown_work(Work.REHEARSING) as show:
        found = rehearsed(sides, terms, show)
    own = None if arguments.data is not None else own_run(config, terms, len(sides.theirs.attributes))
    warnings = [*own_lines(own, people)]
    page = rehearsal_page(sides, found, [*job_lines(path, terms), *warnings])
    give(arguments, {**rehearsal_json(sides, found), "warnings": warnings}, page.parts, laid_out=True)
    if output is not None:
        write_atomically(output, written(page, output))
        say(page_written(output))
    return 0


@contextmanager
def _source(arguments: argparse.Namespace, config: PartyConfig, job: Path | None) -> Iterator[_Source]:
    if arguments.data is not None:
        with tempfile.TemporaryDirectory() as folder:
            yield _dealt(arguments.data, config, Path(folder) / f"{arguments.data}.csv")
        return
    name, pilot = arguments.class_name or config.data.class_column, arguments.pilot
    partner = tuple(filter(None, (arguments.partner or "").split(",")))
    if pilot is not None and not partner:
        raise InputError("--pilot needs --partner: name the columns that the partner would hold")
    if name is None and pilot is not None and job is not None:
        name = read_job(job).terms.class_name
    if name is None:
        raise InputError(
            f"{config.folder / CONFIG_FILE} names no class: set it under [data] if it is ours, else let a column of "
            "ours stand for it (--class COLUMN), or name a --pilot"
        )
    stands = pilot is None and config.data.class_column != name
    yield _Source(config, name, (*partner, name) if stands else partner, pilot)


def _dealt(name: str, config: PartyConfig, joined: Path) -> _Source:
    """Write a data set of the demo as a table of the columns of both."""
    halves = deal_dataset(name, _DEALT)
    columns = {column: cells for half in halves.of.values() for column, cells in half.columns.items()}
    joined.write_text(csv_text([halves.id_column, *columns], zip(halves.ids, *columns.values(), strict=True)), "utf-8")
    data = replace(config.data, ids=one_column(halves.id_column), form=USUAL, ignore=(), dataset=name)
    others = config.columns.others
    others = replace(others, max_values=others.max_values or config.agree.limits.most_values)
    plain = replace(config, data=data, columns=ColumnSettings({}, others))
    partner = next(tuple(half.columns) for party, half in halves.of.items() if party != ALICE)
    return _Source(replace(plain, disguise=type(config.disguise)(None, ())), halves.class_name, partner, joined)
