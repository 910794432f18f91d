"""What the demo does where nothing is said."""

from typing import Final

USUAL_DATA: Final = "mushroom"
USUAL_ROWS: Final = 1_500  # what dot products by Paillier count in seconds
USUAL_WAYS: Final = "oblivious_transfer, paillier"
DEMO_THETA: Final = "2/3"
