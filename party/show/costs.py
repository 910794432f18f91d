"""What a run will cost, in words, and what factors made ahead are good for."""

from math import inf

from party.forecast.model import Forecast, Line
from party.keys.factors import FactorsUse
from protocols.randomized_response.moments import noise
from protocols.randomized_response.precision import records_to_tell, tells
from protocols.randomized_response.related_question import RelatedDesign
from protocols.terms import Cipher, Terms

_CAVEAT_OF_RULES = (
    "Encryption, traffic and memory follow from the sizes; how many sets are counted is played through with a peer "
    "that has our columns over again, of other people."
)
_CAVEAT = (
    "Encryption, traffic and memory follow from the sizes; the tree is a guess (grown to the end on noisy data): with "
    "clean classes there are fewer counts and round trips."
)

_MEBIBYTE = 1 << 20
_MINUTES_FROM, _HOURS_FROM = 100, 7200  # seconds


def caveat(terms: Terms) -> str:
    """Say what of a forecast is a guess."""
    return _CAVEAT if terms.rules is None else _CAVEAT_OF_RULES


def forecast_text(expected: Forecast) -> str:
    """Return a forecast in one line, without false precision."""
    return (
        f"about {_time(expected.seconds)}, {expected.bytes / 1e6:.1f} MB in all, "
        f"{expected.memory / _MEBIBYTE:.0f} MiB of memory, {expected.round_trips} round trips"
    )


def _time(seconds: float) -> str:
    if seconds < _MINUTES_FROM:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < _HOURS_FROM else f"{seconds / 3600:.1f} h"


def supposed_line(records: int | None, workers: int | None, line: Line) -> list[str]:
    """Say what a forecast supposes in place of our table, our processors and a line that costs nothing.

    Args:
        records: How many there are to be; None for those of our table.
        workers: Processes of each party; None for ours.
        line: Between the parties.
    """
    parts = [
        *([] if records is None else [f"{records:,} records like ours"]),
        *([] if workers is None else [f"{workers:,} workers at each party, each on a processor like ours"]),
        *([] if line.rate == inf else [f"a line of {line.rate / 1e6:g} Mb/s"]),
        *([] if line.delay == 0 else [f"a delay of {line.delay * 1e3:g} ms each way"]),
    ]
    return [f"Supposed: {'; '.join(parts)}"] if parts else []


def guessed_line(columns: int, values: int, *, columns_known: bool, patterns_known: bool) -> str:
    """Say what a forecast takes the peer's data for.

    Args:
        columns: Attributes of the peer.
        values: Of each of them.
        columns_known: Whether we were told how many attributes there are.
        patterns_known: Whether we were told how many coin patterns there are, or they cost nothing.
    """
    known = f"{columns} columns as told" if columns_known else f"{columns} columns, as many as ours"
    patterns = "" if patterns_known else ", as many coin patterns as ours"
    options = [
        *([] if columns_known else ["--peer-columns"]),
        *([] if patterns_known else ["--peer-patterns"]),
    ]
    better = f"; better with {' and '.join(options)}" if options else ""
    return f"The peer's data are a guess: {known}, {values} values each, the mean of ours{patterns}{better}"


def accuracy_outlook(design: RelatedDesign, tested: int) -> list[str]:
    """Say so where an accuracy that is estimated from disguised copies alone will tell nothing.

    Args:
        design: Of our copy; the peer's is taken for no better.
        tested: How many records are held out; of none no accuracy is told.
    """
    if not tested:
        return []
    error = min((noise(design, group, tested) / tested for group in range(len(design.groups))), default=0.0)
    if tells(error):
        return []
    few = f"Accuracy: {tested} held-out records will be too few to tell it from disguised copies"
    enough = f"it takes about {records_to_tell(tested, error):,} or more"
    return [f"{few} (standard error of about {error:.3f} or more); {enough}"]


def factors_use_lines(use: FactorsUse) -> list[str]:
    """Say what became of factors made ahead; nothing where there were none."""
    counts = f"{use.used} factors made ahead were used, {use.left} are left"
    return [
        *([discarded_text(use.discarded)] if use.discarded else []),
        *([use.flaw] if use.flaw else [counts] if use.used or use.left else []),
    ]


def discarded_text(factors: int) -> str:
    """Say that factors were discarded, and why."""
    return (
        f"{factors} factors made ahead were discarded: after they were made, this machine was restarted, its clock was "
        "set, or the folder was copied or restored"
    )


def factors_text(cipher: Cipher, left: int, size: int) -> str:
    """Say how many factors of a cipher are left, and how large their file is."""
    return f"{left} factors are left for {cipher}, {size / _MEBIBYTE:.1f} MiB, until this machine is restarted"


def need_text(left: int, each: int, records: int) -> str:
    """Say what the factors left are good for for a given number of records and of factors per record."""
    enough = f"enough for {left // each} records" if each else "without groups none are used"
    return f"A record takes {each}: {enough}; this party's data have {records}"


def unknown_need(reason: object) -> str:
    """Say why it is not known what a run needs."""
    return f"What a run needs is not known: {reason}"


def forecast_json(expected: Forecast, records: int, columns: tuple[int, int]) -> dict[str, object]:
    """Return a forecast for programs.

    Args:
        expected: The forecast.
        records: Of how many it is.
        columns: Attributes of ours and of the peer.
    """
    return {
        "format": "cotally-forecast/2",
        "records": records,
        "columns": list(columns),
        "seconds": expected.seconds,
        "bytes": round(expected.bytes),
        "memory": round(expected.memory),
        "round_trips": expected.round_trips,
    }


def factors_json(
    cipher: Cipher, left: int, size: int, discarded: int, need: tuple[int, int] | None
) -> dict[str, object]:
    """Return for programs how many factors there are, and how many a record takes, of how many; None if unknown."""
    head = {
        "format": "cotally-factors-left/1",
        "cipher": cipher.value,
        "left": left,
        "bytes": size,
        "discarded": discarded,
    }
    each, records = need or (None, None)
    return {**head, "factors_of_a_record": each, "records": records}
