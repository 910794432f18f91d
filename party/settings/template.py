"""What `cotally init` writes: the settings with every key explained, and a job of each kind."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from textwrap import wrap
from typing import Final

from party.settings.party import USUAL_AGREE, Acceptance
from party.settings.place import CONFIG_FILE
from party.settings.toml import declared_values, toml_value
from protocols.errors import InputError

_TEXT = """\
# Settings of one party of cotally. They stay at home; only what the README lists ever crosses to
# the other party.
name = "{name}"

[data]
file = "data.csv"          # CSV (.csv, .tsv, .txt, .gz) or .parquet, relative to this file
id = "id"                  # column that says which record is whose, or columns: ["name", "birth"]
# id_alike = ["accents", "blanks", "numbers"]  # what spellings of one id may differ in, the same at
#                          # both parties (42.0 is 42); also "case", and "zeros" (0042 is 42)
# repeated = "refuse"      # of an id that occurs again: or keep its "first" or its "last" row
# items = "product"        # rows of ids and items: a column of 0 and 1 for each item
# class = "outcome"        # column to predict, if this party holds it
# dataset = "visits-2026"  # coins are made once for each name, so another gives other trees
#                          # (default: the file's)
# separator = ";"          # between columns (default: found out, as the encoding is)
# encoding = "cp1252"
# decimal = ","            # what begins a fraction; then points group thousands (of ".", commas)
# missing = ["-99"]        # texts that mean a missing cell, beside ?, -, NA, n/a, null and more
# ignore = []              # columns to leave out, such as names and addresses
# smallest_value = 10      # a value that fewer records hold is never named to the other party

# How columns become attributes with few values: the fewer, the faster and the better hidden.
#   bins            of numbers "median-of-range", "quantiles:4", or edges such as [18, 65];
#                   of dates "year", "quarter", "month", or edges such as [2019-12-31, 2023-12-31]
#   max_values      keep the commonest values, the others become "other"; bins join their neighbours
#   missing         "value" (a value of its own), "majority" (which one, the other party learns),
#                   "refuse", or a text to fill in; the model keeps it, and predictions do the same
#   not_missing     texts that are values here, though missing cells elsewhere: ["NA"] for Namibia
#   smallest_value  rarer values become "other", rarer bins join others (default: as in [data])
[columns]
# "*" = {{ max_values = 8 }}                # columns that are not named; numbers are binned
# age = {{ bins = "median-of-range" }}
# city = {{ max_values = 4, missing = "majority" }}

# Each column of a record has a coin of its own, by which it is sent as it is or shifted. In the
# papers, columns of a group share one; from such a copy its receiver reads many records whole, as
# `cotally check` shows, and [agree] odds refuses most.
[disguise]
plain = []                 # columns that are not sensitive, sent as they are
# groups = 2               # or name the columns: [["age", "city"], ["income"]]

# Exact counts are made as job.toml says: by "oblivious_transfer" (seconds; the usual way), or by
# "paillier", the papers' dot product under encryption (minutes to hours). Both reveal the same
# counts and nothing else.

# What this party agrees to. Anything else that the other party proposes ends the run before data
# leave.
[agree]
{agree}

[node]
listen = "0.0.0.0:7071"    # where `cotally serve` listens
# peer = "{peer}"{blanks}# the other party, trusted by `cotally trust`
# address = "{peer}.example.org:7071"   # where `cotally train` reaches it; who listens needs none
patience = 30              # seconds without a sign of life after which the peer is given up
silence = 3600             # seconds without a message after which a peer that lives is given up

# Rows that `cotally serve` classifies together with the other party's columns, when that asks: our
# columns of the model, and the ids. Without rows it is refused. [agree] bounds how often, by
# most_predictions, most_bits and, where the rows of both list other people, most_alignments.
[predict]
# rows = "new.csv"
# model = "model.json"

# Where the heavy arithmetic is done; the results are the same everywhere.
#   on         "local", or a Dask cluster (pip install '.[cluster]'). When this party
#              encrypts, the cluster gets the key of Paillier and the plaintexts, unencrypted over
#              the network unless you write dask+tls:// for dask://
[compute]
workers = 0                # processes on this machine: 0 for one per processor, 1 for ours alone
# on = "dask://host:8786"
"""


_JOBS = {
    "job.toml": """\
