"""Where `cotally` begins: an interruption before anything is loaded ends in a line too, and in no traceback."""

import sys
from importlib import import_module

_INTERRUPTED = 130


def start() -> int:
    """Load the command line and run it; return the exit code."""
    try:
        main = import_module("party.cli.main").main
    except KeyboardInterrupt:
        sys.stderr.write("cotally: interrupted\n")
        return _INTERRUPTED
    code: int = main()
    return code
