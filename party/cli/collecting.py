"""What `cotally survey` does."""

import argparse
import json
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from party.cli.outputs import form, fraction, give, settle_outputs
from party.data import check_table_name, read_frame
from party.data.writer import table_bytes
from party.errors import ConfigError
from party.files import new_file, write_atomically
from party.models.any_file import model_json, read_model
from party.names import Address, suggestion
from party.settings.collector import CollectorSettings, read_collector_settings
from party.settings.collector_template import (
    DESIGN_FILE_NAME,
    pilot_of,
    questions_of_table,
    typed_question,
    write_survey,
)
from party.show import collecting
from party.show.log import incident
from party.show.notices import tell
from party.show.page.parts import as_html, page_written, style_source
from party.show.privacy_short import LIKE_THE_PILOT, LIKE_THESE, reading_line
from party.show.progress import complain
from party.show.screen import note, note_all, put, say, say_all
from party.survey import read_codes, read_design, read_disguised
from party.survey.estimation import likely_reading, pilot_reading
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.pages import PageFile, form_page, has_form, main_page, test_page
from party.survey.web.results import SurveyResults, results_json, survey_results
from party.survey.web.round_two import HeldOut, check_publishable, model_test
from party.survey.web.store import (
    CODE_BYTES,
    AnswerStore,
    PublishedModel,
    SurveyStage,
    code_digest,
    code_of,
    disguised_answers,
    link_rows,
    response_codes,
)
from party.survey.web.submissions import Cut
from party.transport.clocks import Sparingly
from protocols.errors import InputError

RESULTS_FORMAT = "cotally-survey-results/1"

_MOST_LINKS = 10**6
_MOST_SECONDS = 86400


def _new(arguments: argparse.Namespace) -> int:
    if arguments.table is None:
        questions = [typed_question(text, position) for position, text in enumerate(arguments.question, 1)]
    else:
        frame = read_frame(arguments.table, form(arguments))
        tell(frame.notices)
        questions = questions_of_table(frame, arguments.column)
    theta = arguments.theta or ("2/3" if arguments.kind == "related" else "1/3")
    write_survey(arguments.folder, arguments.title, questions, arguments.kind, theta)
    say_all(collecting.drafted_lines(arguments.folder))
    if arguments.table is not None:
        asked = read_design(arguments.folder / DESIGN_FILE_NAME)
        say(reading_line(pilot_reading(read_codes(pilot_of(frame, questions), asked), asked), LIKE_THE_PILOT))
    return 0


def _links(arguments: argparse.Namespace) -> int:
    """Make links; their codes are in the file alone, which gets its name when all of them count."""
    settings = read_collector_settings(arguments.settings)
    if not 1 <= arguments.number <= _MOST_LINKS:
        raise InputError(f"must be 1 to {_MOST_LINKS}", field="number")
    settle_outputs([arguments.output], _reads(settings), overwrite=None)
    check_table_name(arguments.output)
    codes = [code_of(secrets.token_bytes(CODE_BYTES)) for _ in range(arguments.number)]
    with open_store(settings.store, survey_digest(settings.questionnaire), make=True) as store:
        links = zip(*link_rows(settings.server.address, codes), strict=True)
        with new_file(arguments.output, table_bytes(arguments.output, ["link", "code"], list(links)), 0o600):
            store.add_codes(map(code_digest, codes))
    say(collecting.links_line(len(codes), arguments.output))
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    settings = read_collector_settings(arguments.settings)
    apps, server = _web()
    enough = server.answers_needed(settings.questionnaire.design, settings.closing)

    def ready(address: Address) -> None:
        note_all(collecting.serving_lines(settings.server.address, str(address), app.front.digest, enough))
        threading.Thread(target=reading, daemon=True).start()  # the attack takes seconds; who answers does not wait

    def reading() -> None:
        asked = settings.questionnaire
        with _store(settings) as own:
            responses = own.responses()
        if responses:
            note(reading_line(likely_reading(response_codes(responses, asked), asked), LIKE_THESE))
        else:  # before there are answers: which questions give each other away
            note_all(collecting.shared_lines(asked))

    def turned(page: PageFile) -> None:
        note_all(collecting.turned_lines(page.digest))

    sparingly = Sparingly()

    def cut(found: Cut) -> None:
        if sparingly.may_say(found):
            note(collecting.cut_line(found))

    with _store(settings) as store:
        survey = apps.CollectorSurvey(
            settings, store, enough, fault=lambda error: complain(incident(error)), turned=turned
        )
        survey.close_if_due()
        app = apps.CollectorApp(survey)
        server.run_server(app, settings.server, ready, app.look, cut)
    return 0


def _publish(arguments: argparse.Namespace) -> int:
    settings = read_collector_settings(arguments.settings)
    asked, bit = settings.questionnaire, settings.round_two
    if bit is None:
        raise ConfigError(f"{settings.path} has no [round_two]: browsers have kept no personal answers to test by")
    test = fraction("--test", arguments.test)
    model, exported = read_model(arguments.model), read_disguised(arguments.disguised, asked)
    with _store(settings) as store:
        responses = store.responses()
        check_publishable(model, response_codes(responses, asked), exported, asked, HeldOut(test, arguments.seed))
        published = PublishedModel(model_json(model), str(bit.truth), str(test), arguments.seed)
        store.publish(published, responses)
    say_all(collecting.published_lines(settings.path, bit, test_page(settings, published).digest))
    return 0


