"""What `cotally init` writes: the settings with every key explained, and a job of each kind."""

from collections.abc import Collection
from dataclasses import replace
from textwrap import fill
from typing import Final

from party.settings.party import COMPUTE, DATA, DISGUISE, NODE, PREDICT, TREATMENT, USUAL_AGREE
from party.settings.place import CONFIG_FILE
from party.settings.toml import Declared, keys_of

_COLUMN: Final = 27  # where comments begin

_TEXT = """\
# Settings of one party of cotally. They stay at home. `cotally check` shows what a run would
# reveal to the other party.
name = "{name}"

[data]
{data}

# How columns become attributes with few values: the fewer, the faster and the better hidden.
{treatment}
[columns]
# "*" = {{ max_values = 16 }}                # columns that are not named; numbers are binned
# age = {{ bins = "median-of-range" }}
# city = {{ max_values = 4, missing = "majority" }}

# Each cell is sent truly or shifted, by a secret coin. In the papers, columns of a group share one;
# from such a copy its receiver reads many records whole, as `cotally check` shows, and [agree] odds
# refuses most such groupings.
[disguise]
{disguise}

# Exact counts are made as job.toml says: by "oblivious_transfer" (seconds; the default), or by
# "paillier", the papers' dot product under encryption (minutes to hours). Both reveal the same
# counts and nothing else.

# What this party agrees to. Anything else that the other party proposes ends the run before any
# count, copy or tree leaves; who is common and names may have crossed by then.
[agree]
{agree}

[node]
{node}

# Rows that `cotally serve` classifies together with the other party's columns, when that asks: our
# columns of the model, and the ids. [agree] bounds how often, by most_predictions, most_bits and,
# where the rows of both list other people, most_alignments.
[predict]
{predict}

# Where the heavy arithmetic is done; the results are the same everywhere.
[compute]
{compute}
"""


_JOBS = {
    "job.toml": """\
# Terms of a run. `cotally plan` shows what they cost and reveal, `cotally train` runs them.
# This one reveals the tree and, with noise, a table of how good it is; `cotally check` lists all.
# job-papers.toml and job-bayes.toml reveal exact counts, job-rules.toml which sets of items are
# frequent: from each of these the other party can work out records. One data set serves one job, or
# as many as most_runs of both parties allows, and rules only where no class was used before. A key
# that is left out has its default.
class = "outcome"        # the column to predict
reveal = "tree"          # which column splits which node, and what a leaf says
leaves = "tenths"        # the class of a leaf and its share in tenths, to rank people; or "label"
max_depth = 4            # most splits of a path
splits = "two-way"       # at a cut or one value, again below; or "values", all values of a column
test = "1/5"             # share of the people held out, to see how good the tree is; 0 for none

# With 5,000 people or more, two classes and two-way splits, noise of epsilon 1 bounds what is
# learned about each person; `cotally rehearse` shows what it costs (less with more people):
# noise = "1"
# Without noise, a leaf of its own has at least 1 in 250 people, and 100, or 20 if only its label is
# opened, unless this says otherwise:
# min_leaf = 200
""",
    "job-papers.toml": """\
# The papers' Hybrid-ID3. It reveals exact counts, from which the other party can work out records:
# both write [agree] exact_counts = true.
method = "hybrid"        # or "smc", without copies; "randomized", without counts of candidates
class = "outcome"
reveal = "counts"
theta = "2/3"            # chance that a two-valued column is sent truly
omega = 3                # candidates that are counted at a node, or "all"
max_depth = 5            # or "any", as in the papers
# counting = "paillier"  # the papers' dot product: the same counts, minutes to hours
""",
    "job-bayes.toml": """\
# Naive Bayes from exact counts: both write [agree] exact_counts = true.
learner = "naive_bayes"
class = "outcome"
reveal = "counts"
""",
    "job-rules.toml": """\
# Association rules over all columns. From exact counts, or from which itemsets are frequent, the
# other party can work out records: both write [agree] exact_counts = true.
learner = "rules"
reveal = "sets"          # which itemsets reach min_support; "counts" says how often each occurs too
min_support = "1/10"     # share of the people that an itemset must have
max_len = 3              # most items of an itemset
min_threshold = "4/5"    # confidence that rules must have; not with reveal = "counts"
""",
}


def party_sections(peer: str, key_bits: int) -> dict[str, tuple[Declared, Collection[str]]]:
    """Return the keys of each section of `party.toml`, and which keys are written uncommented."""
    agree = keys_of(replace(USUAL_AGREE, smallest_key_bits=key_bits))
    node = {name: replace(key, sample=key.sample.replace("PEER", peer)) for name, key in NODE.items()}
    return {
        "data": (DATA, ("file", "id")),
        "disguise": (DISGUISE, ("plain",)),
        "agree": (agree, agree),
        "node": (node, ("listen", "patience", "silence")),
        "predict": (PREDICT, ()),
        "compute": (COMPUTE, ("workers",)),
    }


def party_files(name: str, key_bits: int) -> dict[str, str]:
    """Return the files of settings of a new party, by name: its own, and a job of each kind."""
    return {CONFIG_FILE: party_toml(name, key_bits), **_JOBS}


def party_toml(name: str, key_bits: int) -> str:
    """Return a `party.toml` for a new party, whose own key sets the smallest one that it agrees to."""
    peer = "alice" if name == "bob" else "bob"
    sections = {each: key_lines(*keys) for each, keys in party_sections(peer, key_bits).items()}
    return _TEXT.format(name=name, treatment=_explained(TREATMENT), **sections)


def key_lines(keys: Declared, written: Collection[str]) -> str:
    """Return the lines of a section: each key with its usual value or a sample, and what is said of it."""
    lines = []
    for name, key in keys.items():
        line = f"{'' if name in written else '# '}{name} = {key.text}"
        head = f"{line:<{_COLUMN}}# " if len(line) < _COLUMN else f"{line}   # "
        lines.append(fill(key.comment, 98, initial_indent=head, subsequent_indent=f"{'#':<{_COLUMN}}# ") or line)
    return "\n".join(lines)


def _explained(keys: Declared) -> str:
    """Return the help for `[columns.NAME]`."""
    heads = {name: f"#   {name:<16}" for name in keys}
    return "\n".join(
        fill(key.comment, 98, initial_indent=heads[name], subsequent_indent=f"#{'':19}") for name, key in keys.items()
    )
