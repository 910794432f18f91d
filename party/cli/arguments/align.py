"""Find the people whom both parties list: which they are, or with `--count-only` how many.

Each side learns how many ids the other brings, how many both have, and which of its own these are; nothing of the
others, and no id crosses. `train` then uses the rows of the common people, in the order that both sides have. The peer
must be serving.

Examples:
  cotally align bob --count-only
  cotally align bob
"""

import argparse

from party.cli.arguments.common import add_json, add_party, add_work


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("--count-only", action="store_true", help="tell how many people are common, and not who")
    add_work(parser)
    add_json(parser)
