"""Joint transition matrices: the papers' own, the definition, and what solving their linear system gives."""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.design import Design, Matrix, cells
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import Expression, Term
from tests.support.declaration import joint_transition
from tests.support.enumeration import (
    every_design,
    every_record,
    expressions,
    name,
    responses,
    shares,
    solve,
    true_count,
)

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "multi_group_matrices.json").read_text("utf-8"))
SCHEMES = {scheme["groups"]: scheme for scheme in VECTORS["schemes"]}
THETAS = tuple(map(Fraction, ("0", "1/7", "9/20", "7/10", "1")))
EVERY = every_design()


def printed(groups: int, theta: Fraction) -> Matrix:
    """Return the paper's matrix at this theta; an entry `21` is `theta^2 (1 - theta)`."""
    rows = (row.split() for row in SCHEMES[groups]["matrix"])
    return tuple(tuple(theta ** int(entry[0]) * (1 - theta) ** int(entry[1]) for entry in row) for row in rows)


def test_the_transition_of_binary_groups_is_the_papers_matrix() -> None:
    for groups in (1, 2, 3):
        for theta in THETAS:
            design = RelatedDesign((2,) * groups, tuple((column,) for column in range(groups)), theta)
            assert joint_transition(design, range(groups)) == printed(groups, theta)
    for groups in (1, 2, 3):
        rows = [row.split() for row in SCHEMES[groups]["matrix"]]
        assert [row[i] for i, row in enumerate(rows)] == [f"{groups}0"] * 2**groups
        assert [row[-1 - i] for i, row in enumerate(rows)] == [f"0{groups}"] * 2**groups
        assert {int(entry[0]) + int(entry[1]) for row in rows for entry in row} == {groups}


@pytest.mark.parametrize("groups", [((0, 1),), ((0, 1), (2,)), ((0, 1), (2,), (3, 4))])
@pytest.mark.parametrize("theta", [theta for theta in THETAS if theta])
def test_solving_the_papers_system_gives_the_estimates(groups: tuple[tuple[int, ...], ...], theta: Fraction) -> None:
    """A variation sets each group's columns to `e_k` or to its opposite; `e_k` alternates between 0 and 1."""
    design = RelatedDesign((2,) * 5, groups, theta)
    sent = np.random.default_rng(len(groups)).integers(0, 2, size=(40, 5)).astype(np.uint8)
    asked = [
        Expression(
            tuple(
                Term(column, column % 2 ^ (sign == "-"))
                for sign, group in zip(signs, groups, strict=True)
                for column in group
            )
        )
        for signs in SCHEMES[len(groups)]["variations"]
    ]
    observed = [Fraction(true_count(sent, expression), len(sent)) for expression in asked]
    solved = solve(printed(len(groups), theta), observed)
    assert [estimate_count(sent, expression, design).proportion for expression in asked] == solved


@pytest.mark.parametrize("design", EVERY, ids=name)
def test_solving_the_joint_system_gives_every_estimate(design: Design) -> None:
    every = every_record(design.sizes)
    sent = every[np.random.default_rng(len(every)).integers(len(every), size=17)]
    columns = range(len(design.sizes))
    counts = [Fraction(int((sent == cell).all(axis=1).sum())) for cell in every]
    solved = solve(joint_transition(design, columns), counts)
    for expression in expressions(design.sizes):
        held = expression.satisfied_by(every).tolist()
        assert estimate_count(sent, expression, design).count == sum(
            p for p, hit in zip(solved, held, strict=True) if hit
        )


@pytest.mark.parametrize("design", EVERY, ids=name)
def test_on_some_columns_in_any_order_it_is_the_margin_of_the_definition(design: Design) -> None:
    columns = tuple(reversed(range(len(design.sizes))))[:2]
    matrix = joint_transition(design, columns)
    every = cells([design.sizes[column] for column in columns])
    for truth in every_record(design.sizes)[::3].tolist():
        found = dict.fromkeys(every, Fraction(0))
        for response, chance in responses(truth, design).items():
            found[tuple(response[column] for column in columns)] += chance
        position = every.index(tuple(truth[column] for column in columns))
        assert [row[position] for row in matrix] == list(found.values())


def test_columns_of_the_joint_transition_hold_the_chances_of_responses() -> None:
    for design in EVERY:
        matrix = joint_transition(design, range(len(design.sizes)))
        every = cells(design.sizes)
        for column, truth in enumerate(every):
            chances = responses(truth, design)
            assert [row[column] for row in matrix] == [chances.get(response, Fraction(0)) for response in every]
            assert sum(row[column] for row in matrix) == 1
    assert cells((2, 1, 3)) == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 0), (1, 0, 1), (1, 0, 2)]
    assert cells(()) == [()]
    design = RelatedDesign((2, 3), ((0,),), Fraction(3, 5))
    assert joint_transition(design, (1,)) == tuple(tuple(Fraction(int(i == j)) for j in range(3)) for i in range(3))
    assert joint_transition(design, ()) == ((Fraction(1),),)


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        (np.zeros((3, 1), dtype=np.uint8), "the design has 2 columns, the table 1"),
        (np.zeros(2, dtype=np.uint8), "the design has 2 columns, the table 2"),
        (np.array([[0, 3]], dtype=np.uint8), "the table holds a code outside the design's domains"),
        (np.array([[2, 0]], dtype=np.uint8), "the table holds a code outside the design's domains"),
    ],
)
@pytest.mark.parametrize("kind", ["related", "unrelated"])
def test_records_that_a_design_cannot_have_disguised_are_refused(
    codes: "np.typing.NDArray[np.uint8]", text: str, kind: str
) -> None:
    design: Design = RelatedDesign((2, 3), ((0,),), Fraction(3, 5))
    if kind == "unrelated":
        design = UnrelatedDesign((2, 3), ((0,),), Fraction(3, 5), (shares("1/2 1/2"), ()))
    design.check_fits(np.array([*product(range(2), range(3))], dtype=np.uint8))
    with pytest.raises(InputError) as refusal:
        design.check_fits(codes)
    assert text in str(refusal.value)
