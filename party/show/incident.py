"""What a user reads of an error that nobody foresaw: where it came from, and nothing that it holds."""

import traceback
from pathlib import Path

DEBUG = "COTALLY_DEBUG"


def incident(error: Exception) -> str:
    """Say where an unexpected error came from; its own text may hold a record and is not shown."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"internal error: {type(error).__name__} in {Path(last.filename).name}, line {last.lineno}; "
        f"set {DEBUG}=1 to see more, and please report it"
    )
