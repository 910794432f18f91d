"""The demonstration, and completion for shells."""

import argparse
from pathlib import Path

from party.cli.arguments import add_progress
from party.datasets import NAMES
from party.demo import DEMO_THETA, USUAL_DATA, USUAL_ROWS, USUAL_WAYS
from protocols.terms import USUAL_DEPTH, USUAL_KEY_BITS, USUAL_TREE_DEPTH, Impurity, Reveal


def declare_demo(parser: argparse.ArgumentParser) -> None:
    """Run the whole product on this machine: two processes, each with its own folder, build trees over real data.

    A data set's columns are dealt to two parties at random. The parties then run `randomized`, `hybrid` for each
    window, and `smc`; the demo compares all of them with plain ID3 on the joined table. Counts are made by oblivious
    transfer first, the fast way, in seconds (`--ways oblivious_transfer` for it alone); then by the papers' protocol,
    dot products by Paillier, in minutes. No run knows what another has counted. Of two files of your own, the parties
    grow the tree alone, and reveal no count. In these files, numbers are split in two at the median of their range, and
    texts become the commonest one or "other"; settings of your own (`cotally init`) can do better.

    Examples:
      cotally demo
      cotally demo --ways oblivious_transfer
      cotally demo --omega 1,2,3,4,5,all
      cotally demo --data adult --rows 10000 --ways oblivious_transfer --max-depth any
      cotally demo --alice a.csv --bob b.csv --class outcome --noise 1
    """
    add = parser.add_argument_group("data").add_argument
    names = ", ".join(NAMES)
    add("--data", choices=NAMES, metavar="NAME", help=f"an included data set: {names} (default: {USUAL_DATA})")
    add("--alice", type=Path, metavar="A.csv", help="alice's own table, instead of a data set")
    add("--bob", type=Path, metavar="B.csv", help="and bob's table")
    add("--class", dest="class_name", metavar="NAME", help="the column to predict, in either table or both")
    add("--id", metavar="NAME", help='the column that says which record is whose (default: "id", if there)')
    said = f"take N rows, drawn by the seed (default: {USUAL_ROWS:,} at most; where the tree alone is revealed all)"
    add("--rows", type=int, metavar="N", help=said)
    _add_runs(parser)
    _add_trees(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("demo-run"), metavar="DIR", help="folder of results (default: %(default)s)"
    )
    add_progress(parser)


def _add_runs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("runs").add_argument
    said = "the tree alone, by smc, or the counts of all methods (default: counts; of files of your own the tree)"
    add("--reveal", choices=[Reveal.TREE.value, Reveal.COUNTS.value], help=said)
    add("--omega", default="1,2,3,all", metavar="LIST", help="windows to run (default: %(default)s)")
    add("--theta", default=DEMO_THETA, metavar="T", help="chance of the truth (default: %(default)s)")
    add("--ways", metavar="LIST", help=f"how exact counts are made; all runs are made in each (default: {USUAL_WAYS})")
    add("--key-bits", type=int, default=USUAL_KEY_BITS, metavar="N", help="length of the keys (default: %(default)s)")
    add("--test", default="1/5", metavar="SHARE", help="share held out; 0 for none (default: %(default)s)")
    add("--seed", type=int, default=1, metavar="S", help="seed of rows and splits (default: %(default)s)")


def _add_trees(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("trees").add_argument
    add(
        "--max-depth",
        metavar="D",
        help='most splits on a path, or "any", as in the papers '
        f"(default: {USUAL_DEPTH}, or {USUAL_TREE_DEPTH} where the tree alone is revealed)",
    )
    said = "fewest records in a leaf (default: 1, as in the papers; of a tree alone 1 in 250, at least 20)"
    add("--min-leaf", type=int, metavar="N", help=said)
    add("--noise", metavar="EPSILON", help="counts, or a tree alone, have noise; needs a --max-depth (default: none)")
    said = "what splits are chosen by (default: information_gain; of a tree alone with noise gini)"
    add("--impurity", choices=Impurity.names(), help=said)


def declare_completion(parser: argparse.ArgumentParser) -> None:
    """Print what lets a shell complete the commands, options and files of `cotally`, in the shell's language.

    Examples:
      cotally completion bash > ~/.local/share/bash-completion/completions/cotally
      cotally completion zsh > ~/.zfunc/_cotally
    """
    parser.add_argument("shell", choices=("bash", "zsh"), help="whose language to print")
