"""Tell what leaves, before it leaves: what each column becomes, what the copy and a run disclose, what was told before.

Nobody is called, and nothing is written. With a job the disguise and the run are those of the job; a job that this
party itself would refuse ends with that refusal.

Examples:
  cotally check bob
  cotally check bob job.toml --full
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_json, add_party


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("job", type=Path, nargs="?", metavar="JOB.toml", help="the terms of a run")
    parser.add_argument(
        "--peer-columns", type=int, metavar="N", help="attributes of the peer (default: as many as ours)"
    )
    parser.add_argument("--full", action="store_true", help="print everything that the copy discloses")
    add_json(parser)
