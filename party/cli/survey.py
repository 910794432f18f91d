"""`cotally survey`: ask people in their browser, who toss the coin themselves."""

import argparse
from collections.abc import Callable, Mapping

from party.cli import collecting

_ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "new": collecting.run_new,
    "links": collecting.run_links,
    "serve": collecting.run_serve,
    "publish": collecting.run_publish,
    "status": collecting.run_status,
    "close": collecting.run_close,
    "export": collecting.run_export,
    "results": collecting.run_results,
    "page": collecting.run_page,
    "texts": collecting.run_texts,
}


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked for."""
    return _ACTIONS[arguments.action](arguments)
