"""How much a command tells beside its results: less by `--quiet`, more by `--verbose`."""

import argparse
import platform
import time
from collections.abc import Callable
from contextlib import nullcontext
from importlib.metadata import version

from party.show.log import log_detail, start_details, stop_log
from party.show.screen import quiet


def add_loudness(parser: argparse.ArgumentParser) -> None:
    """Declare how much is told: every command has these."""
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="tell results and errors alone")
    loudness.add_argument("-v", "--verbose", action="store_true", help="tell more of what is done, but no data")


def run_as_loud(run: Callable[[argparse.Namespace], int], parsed: argparse.Namespace) -> int:
    """Run a command as loud as its arguments say, and return its exit code."""
    if not parsed.verbose:
        with quiet() if parsed.quiet else nullcontext():
            return run(parsed)
    details, began = start_details(), time.monotonic()
    try:
        log_detail(f"cotally {version('cotally')}, Python {platform.python_version()}, {platform.platform()}")
        return run(parsed)
    finally:
        log_detail(f"{parsed.command} has ended after {time.monotonic() - began:.1f} s")
        stop_log(details)
