"""What one party can count on: its own columns as they are, the peer's as they were sent (Hybrid 3.1: `D_1`, `D_2`)."""

from dataclasses import dataclass

import numpy as np

from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables.schema import Schema
from protocols.tables.table import Codes


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """Joint codes as one party sees them.

    `codes` is records by `schema.columns`. Column `peer_columns[j]` was disguised as column `j` of `design`; all other
    columns are the party's own. A party that has no copy of the peer's columns (method `smc`) holds zeros there.
    """

    schema: Schema
    party: str
    codes: Codes
    design: RelatedDesign
    peer_columns: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def own_columns(self) -> frozenset[int]:
        """Joint columns that this party holds."""
        return frozenset(self.schema.held_by(self.party))

    def rows(self, index: "np.typing.NDArray[np.intp]") -> "View":
        """Return the view of these records only."""
        return View(self.schema, self.party, self.codes[index], self.design, self.peer_columns)


def peer_columns(schema: Schema, party: str) -> tuple[int, ...]:
    """Joint columns that only the peer of `party` holds, in the order in which the peer sends them."""
    own = set(schema.held_by(party))
    return tuple(column for column in range(len(schema.columns)) if column not in own)


def make_view(schema: Schema, party: str, own: Codes, peer: Codes | None, design: RelatedDesign) -> View:
    """Put a party's own codes and the peer's disguised ones side by side.

    Args:
        schema: The joint schema.
        party: Whose view it is.
        own: Records by `schema.held_by(party)`.
        peer: Records by `peer_columns(schema, party)`, or None.
        design: The peer's disguise.
    """
    codes = np.zeros((len(own), len(schema.columns)), dtype=np.uint8)
    codes[:, list(schema.held_by(party))] = own
    columns = peer_columns(schema, party)
    if peer is not None:
        codes[:, list(columns)] = peer
    return View(schema, party, codes, design, columns)
