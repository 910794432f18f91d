"""Give up a run that has not ended, here and, when both meet, at the peer.

A process that waits in this run, or for it, ends within a second or two; one that computes, at its next step. The job
may be started again, and then begins anew; what was told stays told.

What waits for its peer before a run has begun, and `align` and `predict` at any time, have no run to be cancelled, and
`cotally status` says so: end them by Ctrl-C where they run, or SIGTERM.

Examples:
  cotally cancel bob 0123456789abcdef
"""

import argparse

from party.cli.arguments.common import add_json, add_party


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser, here=True)
    parser.add_argument("run_name", metavar="RUN", help="its name, as `cotally status` tells it")
    add_json(parser)
