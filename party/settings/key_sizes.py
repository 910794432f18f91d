"""How long keys are: no shorter than the floor, whatever settings say, and as usual where they say nothing."""

from typing import Final

KEY_FLOOR: Final = 2048
USUAL_KEY_BITS: Final = 3072
