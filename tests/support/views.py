"""Views of a joint table as one party has them: its own columns true, the peer's disguised."""

from fractions import Fraction

import numpy as np

from protocols.counting.rows import View, make_view, peer_columns
from protocols.randomized_response.related_question import Coins, RelatedDesign, disguise, keyed_draw
from protocols.tables import Codes, Schema


def peer_design(schema: Schema, party: str, groups: tuple[tuple[int, ...], ...], theta: Fraction) -> RelatedDesign:
    """Return the disguise of what the peer of `party` holds; `groups` are joint columns."""
    columns = peer_columns(schema, party)
    local = tuple(tuple(columns.index(column) for column in group) for group in groups)
    return RelatedDesign(tuple(schema.columns[c].size for c in columns), local, theta)


def view_of(schema: Schema, party: str, codes: Codes, design: RelatedDesign, coins: Coins | int = 0) -> View:
    """Return the party's view of joint codes; `coins` are given or drawn with this number as secret."""
    if isinstance(coins, int):
        records = [str(i) for i in range(len(codes))]
        coins = design.coins(keyed_draw(coins.to_bytes(32, "big"), "view", records))
    sent = disguise(codes[:, list(peer_columns(schema, party))], coins, design)
    own = codes[:, list(schema.held_by(party))]
    return make_view(schema, party, np.ascontiguousarray(own), sent, design)
