"""What a run will cost, in words."""

import os
from collections.abc import Sequence
from math import hypot, inf, log2

from party.forecast.model import Forecast, Line
from party.names import printable
from party.show.assessment import counts_kind
from protocols.randomized_response.moments import gain_error, noise, records_to_tell, tells
from protocols.randomized_response.related_question import RelatedDesign
from protocols.terms import ALL, OMEGA, Method, Terms
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.secure import SharedKey

_CAVEAT_OF_RULES = (
    "Traffic and memory follow from the sizes; how many sets are counted is played through with a peer "
    "that has columns like ours, about other people."
)
_CAVEAT = "The forecast assumes a tree as large as the terms allow on noisy data: a smaller one costs less."

_MEBIBYTE = 1 << 20
_TELLING = 0.05  # of the entropy of the class: what few columns gain
_MINUTES_FROM, _HOURS_FROM = 100, 7200  # seconds


def caveat(terms: Terms) -> str:
    return _CAVEAT if terms.rules is None else _CAVEAT_OF_RULES


def forecast_text(expected: Forecast) -> str:
    return (
        f"about {_time(expected.seconds)}, {expected.bytes / 1e6:.1f} MB in all, "
        f"{expected.memory / _MEBIBYTE:.0f} MiB of memory, {expected.round_trips} round trips"
    )


def memory_lines(expected: Forecast) -> list[str]:
    here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if expected.memory <= here:
        return []
    less = "lower max_depth, or bring fewer columns, values or records"
    return [f"Warning: this machine has {here / _MEBIBYTE:,.0f} MiB of memory, the run takes more: {less}."]


def _time(seconds: float) -> str:
    if seconds < _MINUTES_FROM:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < _HOURS_FROM else f"{seconds / 3600:.1f} h"


def supposed_line(records: int | None, workers: int | None, line: Line) -> list[str]:
    parts = [
        *([] if records is None else [f"{records:,} records like ours"]),
        *([] if workers is None else [f"{workers:,} workers at each party, each on a processor like ours"]),
        *([] if line.rate == inf else [f"a line of {line.rate / 1e6:g} Mb/s"]),
        *([] if line.delay == 0 else [f"a delay of {line.delay * 1e3:g} ms each way"]),
    ]
    return [f"Supposed: {'; '.join(parts)}"] if parts else []


def guessed_line(columns: int, values: int, *, columns_known: bool) -> str:
    known = f"{columns} columns as given" if columns_known else f"{columns} columns, as many as ours"
    better = "" if columns_known else "; better with --peer-columns"
    return f"The peer's data are a guess: {known}, {values} values each, the mean of ours{better}"


def ways_lines(ways: Sequence[tuple[Terms, Forecast]]) -> list[str]:
    if not ways:
        return []
    rows = [
        (
            f"{terms.method} ω={OMEGA.text(terms.omega)}" if terms.ranks else str(terms.method),
            _time(cost.seconds),
            f"{cost.bytes / 1e6:.1f} MB",
            f"{cost.round_trips} round trips",
            f"at most {cost.counts:,} {counts_kind(terms)}" if cost.bits is None else f"at most {cost.bits:,} bits",
        )
        for terms, cost in ways
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["Side by side:", *("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)]


def ways_json(ways: Sequence[tuple[Terms, Forecast]]) -> list[dict[str, object]]:
    return [
        {
            "method": str(terms.method),
            "omega": None if terms.omega is ALL else terms.omega,
            "seconds": cost.seconds,
            "bytes": round(cost.bytes),
            "round_trips": cost.round_trips,
            "counts_at_most": cost.counts,
        }
        for terms, cost in ways
    ]


def accuracy_outlook(design: RelatedDesign, tested: int) -> list[str]:
    if not tested:
        return []
    error = min((noise(design, group, tested) / tested for group in range(len(design.groups))), default=0.0)
    if tells(error):
        return []
    few = f"Accuracy: {tested} held-out records will be too few to estimate it from disguised copies"
    enough = f"it takes about {records_to_tell(tested, error):,} or more"
    return [f"{few} (standard error of about {error:.3f} or more); {enough}"]


def ranking_outlook(local: PartyInputs, design: RelatedDesign, terms: Terms, records: int) -> list[str]:
    if terms.method != Method.HYBRID or terms.omega == ALL:
        return []
    classes = local.class_attribute.size if local.class_attribute else 2
    odds = float(terms.theta / (1 - terms.theta))
    of_class = (odds - 1) / (odds + classes - 1)
    errors = {}
    for group, columns in enumerate(design.groups):
        own = float(design.contrast(group))
        for column in columns:
            attribute = local.table.attributes[column]
            sides = (own * of_class,) if local.holds_class else (own, of_class)
            each = [gain_error(records, attribute.size, classes, contrast) for contrast in sides]
            errors[attribute.name, attribute.size] = hypot(*each) / 2
    if not errors:
        return []
    (name, values), error = max(errors.items(), key=lambda item: item[1])
    if error < _TELLING * log2(classes):
        return []
    whole = log2(classes)
    off = f"that of {printable(name)} ({values} values) may be off by {min(error, whole):.2g} bits"
    start = f"Ranking: with {records:,} records estimated gains are mostly noise: {off} (of at most {whole:.2g})."
    better = "Fewer values, more records or a theta further from 1/2 help; smc uses no estimates"
    return [f"{start} {better}"]


def key_text(key: SharedKey) -> str:
    compare = "both screens must show the same; compare by telephone"
    return f"Encryption key of {key.holder} ({compare}): {key.fingerprint}"


def forecast_json(expected: Forecast, records: int, columns: tuple[int, int]) -> dict[str, object]:
    return {
        "format": "cotally-forecast/2",
        "records": records,
        "columns": list(columns),
        "seconds": expected.seconds,
        "bytes": round(expected.bytes),
        "memory": round(expected.memory),
        "round_trips": expected.round_trips,
    }
