"""What a survey's answers say so far, for a screen and as a page."""

from collections.abc import Iterator, Sequence

from party.names import printable
from party.settings.collector import CollectorSettings
from party.survey.web.pages import results_page
from party.survey.web.results import ResultCell, ResultTable

_UNBIASED = "Estimates are unbiased: they may leave 0 to 100% where answers are few. Cutting them off would bias them."
_EXACT = "sent as they are: no coin's error is in them"


def results_so_far(tables: Sequence[ResultTable], confidence: float, *, weighted: bool) -> Iterator[str]:
    """Yield all tables."""
    for table in tables:
        yield f"{printable(_title(table))}: {_given(table)}"
        for cell in table.cells:
            share, low, high = _numbers(cell)
            yield f"  {printable(', '.join(cell.values))}: {share}, {100 * confidence:g}% interval {low} to {high}"
    yield _footer(weighted)


def results_html(
    settings: CollectorSettings, tables: Sequence[ResultTable], confidence: float, *, weighted: bool
) -> bytes:
    """Return all tables as a page that loads nothing."""
    shown = [
        {
            "title": _title(table),
            "given": _given(table),
            "rows": [[", ".join(cell.values), *_numbers(cell)] for cell in table.cells],
        }
        for table in tables
    ]
    heads = ["Answer", "Share", f"{100 * confidence:g}% from", "to"]
    return results_page(settings, {"tables": shown, "heads": heads, "footer": _footer(weighted)})


def _title(table: ResultTable) -> str:
    return " and ".join(table.columns)


def _given(table: ResultTable) -> str:
    told = f"{table.answers:,} of {table.records:,} gave an answer"
    if not table.cells:
        return f"{told}, too few to estimate from"
    return f"{told}, {_EXACT}" if table.plain else told


def _numbers(cell: ResultCell) -> tuple[str, str, str]:
    share, low, high = (f"{100 * number:.1f}%" for number in (cell.share, *cell.interval))
    return share, low, high


def _footer(weighted: bool) -> str:
    return f"Records are weighted by the population's shares. {_UNBIASED}" if weighted else _UNBIASED
