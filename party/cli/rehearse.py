"""`cotally rehearse`: what a model would be worth, played here, before anything leaves."""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from party.cli.outputs import give, settle_outputs
from party.data import csv_text
from party.data.form import USUAL
from party.data.ids import one_column
from party.demo.data import ALICE, deal_dataset
from party.files import is_there, write_atomically
from party.node.rehearsal import own_run, rehearsed, rehearsed_sides
from party.settings.job import JOB_FILE, read_job, usual_terms
from party.settings.party import ColumnSettings, PartyConfig, read_party_config
from party.show.drawing import shown_work
from party.show.notices import note_on_job, notes_once
from party.show.page.parts import PAGES, page_written, written
from party.show.progress import Work
from party.show.rehearsal import job_lines, own_lines, rehearsal_json, rehearsal_page
from party.show.screen import say
from protocols.errors import InputError
from protocols.terms import TreeTerms

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
    if output is not None and output.suffix.lower() not in PAGES:
        raise InputError(f"-o {output} must end in one of {', '.join(PAGES)}")
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
        raise InputError("the class is not ours: let a column of ours stand for it (--class COLUMN), or name a --pilot")
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
