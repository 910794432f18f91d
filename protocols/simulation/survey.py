"""What a collector would learn from disguised answers, for experiments (Du-Zhan, Multi-group and Surveys, section 5).

Training records are disguised, coins drawn in bulk from a seeded generator; the model is tested on held-out records in
the clear. The learners are those of a real survey, by the same code. A design without groups disguises nothing and
gives the benchmark, the papers' "original accuracy".
"""

from fractions import Fraction

import numpy as np

from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import HoldOut, accuracy, bulk_draw, random_groups
from protocols.survey.mining import grow_tree, learn_naive_bayes
from protocols.survey.responses import Responses, survey_schema
from protocols.tables import Table


def random_hold_out(table: Table, test: Fraction, generator: np.random.Generator) -> HoldOut:
    """Put a random share of a table's records aside for the test; the table's last column is the class."""
    schema = survey_schema([a.name for a in table.attributes], [a.values for a in table.attributes])
    codes = table.codes[generator.permutation(len(table))]
    held_out = int(len(table) * test)
    return HoldOut(schema, codes[held_out:], codes[:held_out])


def no_disguise(data: HoldOut) -> RelatedDesign:
    """Return the design that sends everything as it is."""
    return RelatedDesign(data.sizes, (), Fraction(1))


def related_question(data: HoldOut, theta: Fraction, groups: int, generator: np.random.Generator) -> RelatedDesign:
    """Return a related-question design with groups drawn at random, the class in one of them."""
    return RelatedDesign(data.sizes, random_groups(range(len(data.sizes)), groups, generator), theta)


def unrelated_question(data: HoldOut, theta: Fraction) -> UnrelatedDesign:
    """Return an unrelated-question design of one group, the class in it, with uniform personal values.

    On two values that is Surveys' `W_y = 0.5`.
    """
    uniform = tuple((Fraction(1, size),) * size for size in data.sizes)
    return UnrelatedDesign(data.sizes, (tuple(range(len(data.sizes))),), theta, uniform)


def disguised(data: HoldOut, design: Design, generator: np.random.Generator) -> Responses:
    """Disguise the training records."""
    return Responses(data.schema, design.randomize(data.train, bulk_draw(generator, len(data.train))), design)


def tree_accuracy(data: HoldOut, design: Design, generator: np.random.Generator) -> float:
    """Disguise the training records, grow a tree on them, and return its accuracy on the test records."""
    return accuracy(grow_tree(disguised(data, design, generator)), data)


def naive_bayes_accuracy(data: HoldOut, design: Design, generator: np.random.Generator) -> float:
    """Disguise the training records, learn naive Bayes from them, and return its accuracy on the test records."""
    return accuracy(learn_naive_bayes(disguised(data, design, generator)), data)