def _status(arguments: argparse.Namespace) -> int:
    with _store(read_collector_settings(arguments.settings)) as store:
        status = store.status()
    return give(arguments, collecting.collected_json(status), collecting.collected_lines(status))


def _close(arguments: argparse.Namespace) -> int:
    with _store(read_collector_settings(arguments.settings)) as store:
        if store.status().stage is SurveyStage.CLOSED:
            raise ConfigError("the survey is closed already: see its answers by `cotally survey results`")
        store.close_survey()
        say(collecting.closed_line(store.status().answered))
    return 0


def _export(arguments: argparse.Namespace) -> int:
    settings = read_collector_settings(arguments.settings)
    path, design = arguments.output, settings.questionnaire.path
    settle_outputs([path], _reads(settings), overwrite=arguments.overwrite)
    check_table_name(path)
    with _store(settings) as store:
        table = disguised_answers(store.responses(), settings.questionnaire)
    table.write(path)
    say(collecting.exported_line(len(table), path, design))
    return 0


def _results(arguments: argparse.Namespace) -> int:
    settings = read_collector_settings(arguments.settings)
    asked, population = settings.questionnaire, settings.population
    for name in (name for pair in arguments.cross for name in pair if name not in asked.names):
        raise InputError(f"there is no column {name!r}" + suggestion(name, asked.names))
    pairs = [(asked.names.index(first), asked.names.index(second)) for first, second in arguments.cross]
    settle_outputs([arguments.html], _reads(settings), overwrite=arguments.overwrite, options=["--html"])

    def current() -> SurveyResults:
        with _store(settings) as store:
            responses, published, bits = store.responses(), store.published(), store.bits()
        tested = None if published is None else model_test(published, bits, responses, asked)
        codes = response_codes(responses, asked)
        return replace(survey_results(codes, asked, pairs, arguments.confidence, population), tested=tested)

    if arguments.serve:
        return _serve_results(settings, current, arguments.every)
    found = current()
    page = collecting.results_document(settings.title, found)
    if arguments.html is not None:
        write_atomically(arguments.html, as_html(page))
    shown = page.parts if arguments.html is None else [page_written(arguments.html)]
    return give(arguments, {"format": RESULTS_FORMAT, **results_json(found)}, shown)


def _serve_results(settings: CollectorSettings, current: Callable[[], SurveyResults], every: int) -> int:
    if not 1 <= every <= _MOST_SECONDS:
        raise InputError(f"must be 1 to {_MOST_SECONDS} seconds", field="every")
    (apps, server), token = _web(), secrets.token_urlsafe(CODE_BYTES)

    def page() -> str:
        return as_html(collecting.results_document(settings.title, current()), every)

    page()  # refuse what cannot be shown before anything is served

    def ready(address: Address) -> None:
        say(collecting.live_line(f"http://{address}/{token}", every), sys.stderr)

    app = apps.make_live_app(token, page, style_source(), lambda error: complain(incident(error)))
    server.run_server(app, server.on_this_machine(settings.server), ready)
    return 0


def _page(arguments: argparse.Namespace) -> int:
    settings = read_collector_settings(arguments.settings)
    pages = {"page.html": main_page(settings)} | ({"form.html": form_page(settings)} if has_form(settings) else {})
    paths = {arguments.output / name: page for name, page in pages.items()}
    settle_outputs(paths, _reads(settings), overwrite=arguments.overwrite)
    for path, page in paths.items():
        write_atomically(path, page.body)
        say_all(collecting.page_lines(path, page.digest))
    return 0


def _texts(arguments: argparse.Namespace) -> int:
    texts = read_collector_settings(arguments.settings).texts
    put("\n".join(["[texts]", *(f"{name} = {json.dumps(text, ensure_ascii=False)}" for name, text in texts.items())]))
    return 0


def _reads(settings: CollectorSettings) -> list[Path]:
    return [settings.path, settings.questionnaire.path]


def _store(settings: CollectorSettings) -> AnswerStore:
    return open_store(settings.store, survey_digest(settings.questionnaire))


def _web() -> tuple[ModuleType, ModuleType]:
    """Return the modules of the survey that need the server's libraries: its application, and what serves it."""
    try:
        from party.survey.web import app, server  # noqa: PLC0415  # need an extra
    except ImportError as error:
        wanted = f"the survey's server needs {error.name}: pip install '.[collect]' in cotally's clone"
        raise ConfigError(wanted) from None
    return app, server


_ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "new": _new,
    "links": _links,
    "serve": _serve,
    "publish": _publish,
    "status": _status,
    "close": _close,
    "export": _export,
    "results": _results,
    "page": _page,
    "texts": _texts,
}


def command_survey(arguments: argparse.Namespace) -> int:
    return _ACTIONS[arguments.action](arguments)
