"""Open a run with the peer, who serves, and build the model that the job asks for.

Both sides compare versions, terms and people before any data leave. A run that was cut off goes on when both start
again.

Examples:
  cotally train bob job.toml
  cotally train bob job.toml --model second.json --report costs.json
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_json, add_party, add_results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("job", type=Path, metavar="JOB.toml", help="the terms of the run")
    parser.add_argument("--fresh", action="store_true", help="begin anew where an earlier run could go on")
    add_results(parser)
    add_json(parser)
