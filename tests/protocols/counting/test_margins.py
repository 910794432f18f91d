"""Cells of a window by halving it: every cell is the product of its rows' weights, however the window is cut."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.counting.compute import InlineWorkers, bundles, count_nodes
from protocols.counting.margins import NodeTask, count_cells
from protocols.paillier.arithmetic import Integer

MODULUS = Integer(1_000_003)


def task_of(sizes: tuple[int, ...], records: int, seed: int) -> NodeTask:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, sizes, size=(records, len(sizes))).astype(np.uint8)
    return NodeTask([Integer(int(w)) for w in rng.integers(2, 10**6, records)], codes, sizes, MODULUS)


def by_definition(task: NodeTask) -> list[Integer | None]:
    cells: list[Integer | None] = []
    *candidates, classes = task.sizes
    for column, size in enumerate(candidates):
        for value in range(size):
            for label in range(classes):
                cell: Integer | None = None
                for weight, row in zip(task.weights, task.codes.tolist(), strict=True):
                    if (row[column], row[-1]) == (value, label):
                        cell = weight if cell is None else cell * weight % task.modulus
                cells.append(cell)
    return cells


TASKS = st.builds(
    task_of,
    st.lists(st.integers(1, 4), min_size=2, max_size=7).map(tuple),
    st.integers(0, 40),
    st.integers(0, 2**32 - 1),
)


@given(TASKS)
def test_a_cell_is_the_product_of_the_weights_of_its_rows(task: NodeTask) -> None:
    assert count_cells(task) == by_definition(task)


def test_a_task_can_be_sent_elsewhere() -> None:
    task = task_of((2, 3, 2), 20, 1)
    assert count_cells(pickle.loads(pickle.dumps(task))) == count_cells(task)


@pytest.mark.parametrize("rows", [[], [5], [5000], [1000] * 7, [3000, 1, 1, 2047, 1], [2048, 2048, 1], [0, 0]])
def test_bundles_hold_all_nodes_in_order_and_end_when_they_have_rows_enough(rows: list[int]) -> None:
    tasks = [NodeTask([Integer(1)] * count, np.zeros((count, 2), dtype=np.uint8), (1, 1), MODULUS) for count in rows]
    parts = list(bundles(tasks))
    assert [task for part in parts for task in part] == tasks
    sizes = [[len(task.weights) for task in part] for part in parts]
    assert all(sum(part) >= 2048 > sum(part[:-1]) for part in sizes[:-1])
    assert all(parts)


def test_inline_workers_do_the_tasks_in_order() -> None:
    tasks = [task_of((2, 2), 10, seed) for seed in range(3)]
    done = list(InlineWorkers().map(count_nodes, bundles(tasks)))
    assert done == [[count_cells(task) for task in tasks]]