# Terms of a run. `cotally plan` shows what they cost and reveal, `cotally train` runs them.
# This one reveals the tree and nothing else; job-papers.toml, job-bayes.toml and job-rules.toml
# reveal counts. One data set serves one of them, or as many as most_runs of both parties allows,
# and rules only where no class was used before. A key that is left out has its usual value.
class = "outcome"        # the column to predict
reveal = "tree"          # which column splits which node, and the class of each leaf
max_depth = 4            # most splits of a path
test = "1/5"             # share of the people held out, to see how good the tree is; 0 for none

# With 5,000 people or more and two classes, noise of epsilon 1 bounds what is learned of each
# person, for a hundredth or two of accuracy, less with more people:
# noise = "1"
# Without noise, a leaf of its own has at least 1 in 250 people, and 20, unless this says otherwise:
# min_leaf = 100
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


_AGREE: Final[Mapping[str, str]] = {
    "methods": "",
    "odds": 'strongest odds to 1 that a disguised value may give, or "any"',
    "omega": "most attributes that may get exact counts at a node",
    "counting": "of which job.toml names one",
    "smallest_key_bits": "of Paillier's modulus",
    "min_leaf": "fewest records of a leaf; 1 lets a tree name single persons",
    "max_depth": "most splits of a path; with a number, a job must have one too",
    "max_classes": "most values of the class: in one of names, every count is a person",
    "smallest_class": "fewest training records of each class",
    "smallest_test": "fewest held-out records, or 0: an accuracy over one describes a person",
    "most_values": (
        "most values of a column that the peer brings where no count is revealed: more say more of "
        "people whom it picked"
    ),
    "most_columns": "most columns that it brings then",
    "exact_counts": (
        'whether the other party may see exact counts (reveal = "counts"), from which it can work out records of ours'
    ),
    "most_sets": "most itemsets that a job for rules may ask about: the peer chooses which",
    "noise": "largest epsilon of a job; a number refuses exact counts; needs epsilon",
    "epsilon": (
        "most epsilon that all runs over this data set may spend; only with a number does noise take the "
        "place of min_leaf, most_bits, exact_counts"
    ),
    "most_runs": "most runs on different terms over this data set: two can be subtracted",
    "most_bits": (
        "most bits that trees alone, and predictions by them, may reveal: with each the peer may know "
        'one fact about a person; or a number, "any"'
    ),
    "most_counts": "most exact counts that all runs over it may reveal",
    "least_overlap": "least share of the peer's ids that must be ours before we reveal which",
    "most_ids": "most ids that it may bring to find whom both list",
    "most_alignments": "most alignments over this data set; 0 allows none",
    "most_predictions": (
        "most people about whom joint predictions may answer, over its life: an answer shows what our "
        "columns say of that person; none under epsilon"
    ),
    "probabilities": "whether these may reveal class shares, which nearly name the leaf",
}
"""What `[agree]` says of each key."""


def party_files(name: str, key_bits: int) -> dict[str, str]:
    """Return the files of settings of a new party, by name: its own, and a job of each kind."""
    return {CONFIG_FILE: party_toml(name, key_bits), **_JOBS}


def party_toml(name: str, key_bits: int) -> str:
    """Return a `party.toml` for a new party, whose own key sets the smallest one that it agrees to."""
    peer = "alice" if name == "bob" else "bob"
    agree = "\n".join(_agree_lines(replace(USUAL_AGREE, smallest_key_bits=key_bits)))
    return _TEXT.format(name=name, agree=agree, peer=peer, blanks=" " * (16 - len(peer)))


def _agree_lines(usual: Acceptance) -> Iterator[str]:
    """Yield each key with its usual value, and what is said of it."""
    declared = declared_values(usual)
    for key, said in _AGREE.items():
        line = f"{key} = {toml_value(*declared.pop(key))}"
        first, *more = wrap(said, 71) or [""]
        yield f"{line:<27}# {first}" if said and len(line) < 27 else f"{line}   # {first}" if said else line
        yield from (f"#{'':26}# {each}" for each in more)
    if declared:
        raise InputError(f"nothing is said of {', '.join(declared)}")
