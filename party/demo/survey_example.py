"""A survey to try things on: 10,000 people of the census data *adult*, and a design with every key explained."""

from pathlib import Path

from party.data import csv_text
from party.datasets.included import load
from party.files import is_there, write_atomically
from protocols.errors import InputError

DATA_FILE, DESIGN_FILE = "data.csv", "design.toml"
RECORDS = 10_000

_COLUMNS = {
    "age": "age",
    "sex": "sex",
    "education-num": "schooling",
    "hours-per-week": "hours",
    "marital-status": "married",
    "class": "income",
}
_TEXTS = {
    "married": {"Married-civ-spouse": "yes", "Married-AF-spouse": "yes"},
    "income": {"<=50K": "low", ">50K": "high"},
    "sex": {"Male": "m", "Female": "f"},
}

_DESIGN = """\
# What a survey asks and how answers are disguised. Respondents and the collector read the same file.
kind = "related"           # a group tells the truth or a lie; "unrelated": or answers a personal question instead
theta = "4/5"              # chance of the truth, exact; the nearer to a pure guess, the more it hides
class = "income"           # column that `cotally mine` predicts; leave it out if there is none
id = "id"                  # column of the true table that says which record is whose: coins are made once for each
# keep_id = false          # whether the disguised table has the ids too; nothing that the collector does needs them
plain = ["age", "sex"]     # columns that are not sensitive, sent as they are

# The domain of every column, known before there are data:
#   values      all that a cell can be
#   bins        edges: [25, 45] makes "<= 25", "(25, 45]" and "> 45"
#   missing     "left out": a missing answer is seen to be missing, and is left out of the counts that need it;
#               "refuse"; "value": no answer is an answer like any other, named "missing"; or one of the values
[columns.age]
bins = [25, 45]
[columns.sex]
values = ["m", "f"]
[columns.schooling]
bins = [9, 12]
[columns.hours]
bins = [39, 40]
[columns.married]
values = ["yes", "no"]
# missing = "no"
[columns.income]
values = ["low", "high"]

# Columns of a group share one coin, here each its own. Two that share one are read together, many of them whole, as
# `cotally privacy` shows for a pilot table.
[groups]
school = ["schooling"]
work = ["hours"]
home = ["married"]
money = ["income"]
# A group may be asked in a way of its own. Put one of these lines in place of `money` above:
# money = { columns = ["income"], kind = "unrelated", theta = "1/2" }         # or answers a personal question
# money = { columns = ["income"], kind = "forced", theta = "3/4" }            # or says what a die says
# money = { columns = ["income"], kind = "crosswise", prevalence = "1/4" }    # says whether "income is high" and a
#                          # harmless statement, true of 1/4, are alike; "triangular": whether one of them is true

# For unrelated questions: the chance of each personal answer, which the collector must know;
# personal = "uniform", above the tables, where all answers are equally likely.
# [personal.income]
# low = "1/2"
# high = "1/2"

# Personal answers are taken as independent. Where they are not, let their columns share a group that gives the chance
# of each combination, here "low" and "yes", "low" and "no", "high" and "yes", "high" and "no", in place of [personal]:
# money_home = { columns = ["income", "married"], kind = "unrelated", theta = "1/2", joint = ["1/2", "0", "0", "1/2"] }

# For forced ones: the chance of each answer that is said by force.
# [forced.income]
# low = "1/2"
# high = "1/2"

# A disguised question of which everybody's true answer is known shows how many answer at random:
# [control]
# moon = "no"
"""


def write_example(folder: Path) -> tuple[Path, Path]:
    """Write data and design into a folder, which is made if it is not there; return both paths."""
    paths = folder / DATA_FILE, folder / DESIGN_FILE
    for path in paths:
        if is_there(path):
            raise InputError(f"{path} exists and is kept: choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or 'output error'}") from None
    write_atomically(paths[0], _data())
    write_atomically(paths[1], _DESIGN)
    return paths


def _data() -> str:
    adult = load("adult")
    position = [adult.columns.index(name) for name in _COLUMNS]
    names = list(_COLUMNS.values())
    rows = (
        [f"p{number}", *(_text(name, row[p]) for name, p in zip(names, position, strict=True))]
        for number, row in enumerate(adult.rows[:RECORDS], 1)
    )
    return csv_text(["id", *names], rows)


def _text(name: str, text: str) -> str:
    known = _TEXTS.get(name, {text: text})
    return known.get(text, "no")
