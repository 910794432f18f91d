"""How much of a copy its receiver reads, in one line and as JSON: the same wherever a copy is shown."""

from fractions import Fraction

from party.show.privacy_short import percent
from protocols.privacy.attack import CopyReading, Disclosure

LIKE_THE_PILOT = "a copy of a table like the pilot"
LIKE_THESE = "answers like these (estimated)"


def reading_line(found: Disclosure | None, copy_is: str = "this copy") -> str:
    """Say how many whole records a receiver reads, beside what one coin per column and mere guessing would.

    >>> few = CopyReading(200, 18, 700, 1000, columns=((140, 200),))
    >>> some = CopyReading(200, 170, 930, 1000, sure=122, columns=((190, 200),))
    >>> reading_line(Disclosure(few, few, few, few, shared=()))[:64]
    'A receiver of this copy reads 9.0% of whole records and 70.0% of'
    >>> reading_line(Disclosure(some, few, few, few, shared=(0,)))[-106:]
    'It is certain (99%) of 61.0% of records. Of the column that shows most it reads 95.0% (by guessing 70.0%).'
    """
    if found is None:
        return f"A receiver of {copy_is} sees every value: it hides nothing."
    copy, apart = found.copy, found.apart
    guess = max(found.values, found.record, key=lambda each: each.whole)
    less = [f"with one coin per column {_shares(apart)}"] if found.shared else []
    less.append(f"by guessing the commonest {_shares(guess)}")
    read = f"reads {percent(_whole(copy))} of whole records and {percent(_cells(copy))} of cells"
    sure = "no record" if not copy.sure else f"{percent(Fraction(copy.sure, copy.records))} of records"
    column, common = map(percent, found.clearest)
    clearest = f"Of the column that shows most it reads {column} (by guessing {common})."
    return f"A receiver of {copy_is} {read} ({'; '.join(less)}). It is certain (99%) of {sure}. {clearest}"


def reading_json(found: Disclosure | None) -> dict[str, object] | None:
    """Return how much of a copy its receiver reads, for programs, as shares; None where nothing is hidden."""
    if found is None:
        return None
    return {
        "records_looked_at": found.copy.records,
        "whole_records": float(_whole(found.copy)),
        "cells": float(_cells(found.copy)),
        "certain_records": found.copy.sure / found.copy.records,
        "clearest_column": dict(zip(("cells", "commonest"), map(float, found.clearest), strict=True)),
        "one_coin_per_column": {"whole_records": float(_whole(found.apart)), "cells": float(_cells(found.apart))},
        "commonest_values": {"whole_records": float(_whole(found.values)), "cells": float(_cells(found.values))},
        "commonest_record": {"whole_records": float(_whole(found.record)), "cells": float(_cells(found.record))},
    }


def _shares(reading: CopyReading) -> str:
    return f"{percent(_whole(reading))} and {percent(_cells(reading))}"


def _whole(reading: CopyReading) -> Fraction:
    return Fraction(reading.whole, reading.records)


def _cells(reading: CopyReading) -> Fraction:
    return Fraction(reading.cells, reading.of)
