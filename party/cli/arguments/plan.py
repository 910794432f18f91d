"""Tell what a run will cost, before anybody is called: seconds, traffic, memory, round trips; and what it may tell.

Below stands what the same run would cost with SMC alone and with windows of 1, 3 and all attributes. Other tables,
machines and lines may be supposed.

Examples:
  cotally plan bob job.toml
  cotally plan bob job.toml --records 1000000 --megabits 100 --delay 20
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_json, add_party


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("job", type=Path, metavar="JOB.toml", help="the terms of the run")
    parser.add_argument(
        "--peer-columns", type=int, metavar="N", help="attributes of the peer (default: as many as ours)"
    )
    parser.add_argument("--splits", type=int, metavar="N", help="inner nodes of the tree (default: a guess)")
    parser.add_argument("--records", type=int, metavar="N", help="of a table like ours (default: those of ours)")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes of each party (default: as [compute] says here)"
    )
    parser.add_argument("--megabits", type=float, metavar="N", help="that the line carries per second each way")
    parser.add_argument("--delay", type=float, metavar="MS", help="of the line one way, in milliseconds")
    add_json(parser)
