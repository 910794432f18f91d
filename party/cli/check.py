"""Tell what leaves, before it leaves: what each column becomes, what the copy and a run disclose, what was told before.

Nobody is called, and nothing is written. With a job the disguise and the run are those of the job; a job that this
party itself would refuse ends with that refusal.
"""

import argparse
import json
from pathlib import Path

from party.cli.arguments import add_party
from party.data import Notice
from party.names import printable
from party.node.check import check_party
from party.node.inputs import ReleasedBefore, load_inputs
from party.settings.job import read_job
from party.settings.party import KEY_FLOOR, read_party_config
from party.show.check import check_blocks, check_json
from party.show.screen import columns, lay_out, put
from protocols.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("job", type=Path, nargs="?", metavar="JOB.toml", help="the terms of a run")
    parser.add_argument(
        "--peer-columns", type=int, metavar="N", help="attributes of the peer (default: as many as ours)"
    )
    parser.add_argument("--full", action="store_true", help="print everything that the copy discloses")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Look and tell.

    Raises:
        InputError: A file cannot be used, or we would refuse the job.
    """
    config = read_party_config(arguments.config)
    terms = None if arguments.job is None else read_job(arguments.job).terms
    notices: list[Notice | ReleasedBefore] = []
    local = load_inputs(config, KEY_FLOOR, notices.extend)
    peer_columns = len(local.attributes) or 1 if arguments.peer_columns is None else arguments.peer_columns
    if peer_columns < 1:
        raise InputError("--peer-columns must be 1 or more")
    found = check_party(local, config, terms, peer_columns, str if arguments.json else printable)
    if arguments.json:
        content = check_json(found, config.agree, notices)
        put(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        lay_out(check_blocks(found, config.agree, notices, full=arguments.full, width=columns()), columns())
    if found.run is not None and found.run.flaw is not None:
        raise found.run.flaw
    return 0
