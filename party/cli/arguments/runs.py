"""Runs of two parties: what leaves and costs, each run, and what is on record."""

import argparse
from pathlib import Path

from party.cli.arguments import add_json, add_overwrite, add_party, add_results, add_work
from party.datasets import NAMES
from protocols.terms import EPSILON_OF_SCORES, NOISE


def declare_check(parser: argparse.ArgumentParser) -> None:
    """Print what leaves, before it leaves: each column, what the copy and a run disclose, what left before.

    It calls nobody and writes nothing. Without a job it takes the job.toml that `init` writes, which reveals the tree
    alone. If this party would refuse the job, the last line says why.

    Examples:
      cotally check bob
      cotally check bob bob/job.toml --full
    """
    add = parser.add_argument
    add_party(parser)
    add("job", type=Path, nargs="?", metavar="JOB.toml", help="the terms of a run (default: as `init` writes them)")
    add("--peer-columns", type=int, metavar="N", help="attributes of the peer (default: as many as ours)")
    add("--full", action="store_true", help="print everything that the copy discloses")
    add_json(parser)


def declare_align(parser: argparse.ArgumentParser) -> None:
    """Find the people whom both parties list: which they are, or with `--count-only` how many.

    Each side learns how many ids the other brings, how many both have, and which of its own these are. No id crosses.
    `train` then uses the rows of the common people, in the order that both sides have. The peer must be serving.

    Examples:
      cotally align bob --count-only
      cotally align bob
    """
    add_party(parser)
    parser.add_argument("--count-only", action="store_true", help="show how many people are common, and not who")
    add_work(parser)
    add_json(parser)


def declare_crosstab(parser: argparse.ArgumentParser) -> None:
    """Count a column of ours by one of the other party's: one table, which both sides see.

    Noise of both sides is in each count, and spends epsilon of what `[agree] epsilon` allows over the life of a data
    set; the same table again costs nothing more. `--exact` asks for counts without noise, where both sides have
    `[agree] exact_counts = true`. Where ids differ, both sides find the common people first. The peer must be serving.

    Examples:
      cotally crosstab bob age outcome
      cotally crosstab bob age outcome --noise 1/4 --json
      cotally crosstab bob age outcome --exact
    """
    add_party(parser)
    parser.add_argument("column", metavar="COLUMN", help="a column of ours, the class if we hold it too")
    parser.add_argument("peer_column", metavar="PEERCOLUMN", help="a column of the other party's")
    how = parser.add_mutually_exclusive_group()
    usual = NOISE.text(EPSILON_OF_SCORES)
    how.add_argument("--noise", metavar="EPSILON", default=usual, help=f"epsilon against each side (default: {usual})")
    how.add_argument("--exact", action="store_true", help="ask for counts without noise")
    add_work(parser)
    add_json(parser)


def declare_plan(parser: argparse.ArgumentParser) -> None:
    """Show what a run will cost, calling nobody: seconds, traffic, memory, round trips; and what it may reveal.

    Below it, what the same run would cost by `smc` and with windows of 1 and 3 attributes (and of all, where counts are
    revealed). Options plan for a larger table, other machines or a slower network.

    Examples:
      cotally plan bob bob/job.toml
      cotally plan bob bob/job.toml --records 1000000 --megabits 100 --delay 20
    """
    add = parser.add_argument
    add_party(parser)
    add("job", type=Path, metavar="JOB.toml", help="the terms of the run")
    add("--peer-columns", type=int, metavar="N", help="attributes of the peer (default: as many as ours)")
    add("--splits", type=int, metavar="N", help="inner nodes of the tree (default: a guess)")
    add("--records", type=int, metavar="N", help="plan for a table with N records (default: ours)")
    add("--workers", type=int, metavar="N", help="processes of each party (default: as [compute] says here)")
    add("--megabits", type=float, metavar="N", help="bandwidth in Mbit/s, each way")
    add("--delay", type=float, metavar="MS", help="delay of the network one way, in milliseconds")
    add_json(parser)


def declare_rehearse(parser: argparse.ArgumentParser) -> None:
    """Show what a job's model would be worth, and the choices around it, calling nobody: nothing leaves.

    On your own table it shows what you have without a partner. If the partner holds the class, name a column of yours
    like it (`--class COLUMN`). `--pilot` plays both sides on a table with the columns of both, binned as `[columns]`
    says; `--data` on a data set of the demo.

    Examples:
      cotally rehearse alice
      cotally rehearse bob bob/job.toml --class city
      cotally rehearse bob bob/job.toml --pilot joined.csv --partner outcome,income -o rehearsal.html
    """
    add = parser.add_argument
    add_party(parser)
    add("job", type=Path, nargs="?", metavar="JOB.toml", help="the terms of a run (default: the party's job.toml)")
    add("--class", dest="class_name", metavar="COLUMN", help="the class, or a column of ours that stands for it")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--pilot", type=Path, metavar="joined.csv", help="a table of the columns of both")
    source.add_argument("--data", choices=NAMES, metavar="NAME", help="a data set of the demo: " + ", ".join(NAMES))
    add("--partner", metavar="COLUMN,...", help="columns that the partner would hold")
    add("-o", "--output", type=Path, metavar="FILE", help="write a page with a picture: .html or .md")
    add_overwrite(parser)
    add_json(parser)


