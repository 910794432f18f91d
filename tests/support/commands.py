"""Every command with its parser, and a folder with something for most of them to read."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from party.cli.main import COMMANDS, command_parser
from party.models.itemset_file import itemsets_json
from tests.party.models.test_bayes_file import FOUND
from tests.support.processes import BITS, cotally_here

BASKETS = """\
kind = "cut-and-paste"
items = ["bread", "milk"]
cutoff = 2
supports = ["1", "1"]
[rho]
1 = "1/10"
2 = "1/5"
"""


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield every command, and in place of `survey` each of its actions, with its parser."""
    (commands,) = inner(command_parser(*COMMANDS))
    for name, parser in commands.items():
        actions = inner(parser)
        yield from ((f"{name} {action}", each) for found in actions for action, each in found.items())
        if not actions:
            yield name, parser


def inner(parser: argparse.ArgumentParser) -> list[dict[str, argparse.ArgumentParser]]:
    """Return the parsers inside a parser."""
    return [dict(a.choices) for a in parser._actions if isinstance(a, argparse._SubParsersAction)]


def make_world() -> None:
    """Fill the present folder: a survey's data, design and copy, baskets, models, a study, two parties and a job."""
    made = [
        ("disguise", "--example", "."),
        ("disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins"),
        ("mine", "tree", "d.csv", "design.toml", "-o", "m.json"),
        ("survey", "new", "study", "--question", "Do you smoke? = yes, no"),
        ("survey", "links", "study/survey.toml", "--number", "1", "-o", "links.csv"),
        ("init", "alice", "--dir", "alice", "--key-bits", str(BITS)),
        ("init", "bob", "--dir", "bob", "--key-bits", str(BITS)),
        ("trust", "bob", "alice/cert.pem"),
    ]
    for words in made:
        ended = cotally_here(*words)
        assert ended.code == 0, ended.err
    settings = Path("bob/party.toml")
    text = settings.read_text().replace('# peer = "alice"', 'peer = "alice"')
    text = text.replace('listen = "0.0.0.0:7071"', 'listen = "127.0.0.1:0"')
    settings.write_text(text.replace('# address = "alice.example.org:7071"', 'address = "127.0.0.1:1"'))
    Path("job.toml").write_text('method = "smc"\nclass = "class"\nkey_bits = 2048\ntest = "0"\n')
    Path("bob/data.csv").write_text("id,a\n" + "".join(f"{n},{'xy'[n % 2]}\n" for n in range(60)))
    Path("sets.json").write_text(itemsets_json(FOUND))
    Path("baskets.toml").write_text(BASKETS)
    Path("baskets.csv").write_text("bread,milk\nbread\nmilk\n" * 20)
