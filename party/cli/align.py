"""`cotally align`: find the people whom both parties list, or how many they are."""

import argparse
import sys

from party.cli.train import compute_settings
from party.files import locked_folder
from party.keys.identity import load_identity
from party.node.inputs import load_inputs, pinned_peer, with_workers
from party.node.line import call_peer
from party.node.players import Matched
from party.node.policy import check_job
from party.node.session import Host, run_session
from party.settings.key_sizes import KEY_FLOOR
from party.settings.party import read_party_config
from party.show.alignment import matched_json, matched_lines
from party.show.notices import tell
from party.show.progress import make_progress, waiting
from party.show.screen import put_json, say_all
from protocols.jobs import Align


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    config, job = read_party_config(arguments.party), Align(arguments.count_only)
    settings = compute_settings(arguments, config)
    address = str(config.need_address())
    identity, peer = load_identity(config.folder), pinned_peer(config)
    with locked_folder(config.folder) as held:
        local = load_inputs(config, KEY_FLOOR, tell)
        check_job(local, config, job, peer)
        with make_progress(arguments.progress) as progress, with_workers(local, settings) as ready:
            progress.show(waiting(peer.name, address, config.node.patience))
            with call_peer(config, identity, peer) as channel:
                report = run_session(ready, config, held, channel, job, Host(progress.follow))
    if isinstance(report.ended, Matched):
        if arguments.json:
            put_json(matched_json(report.ended))
        else:
            say_all(matched_lines(report.ended), sys.stderr)
    return 0
