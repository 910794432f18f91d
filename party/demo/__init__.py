"""The whole product on one machine: two party processes, each with its own folder, and what their runs cost."""

from typing import Final

USUAL_DATA: Final = "mushroom"
USUAL_ROWS: Final = 1_500  # what dot products by Paillier count in seconds
USUAL_WAYS: Final = "oblivious_transfer, paillier"
DEMO_THETA: Final = "2/3"
