"""What the collector of a survey reads on the screen."""

from collections.abc import Iterator
from math import isinf
from pathlib import Path

from party.names import printable
from party.settings.survey import Questionnaire
from party.show.document import Document, Grid, PageSection, headed
from party.show.privacy_short import certain_lines, epsilon, listed
from party.survey.web.results import ResultCell, ResultTable, SurveyResults
from party.survey.web.store import StoreStatus, SurveyStage
from party.survey.web.submissions import Cut
from protocols.privacy.loss import shared_coins
from protocols.randomized_response.estimate import quantile
from protocols.survey.mining import Accuracy, BitDesign

STAGES = {
    SurveyStage.OPEN: "open: each answer stands beside the digest of its code",
    SurveyStage.TESTING: "testing its model: it takes no answers, and one bit from each who gave one",
    SurveyStage.CUT: "closed, but the store may still hold codes: run `cotally survey close` again",
    SurveyStage.CLOSED: "closed: no code is kept",
}


def drafted_lines(folder: Path) -> list[str]:
    settings = folder / "survey.toml"
    return [
        f"{settings} and {folder / 'design.toml'} are written: every key is explained there.",
        f"Next: `cotally privacy {folder / 'design.toml'}` shows what it discloses; then",
        f"  cotally survey links {settings} --number 100 -o links.csv",
        f"  cotally survey serve {settings}",
    ]


def links_line(number: int, path: Path) -> str:
    return (
        f"{number:,} links are in {path}: give it only to the person who sends them. Only their digests are kept here. "
        "Each is for one person, whose later answer takes the place of an earlier one until the survey closes."
    )


def serving_lines(address: str, listen: str, digest: str, enough: int | None) -> Iterator[str]:
    yield f"The survey listens on {listen}; links begin with {address}"
    yield f"The page's SHA-256 is {digest}, for everybody who loads it."
    if enough is not None:
        yield f"It closes with {enough:,} answers."


def cut_line(why: Cut) -> str:
    """Say that a connection was cut: of many only the first in a minute is said, and never whose it was."""
    cause = (
        "its other end did not read what it asked for" if why is Cut.UNREAD else "the head of a request was too long"
    )
    return f"cotally: note: a connection was ended, as {cause}; others are served"


def shared_lines(questionnaire: Questionnaire) -> list[str]:
    design, names = questionnaire.design, [printable(name) for name in questionnaire.names]
    shared = [listed([names[column] for column in design.groups[group]]) for group in shared_coins(design)]
    how = f"`cotally privacy {questionnaire.path} --pilot TABLE` shows how many whole records a collector reads"
    return [f"{each} share a coin and give each other away: {how}." for each in shared]


def turned_lines(digest: str) -> Iterator[str]:
    yield f"A model has been published: links now lead to the second page, whose SHA-256 is {digest}."


def published_lines(settings: Path, bit: BitDesign, digest: str) -> Iterator[str]:
    yield "The model is published: no further answers are taken, and no other model is ever tested."
    yield f"`cotally survey serve {settings}` leads links to the second page, within seconds if it runs already."
    yield f"That page's SHA-256 is {digest}, for everybody who loads it. `results` shows the rest."
    yield f"Of each respondent who opens it, {bit_text(bit)}"


def bit_text(bit: BitDesign) -> str:
    sure = "certainty (epsilon infinite)" if isinf(bit.loss) else f"epsilon {epsilon(bit.loss)}"
    return f"a bit discloses whether the model is right about the personal answers, with {sure}."


def live_line(address: str, every: int) -> str:
    return f"Results are at {address} only on this machine, and load again every {every} seconds."


def collected_lines(status: StoreStatus) -> Iterator[str]:
    yield f"The survey is {STAGES[status.stage]}."
    yield f"{status.answered:,} answers" + (f", {status.links:,} links" if status.links else "")


def closed_line(answered: int) -> str:
    return f"The survey is closed with {answered:,} answers. No code is kept, and nothing ties an answer to one."


