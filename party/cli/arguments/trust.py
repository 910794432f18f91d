"""Trust the key of the other party's certificate, and no other.

A run accepts this key alone at the other end, and certificates that it has signed for itself. A pinned key is only as
trustworthy as the channel it came by: compare fingerprints over another one, such as the telephone.

Examples:
  cotally trust alice bob-cert.pem
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_json, add_party


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("certificate", type=Path, metavar="peer-cert.pem")
    add_json(parser)
