"""What is done to an owner's column before anybody else sees it: the settings, and their limits (DESIGN 3)."""

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise

from party.data.bins import MEDIAN, PERIODS, number
from party.errors import ConfigError
from protocols.tables.schema import MAX_DOMAIN

SMALLEST_VALUE = 10
MOST_SMALLEST_VALUE = 1_000_000

Edges = tuple[Decimal, ...] | tuple[date, ...]

_QUANTILES = re.compile(r"quantiles:([1-9]\d{0,2})", re.ASCII)


@dataclass(frozen=True)
class ColumnTreatment:
    """What is done to a column before anybody else sees it: binning, then filling in, then merging.

    Args:
        bins: None (the texts are the values), "median-of-range", "quantiles:K", "year", "quarter", "month", or edges
            in rising order: numbers, or dates.
        max_values: The most values that remain: bins join their neighbours, the rarest texts become "other". None for
            any number.
        missing: "value" (a value of its own, labelled "missing"), "majority" (the most common value), "refuse",
            or a text to fill in.
        not_missing: Texts that are values of this column, though they mark a missing cell elsewhere.
        smallest_value: A value that fewer records hold is not named; 1 names all.

    Raises:
        ConfigError: A setting is out of its range.
    """

    bins: str | Edges | None = None
    max_values: int | None = None
    missing: str = "value"
    not_missing: tuple[str, ...] = ()
    smallest_value: int = SMALLEST_VALUE

    def __post_init__(self) -> None:
        if isinstance(self.bins, str):
            self._check_kind(self.bins)
        elif self.bins is not None:
            self._check_edges(self.bins)
        if self.max_values is not None and not 2 <= self.max_values <= MAX_DOMAIN:
            raise ConfigError(f"max_values must be 2 to {MAX_DOMAIN}")
        if not self.missing:
            raise ConfigError("missing must be 'value', 'majority', 'refuse' or a text to fill in")
        if not 1 <= self.smallest_value <= MOST_SMALLEST_VALUE:
            raise ConfigError(f"smallest_value must be 1 to {MOST_SMALLEST_VALUE}")

    def _check_kind(self, bins: str) -> None:
        match = _QUANTILES.fullmatch(bins)
        if bins not in (MEDIAN, *PERIODS) and not (match and 2 <= int(match[1]) <= MAX_DOMAIN):
            raise ConfigError(
                f"bins must be {MEDIAN!r}, 'quantiles:K' with K from 2 to {MAX_DOMAIN}, 'year', 'quarter', 'month', "
                "or a list of edges"
            )

    def _check_edges(self, edges: Edges) -> None:
        if not 1 <= len(edges) < MAX_DOMAIN:
            raise ConfigError(f"bins must have 1 to {MAX_DOMAIN - 1} edges")
        dates = sum(type(edge) is date for edge in edges)
        if dates not in (0, len(edges)):
            raise ConfigError("the edges of bins must all be numbers, or all dates")
        if not dates and any(isinstance(edge, float) or number(str(edge)) is None for edge in edges):
            raise ConfigError("the edges of bins must be decimal numbers or dates")
        if any(low >= high for low, high in pairwise(edges)):  # type: ignore[operator]  # of one kind
            raise ConfigError("the edges of bins must rise")
