"""A party's process: the command `cotally`, on a leash.

The demo holds the other end of its standard input and never writes there. When that end closes, the demo is gone,
however it went, and the party goes too.
"""

import os
import sys
import threading

from party.cli.main import main

ORPHANED = 143


def _watch() -> None:
    while os.read(0, 1):  # NB: not by sys.stdin, whose lock a waiting thread would hold at exit
        pass
    os._exit(ORPHANED)


if __name__ == "__main__":
    threading.Thread(target=_watch, name="leash", daemon=True).start()
    sys.exit(main())
