"""Tell what a design discloses: posteriors, breach levels, losses, relations that are certain, secret bits.

The figures depend on what is known beforehand: all values equally likely, or with `--prior` the distribution that
disguised answers suggest (estimated, negative shares set to 0 and the rest rescaled).
"""

import argparse
import json
from pathlib import Path

from party.cli.arguments import add_design
from party.printable import printable
from party.survey import read_codes, read_design
from party.survey.estimation import estimated_priors
from protocols.privacy.report import privacy_report

SUMMARY = "tell what a design discloses"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_design(parser)
    parser.add_argument("--prior", type=Path, metavar="disguised.csv", help="take what is likely from these answers")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    design = read_design(arguments.design)
    priors = None if arguments.prior is None else estimated_priors(read_codes(arguments.prior, design), design)
    report = privacy_report(design.design, design.names, design.values, priors)
    if arguments.json:
        print(json.dumps(report.to_json(), indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    for line in report.lines():
        print(printable(line))
    return 0
