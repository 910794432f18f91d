"""`cotally check`: tell what leaves, before it leaves."""

import argparse

from party.data import Notice
from party.names import printable
from party.node.aligning import load_common
from party.node.check import check_party
from party.node.inputs import ReleasedBefore
from party.settings.job import read_job
from party.settings.key_sizes import KEY_FLOOR
from party.settings.party import read_party_config
from party.show.check import check_blocks, check_json
from party.show.screen import columns, lay_out, put_json
from protocols.errors import InputError


def run(arguments: argparse.Namespace) -> int:
    """Look and tell.

    Raises:
        InputError: A file cannot be used, or we would refuse the job.
    """
    config = read_party_config(arguments.party)
    notices: list[Notice | ReleasedBefore] = []
    local = load_common(config, KEY_FLOOR, notices.extend)
    terms = None if arguments.job is None else read_job(arguments.job, people=local.listed).terms
    peer_columns = len(local.attributes) or 1 if arguments.peer_columns is None else arguments.peer_columns
    if peer_columns < 1:
        raise InputError("--peer-columns must be 1 or more")
    found = check_party(local, config, terms, peer_columns, str if arguments.json else printable)
    if arguments.json:
        content = check_json(found, config.agree, notices)
        put_json(content)
    else:
        lay_out(check_blocks(found, config.agree, notices, full=arguments.full, width=columns()), columns())
    if found.run is not None and found.run.flaw is not None:
        raise found.run.flaw
    return 0