def declare_propose(parser: argparse.ArgumentParser) -> None:
    """Show the other party a job, and end. It needs no table here, and uses none there.

    If the peer's `[agree] approve` lets people decide, the peer keeps the job for them, and `train` on the same terms
    waits until they have approved it. The peer must be serving.

    Examples:
      cotally propose bob bob/job.toml
      cotally propose bob bob/job.toml --records 2000
    """
    add_party(parser)
    parser.add_argument("job", type=Path, metavar="JOB.toml", help="the terms of the run")
    said = "people of our table, where a term follows from that (default: read it)"
    parser.add_argument("--records", type=int, metavar="N", help=said)
    add_json(parser)


def declare_serve(parser: argparse.ArgumentParser) -> None:
    """Listen, and take part in the runs that the peer opens, one after another, until it is stopped.

    `[agree]` in party.toml says what this party accepts.

    Examples:
      cotally serve alice
      cotally serve alice --log node.log
      cotally serve alice --metrics 9464
    """
    add_party(parser)
    parser.add_argument("--once", action="store_true", help="exit after one run, or one proposal, with its exit code")
    said = "keep a log with times and levels, without data: in a file, or as JSON lines on the standard error"
    parser.add_argument("--log", metavar="FILE|json", help=said)
    said = "show a monitoring system what the node does, without data, over plain HTTP (default host: 127.0.0.1)"
    parser.add_argument("--metrics", metavar="[HOST:]PORT", help=said)
    add_results(parser)


def declare_train(parser: argparse.ArgumentParser) -> None:
    """Open a run with the peer, which must be serving, and build the model that the job asks for.

    Both sides compare versions, terms and people before anything is counted. A run that was cut off goes on when
    both start again.

    Examples:
      cotally train bob bob/job.toml
      cotally train bob bob/job.toml --model second.json --report costs.json
    """
    add_party(parser)
    parser.add_argument("job", type=Path, metavar="JOB.toml", help="the terms of the run")
    parser.add_argument("--fresh", action="store_true", help="begin from the start where an earlier run could go on")
    add_results(parser)
    add_json(parser)


def declare_status(parser: argparse.ArgumentParser) -> None:
    """List the runs of a party, how far each has come, what each waits for, and the jobs that wait to be approved.

    Examples:
      cotally status bob
      cotally status bob --all --json
    """
    add_party(parser, here=True)
    parser.add_argument("--all", action="store_true", help="list runs that have ended, and jobs that are decided, too")
    add_json(parser)


def declare_cancel(parser: argparse.ArgumentParser) -> None:
    """Give up a run that has not ended, here and, when both meet, at the peer.

    A process that waits in this run, or for it, ends within a second or two, and one that is computing at its next
    step. The job may be started again, and then begins from the start; what was revealed stays on record.

    `align`, `crosstab` and `predict` have no run to cancel, nor has a command that still waits for its peer: end them
    by Ctrl-C where they run, or by SIGTERM.

    Examples:
      cotally cancel bob 0123456789abcdef
    """
    add_party(parser, here=True)
    parser.add_argument("run_name", metavar="RUN", help="its name, as `cotally status` shows it")
    add_json(parser)


def declare_approve(parser: argparse.ArgumentParser) -> None:
    """Let a job that waits for approval run: sign it with the party's key, under your name.

    `cotally status` shows what it would reveal. If `[agree] approvals` is 2, two people sign. All bounds of `[agree]`
    still hold. Other terms, or another table of either side, make it a new job, which waits again. `cotally serve` may
    run meanwhile: it runs the job when the other party calls next.

    Examples:
      cotally approve alice 0123456789abcdef --as "Ann Smith"
    """
    _declare_decision(parser)


def declare_refuse(parser: argparse.ArgumentParser) -> None:
    """Refuse a proposed job, under your name: one refusal is enough, and the other party gets a fixed sentence.

    The last decision of each name counts, so you may approve later what you refused, and the other way round. If the
    run has begun, use `cotally cancel`.

    Examples:
      cotally refuse alice 0123456789abcdef --as "Ann Smith"
    """
    _declare_decision(parser)


def _declare_decision(parser: argparse.ArgumentParser) -> None:
    add_party(parser, here=True)
    parser.add_argument("run_name", metavar="RUN", help="the job, as `cotally status` shows it")
    parser.add_argument("--as", dest="name", required=True, metavar="NAME", help="your name (letters from A to Z)")
    add_json(parser)


def declare_ledger(parser: argparse.ArgumentParser) -> None:
    """Show what peers have learned from us and we from them, check that this record is whole, or write it as JSON.

    `show` says it in words, `--full` with every exact count. `verify` finds any entry that was altered, dropped or
    moved. If a whole ledger was restored from a backup, only the peer can notice that, when both meet again.
    `export` prints all entries as JSON, or writes them to a file.

    Examples:
      cotally ledger show alice
      cotally ledger verify alice
      cotally ledger export alice -o ledger.json
    """
    said = "show it in words (default), check it, or print it as JSON"
    parser.add_argument("action", nargs="?", choices=("show", "verify", "export"), default="show", help=said)
    add_party(parser)
    parser.add_argument("--full", action="store_true", help="show every exact count")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where export writes (default: the screen)")
    add_overwrite(parser)
    add_json(parser)
