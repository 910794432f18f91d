"""Find the people whom both parties list: which they are, or with `--count-only` how many.

Each side learns how many ids the other brings, how many both have, and which of its own these are; nothing of the
others, and no id crosses. `train` then uses the rows of the common people, in the order that both sides have. The peer
must be serving.
"""

import argparse
import sys

from party.cli.arguments import add_party, add_work
from party.cli.train import compute_settings
from party.files import locked_folder
from party.keys.identity import load_identity
from party.node.inputs import load_inputs, pinned_peer, with_workers
from party.node.line import call_peer
from party.node.players import Matched
from party.node.policy import check_job
from party.node.session import Host, run_session
from party.settings.party import KEY_FLOOR, read_party_config
from party.show.alignment import matched_lines
from party.show.notices import tell
from party.show.progress import make_progress, waiting
from party.show.screen import say_all
from protocols.jobs import Align


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("--count-only", action="store_true", help="tell how many people are common, and not who")
    add_work(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    config, job = read_party_config(arguments.config), Align(arguments.count_only)
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
        say_all(matched_lines(report.ended), sys.stderr)
    return 0
