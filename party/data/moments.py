"""Days, times and durations as texts: one for each, as ISO 8601 and PostgreSQL write them.

A day is read where its form shows which number is the year and which the month: `2024-05-31`, `2024/05/31`,
`31.5.2024`; in `5/6/2024` some put the month first, others the day. A time may follow, as databases write it, with a
zone or without. A duration is days and a clock (`1 day 02:00:00`); one of less than a day looks as a time of day does.
"""

import re
from datetime import date
from decimal import Decimal

_DAY = r"(?:(\d{4})([-/.])(\d\d)\2(\d\d)|(\d\d?)\.(\d\d?)\.(\d{4}))"
_FRACTION = r"(?:[.,](\d{1,12}))?"
_CLOCK = rf"(\d\d?):([0-5]\d)(?::([0-5]\d){_FRACTION})?"
_ZONE = r"([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)"
_MOMENT = re.compile(rf"{_DAY}(?:[Tt ]{_CLOCK}(?: ?{_ZONE})?)?", re.ASCII)
_SPAN = re.compile(
    r"(?:([+-]?\d{1,9}) days?)?"
    rf"(?:(?:,? )?([+-]?)(?:(\d{{1,5}}):([0-5]\d):([0-5]\d){_FRACTION}|(\d\d?):([0-5]\d)))?",
    re.ASCII,
)
_ISO_SPAN = re.compile(
    r"(-?)P(?=[T\d])(?:(\d{1,9})D)?"
    rf"(?:T(?=\d)(?:(\d{{1,9}})H)?(?:(\d{{1,9}})M)?(?:(\d{{1,12}}){_FRACTION}S)?)?",
    re.ASCII,
)
_DAY_SECONDS = 86_400
_MOST_HOURS = 24  # of a clock without seconds: 30:15 may be anything


def day(text: str) -> Decimal | None:
    """Return the number of the day that a text plainly names, with or without a time, which is ignored; or None.

    >>> day("2024-05-31 23:59:59") == day("31.5.2024"), day("2024-02-30"), day("5/6/2024")
    (True, None, None)
    """
    match = _MOMENT.fullmatch(text)
    on = None if match is None else _date(match)
    return None if on is None else Decimal(on.toordinal())


def plain_moment(text: str) -> str | None:
    """Return the one text of a day, a time or a duration; None of anything else.

    >>> plain_moment("2024-05-31 00:00:00"), plain_moment("31.05.2024 9:30"), plain_moment("2024-05-31 12:30:00.50+02")
    ('2024-05-31', '2024-05-31T09:30:00', '2024-05-31T12:30:00.5+02:00')
    >>> plain_moment("0 days 01:30:00.000000"), plain_moment("PT90M"), plain_moment("1 day, 2:00:00")
    ('01:30:00', '01:30:00', '1 day 02:00:00')
    """
    match = _MOMENT.fullmatch(text)
    if match is None:
        seconds = _seconds(text)
        midnight = seconds == 0 and "d" not in text and "P" not in text
        return None if seconds is None else "00:00:00" if midnight else span_text(seconds)
    on = _date(match)
    if on is None:
        return None
    hours, minutes, seconds_text, fraction, zone = match.groups()[-5:]
    if hours is None:
        return on.isoformat()
    clock = f"{hours:0>2}:{minutes}:{seconds_text or '00'}{_after_point(fraction)}"
    told = _zone(zone or "")
    return on.isoformat() if clock == "00:00:00" and not told else f"{on.isoformat()}T{clock}{told}"


def span_text(seconds: Decimal) -> str:
    """Return the text of a duration.

    >>> span_text(Decimal("5400.50")), span_text(Decimal(172800)), span_text(Decimal(-60))
    ('01:30:00.5', '2 days', '-1 day 23:59:00')
    """
    days, rest = divmod(seconds, _DAY_SECONDS)
    if days < 0 or rest < 0:  # a remainder of Decimal has the sign of what is divided
        days, rest = (days - 1, rest + _DAY_SECONDS) if rest else (days, rest)
    whole, fraction = divmod(rest, 1)
    minutes, second = divmod(int(whole), 60)
    hour, minute = divmod(minutes, 60)
    clock = f"{hour:02}:{minute:02}:{second:02}{_after_point(format(fraction, 'f').partition('.')[2])}"
    called = f"{int(days)} day" + "s" * (abs(days) != 1)
    return clock if not days and rest else called if not rest else f"{called} {clock}"


def _date(match: re.Match[str]) -> date | None:
    year, _, month, of_month, first, second, last = match.groups()[:7]
    numbers = (last, second, first) if year is None else (year, month, of_month)
    try:
        return date(*map(int, numbers))
    except ValueError:
        return None


def _zone(zone: str) -> str:
    if not zone or zone.upper() in {"Z", "UTC", "GMT"}:
        return "Z" if zone else ""
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return "Z" if digits == "0000" else f"{zone[0]}{digits[:2]}:{digits[2:]}"


def _after_point(fraction: str | None) -> str:
    digits = (fraction or "").rstrip("0")
    return f".{digits}" if digits else ""


def _seconds(text: str) -> Decimal | None:
    """Return the length of a duration, or how long after midnight a time of day is."""
    if match := _ISO_SPAN.fullmatch(text):
        sign, days, hours, minutes, seconds, fraction = match.groups()
        length = _length(days, hours, minutes, seconds, fraction)
        return -length if sign else length
    match = _SPAN.fullmatch(text)
    if match is None or not text:
        return None
    days, sign, hours, minutes, seconds, fraction, short_hours, short_minutes = match.groups()
    if short_hours is not None and int(short_hours) >= _MOST_HOURS:
        return None
    clock = _length("0", hours or short_hours, minutes or short_minutes, seconds, fraction)
    return _length(days, "0", "0", "0", None) + (-clock if sign == "-" else clock)


def _length(days: str | None, *clock: str | None) -> Decimal:
    hours, minutes, seconds, fraction = clock
    whole = ((int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
    return Decimal(whole) + Decimal(f"0.{fraction or 0}")
