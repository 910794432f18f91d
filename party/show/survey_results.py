"""What a survey's answers say so far, for a screen and as a page."""

from collections.abc import Iterator
from math import isinf

from party.names import printable
from party.settings.collector import CollectorSettings
from party.show.collecting import bit_text
from party.show.known import certain_lines
from party.survey.web.pages import PageFile, results_page
from party.survey.web.results import ResultCell, ResultTable, SurveyResults
from protocols.randomized_response.estimate import quantile
from protocols.survey.mining import Accuracy

_UNBIASED = "Estimates are unbiased: they may leave 0 to 100% where answers are few. Cutting them off would bias them."
_EXACT = "sent as they are: no coin's error is in them"


def results_so_far(found: SurveyResults) -> Iterator[str]:
    """Yield all tables."""
    for table in found.tables:
        yield f"{printable(_title(table))}: {_given(table)}"
        for cell in table.cells:
            share, low, high = _numbers(cell)
            corrected = _corrected(cell, found.confidence)
            yield (
                f"  {printable(', '.join(cell.values))}: {share}, {100 * found.confidence:g}% interval {low} to {high}"
                + (f"; corrected {corrected[0]}, {corrected[1]} to {corrected[2]}" if corrected else "")
            )
    yield from _notes(found)


def results_html(settings: CollectorSettings, found: SurveyResults, refresh: int | None = None) -> PageFile:
    """Return all tables as a page that loads nothing.

    Args:
        settings: Of the survey.
        found: What to show.
        refresh: Seconds after which the browser is to load it anew; never if not given.
    """
    is_corrected = any(cell.corrected is not None for table in found.tables for cell in table.cells)
    shown = [
        {"title": _title(table), "given": _given(table), "rows": [_row(c, found, is_corrected) for c in table.cells]}
        for table in found.tables
    ]
    percent = f"{100 * found.confidence:g}%"
    heads = ["Answer", "Share", f"{percent} from", "to"]
    heads += ["Corrected", f"{percent} from", "to"] if is_corrected else []
    words = {"tables": shown, "heads": heads, "notes": list(_notes(found)), "refresh": refresh}
    return results_page(settings, words)


def _row(cell: ResultCell, found: SurveyResults, is_corrected: bool) -> list[str]:
    corrected = _corrected(cell, found.confidence) or ("", "", "")
    return [", ".join(cell.values), *_numbers(cell), *(corrected if is_corrected else ())]


def _title(table: ResultTable) -> str:
    return " and ".join(table.columns)


def _given(table: ResultTable) -> str:
    told = f"{table.answers:,} of {table.records:,} gave an answer"
    if not table.cells:
        return f"{told}, too few to estimate from"
    return f"{told}, {_EXACT}" if table.plain else told


def _numbers(cell: ResultCell) -> tuple[str, str, str]:
    share, low, high = map(_percent, (cell.share, *cell.interval))
    return share, low, high


def _corrected(cell: ResultCell, confidence: float) -> tuple[str, str, str] | None:
    """Return the share among those who do not answer at random, and its interval, where that is known."""
    if cell.corrected is None:
        return None
    share, half = float(cell.corrected.share), quantile(confidence) * cell.corrected.standard_error
    return _percent(share), _percent(share - half), _percent(share + half)


def _percent(number: float) -> str:
    return f"{100 * number:.1f}%"


def _notes(found: SurveyResults) -> Iterator[str]:
    """Yield what holds for all tables."""
    yield from _tested(found)
    if found.at_random is not None:
        share, error = _percent(float(found.at_random.share)), _percent(found.at_random.standard_error)
        yield (
            f"{share} answer at random, standard error {error}, by the control {printable(', '.join(found.controls))}."
            + ("" if found.weighted else ' "Corrected" is the share among the others.')
        )
    elif found.controls:
        yield "Too few answered the control to tell how many answer at random."
    yield from certain_lines(found.known)
    if found.weighted:
        yield "Records are weighted by the population's shares." + " Nothing is corrected." * bool(found.controls)
    yield _UNBIASED


def _tested(found: SurveyResults) -> Iterator[str]:
    """Yield what respondents say of a model that was published."""
    if found.tested is None:
        return
    tested = found.tested
    yield f"{tested.count.bits:,} respondents tested the published model; {bit_text(tested.design)}"
    if tested.personal is not None and not tested.personal.standard_error:
        yield "All bits that came are alike: no interval can be told, and so no share."
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
