"""`cotally show`, `rules`, `report`: a model, or a finished run, a survey or baskets as one page."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from party.association.mining import rules_of, sets_of, threshold_of, write_result
from party.cli.outputs import fraction, need_least, settle_outputs
from party.cli.survey_report import survey_page
from party.data import check_table_name
from party.files import is_there, read_bytes, write_atomically
from party.keys.certificates import fingerprint, parse_certificate
from party.keys.keystore import load_secret
from party.models.any_file import model_json, read_result
from party.models.exports.pmml import pmml_of
from party.models.exports.python import python_of
from party.models.exports.readings import RuleList
from party.models.exports.schema import schema_of
from party.models.exports.sql import sql_of
from party.models.prediction import RankedBy, ranked_class
from party.node.check import past_of, released_copy, released_follows
from party.records.finished import finished_run, runs_alike
from party.records.ledger import read_ledger
from party.records.run_file import ReportError, TrainReport, read_train_report
from party.records.tally import dealings
from party.settings.party import read_party_config
from party.show.baskets import joint_parts, joint_rule_parts, rules_json, sets_json
from party.show.document import Document
from party.show.page.drawings import shown
from party.show.page.parts import check_page_name, page_written, png_of, written
from party.show.page.run_page import Finished, card_of_run, page_of_run
from party.show.quality import worth_lines
from party.show.screen import drawing_width, lay_out, note, put_json, say, say_all
from protocols.association.joint import JointItemsets
from protocols.errors import InputError
from protocols.learning.tree import Tree
from protocols.terms import KEY_FLOOR

_MOST_CERTIFICATE = 1 << 16
_FAILED = 1
_USUAL_COSTS = "report.json"


def command_report(arguments: argparse.Namespace) -> int:
    need_least("--levels", arguments.levels, 0)
    if arguments.design is None:
        return _run_of_party(arguments)
    if arguments.card:
        raise InputError("--card is of a run's model: name a party")
    reads = [arguments.party, arguments.design, *(path for pair in arguments.more for path in pair)]
    _settle(arguments, [*reads, arguments.model])
    page, as_declared = survey_page(arguments)
    _write(arguments, page)
    return 0 if as_declared else _FAILED


def _settle(arguments: argparse.Namespace, reads: Sequence[Path | None]) -> None:
    settle_outputs([arguments.output], reads, overwrite=arguments.overwrite)
    check_page_name("-o", arguments.output)


def _run_of_party(arguments: argparse.Namespace) -> int:
    if arguments.ask or arguments.more or arguments.min_support is not None or arguments.confidence is not None:
        raise InputError("--ask, --and, --min-support and --confidence are for answers: name their design after them")
    config = read_party_config(arguments.party, KEY_FLOOR)
    path, folder = config.path, config.folder
    model = arguments.model or folder / "model.json"
    usual = folder / _USUAL_COSTS
    costs = arguments.costs or (usual if is_there(usual) else None)
    _settle(arguments, [path, model, costs])
    run = gathered(path, model)
    if costs is not None:
        run = replace(run, costs=_costs_of(costs, run, named=arguments.costs is not None))
    _write(arguments, (card_of_run if arguments.card else page_of_run)(run, arguments.levels))
    return 0


def _write(arguments: argparse.Namespace, page: Document) -> None:
    write_atomically(arguments.output, written(page, arguments.output))
    say(page_written(arguments.output))


def _costs_of(path: Path, run: Finished, *, named: bool) -> TrainReport | None:
    """Return what the run cost; None, and a note, where a file that was merely found cannot say it."""
    try:
        costs = read_train_report(path)
        if costs.run != (begun := run.run.begun.run):
            raise ReportError(f"{path} is of another run than {begun}, of which this model is: name its own")
    except InputError as error:
        if named:
            raise
        note(f"cotally: note: {error} (--costs); the page is without costs")
        return None
    return costs


def gathered(config_path: Path, model: Path) -> Finished:
    config = read_party_config(config_path, KEY_FLOOR)
    result = read_result(model)
    with read_ledger(config.folder, load_secret(config.folder)) as ledger:
        entries = list(ledger.entries())
    found = finished_run(entries, result.digest())
    if found is None:
        raise InputError(f"{model} is of no run in the ledger of {config.folder}: name the model of one (--model)")
    certificate = config.folder / "cert.pem"
    parsed = parse_certificate(read_bytes(certificate, _MOST_CERTIFICATE), str(certificate))
    return Finished(
        party=config.name,
        fingerprint=fingerprint(parsed),
        model=result,
        written=datetime.fromtimestamp(model.stat().st_mtime, UTC),
        run=found,
        dealings=next(d for d in dealings(entries) if (d.dataset, d.peer) == (found.begun.dataset, found.peer)),
        entries=len(entries),
        head=entries[-1].digest,
        past=replace(past_of(entries, found.begun.dataset), records=found.begun.records),
        agree=config.agree,
        copy=None if found.copy is None else released_copy(config, entries, found.copy),
        alike=runs_alike(entries, found),
        follows=released_follows(config, found, result),
    )


def command_show(arguments: argparse.Namespace) -> int:
    levels = arguments.levels
    need_least("--levels", levels, 0)
    if levels is not None and arguments.json:
        raise InputError("--json holds every level: leave --levels out")
    if arguments.png and sys.stdout.isatty():
        raise InputError("an image is not for a terminal: cotally show model.json --png > model.png")
    model = read_result(arguments.model)
    how = shown(model)
    if levels is not None and not how.levels:
        raise InputError(f"{arguments.model} is naive Bayes, which has no levels: leave --levels out")
    if arguments.json:
        sys.stdout.write(model_json(model))
    elif arguments.svg:
        sys.stdout.write(how.svg(model, levels))
    elif arguments.png:
        sys.stdout.buffer.write(png_of(how.svg(model, levels)))
    elif arguments.dot:
        if how.dot is None:
            raise InputError(f"{arguments.model} holds no tree: draw it by --svg or --png, not by --dot")
        sys.stdout.write(how.dot(model, levels))
    else:
        lay_out(how.blocks(model, levels, ()), drawing_width())
        say_all([] if isinstance(model, JointItemsets) else worth_lines(model))
    return 0


def command_export(arguments: argparse.Namespace) -> int:
    settle_outputs([arguments.output], [arguments.model], overwrite=arguments.overwrite)
    found = read_result(arguments.model)
    if arguments.ranked is not None and arguments.way != "sql":
        raise InputError("--ranked is for --as sql: pmml and python give the share of each class where it is known")
    if arguments.way == "json-schema":
        text = schema_of(found)
    else:
        model = RuleList(found) if isinstance(found, JointItemsets) else found
        ranked = None
        if arguments.ranked is not None:
            if not isinstance(model, Tree):
                raise InputError("only a tree has shares in SQL: leave --ranked out, or export naive Bayes as python")
            ranked = ranked_class(model, RankedBy(arguments.ranked))
        if arguments.way == "sql":
            text = sql_of(model, ranked) + "\n"
        else:
            text = pmml_of(model) if arguments.way == "pmml" else python_of(model)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_atomically(arguments.output, text)
        say(f"Wrote {arguments.output}.")
    return 0


def command_rules(arguments: argparse.Namespace) -> int:
    least = arguments.min_threshold
    wanted = threshold_of(arguments.metric, None if least is None else fraction("--min-threshold", least))
    settle_outputs([arguments.output], [arguments.model], overwrite=arguments.overwrite)
    check_table_name(arguments.output)
    found = read_result(arguments.model)
    if not isinstance(found, JointItemsets):
        raise InputError(
            f"{arguments.model} holds no itemsets: print what it holds by `cotally show {arguments.model}`"
        )
    columns = sets_of(found) if arguments.itemsets else rules_of(found, wanted)
    if arguments.output is not None:
        write_result(arguments.output, columns)
    if arguments.json:
        put_json(sets_json(columns) if arguments.itemsets else rules_json(columns))
        return 0
    lay_out(joint_parts(found) if arguments.itemsets else joint_rule_parts(found, wanted), drawing_width())
    if arguments.output is not None:
        say(f"Wrote {arguments.output}.")
    return 0
