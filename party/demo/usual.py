"""What the demo does where nothing is said."""

from typing import Final

USUAL_DATA: Final = "mushroom"
DERIVED_ABOVE: Final = 10_000  # records: of more, the row of `smc` is derived from the plain tree