def page_lines(path: Path, digest: str) -> list[str]:
    return [f"{path}  SHA-256 {digest}"]


def exported_line(records: int, path: Path, design: Path) -> str:
    return f"{records:,} disguised answers are in {path}: `cotally estimate {path} {design} EXPRESSION` reads them."


def collected_json(status: StoreStatus) -> dict[str, object]:
    head = {"format": "cotally-survey-status/1", "stage": status.stage.name.lower()}
    return {**head, "answers": status.answered, "links": status.links}


_UNBIASED = "Estimates are unbiased: they may leave 0 to 100% where answers are few. Cutting them off would bias them."
_EXACT = "sent as they are: no coin's error is in them"


def results_document(title: str, found: SurveyResults) -> Document:
    limits = (f"{100 * found.confidence:g}% from", "to")
    corrected = any(cell.corrected is not None for table in found.tables for cell in table.cells)
    heads = headed("<Answer", "Share", *limits, *(("Corrected", *limits) if corrected else ()))
    sections = [
        PageSection(
            f"table-{number}",
            printable(" and ".join(table.columns)),
            [_given(table), Grid(heads, [_row(cell, found.confidence, corrected) for cell in table.cells])],
        )
        for number, table in enumerate(found.tables, 1)
    ]
    return Document(title, [*sections, PageSection("notes", "What holds for all tables", list(_notes(found)))])


def _row(cell: ResultCell, confidence: float, corrected: bool) -> list[str]:
    numbers = [*map(_percent, (cell.share, *cell.interval)), *([""] * 3 * corrected)]
    if cell.corrected is not None:
        share, half = float(cell.corrected.share), quantile(confidence) * cell.corrected.standard_error
        numbers[3:] = map(_percent, (share, share - half, share + half))
    return [printable(", ".join(cell.values)), *numbers]


def _given(table: ResultTable) -> str:
    line = f"{table.answers:,} of {table.records:,} gave an answer"
    if not table.cells:
        return f"{line}, too few to estimate from"
    return f"{line}, {_EXACT}" if table.plain else line


def _percent(number: float) -> str:
    return f"{100 * number:.1f}%"


def _notes(found: SurveyResults) -> Iterator[str]:
    yield from _tested(found)
    if found.at_random is not None:
        share, error = _percent(float(found.at_random.share)), _percent(found.at_random.standard_error)
        yield (
            f"{share} answer at random, standard error {error}, by the control {printable(', '.join(found.controls))}."
            + ("" if found.weighted else ' "Corrected" is the share among the others.')
        )
    elif found.controls:
        yield "Too few answered the control to estimate how many answer at random."
    yield from certain_lines(found.known)
    if found.weighted:
        yield "Records are weighted by the population's shares." + " Nothing is corrected." * bool(found.controls)
    yield _UNBIASED


def _tested(found: SurveyResults) -> Iterator[str]:
    if found.tested is None:
        return
    tested = found.tested
    yield f"{tested.count.bits:,} respondents tested the published model; {bit_text(tested.design)}"
    if tested.personal is not None and not tested.personal.standard_error:
        yield "All bits that came are alike: they give no interval, and so no share."
        return
    if tested.personal is not None:
        yield f"It is right about the personal answers of {_share(tested.personal, found.confidence)}."
    if tested.accuracy is not None:
        yield (
            f"Its accuracy on {tested.accuracy.records:,} responses held out is "
            f"{_share(tested.accuracy, found.confidence)}, the interval rather too wide than too narrow."
        )


def _share(measured: Accuracy, confidence: float) -> str:
    if isinf(measured.standard_error):
        return f"{_percent(measured.share)}, of one record alone"
    half = quantile(confidence) * measured.standard_error
    low, high = _percent(measured.share - half), _percent(measured.share + half)
    return f"{_percent(measured.share)}, {100 * confidence:g}% interval {low} to {high}"
