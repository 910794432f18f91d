"""Cells of a window by halving it: every cell is the sum of its rows' weights, however the window is cut."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.cipher import PaillierCiphertexts, PaillierValues
from protocols.ciphers.paillier.keys import PublicKey
from protocols.counting.cells import NodeTask, bundles, count_cells, count_nodes
from protocols.work import InlineWorkers

CIPHER = PaillierCiphertexts(PublicKey(Integer(1_000_003)))
MODULUS = CIPHER.public_key.n_square
Task = NodeTask[PaillierValues]


def weights(numbers: list[int]) -> PaillierValues:
    return PaillierValues([Integer(number) for number in numbers], CIPHER.ciphertext_bytes)


def task_of(sizes: tuple[int, ...], records: int, seed: int) -> Task:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, sizes, size=(records, len(sizes))).astype(np.uint8)
    return NodeTask(CIPHER, weights(rng.integers(2, 10**6, records).tolist()), codes, sizes)


def cells_of(task: Task) -> list[Integer | None]:
    return count_cells(task).numbers


def by_definition(task: Task) -> list[Integer | None]:
    cells: list[Integer | None] = []
    *candidates, classes = task.sizes
    for column, size in enumerate(candidates):
        for value in range(size):
            for label in range(classes):
                cell: Integer | None = None
                for weight, row in zip(task.weights.numbers, task.codes.tolist(), strict=True):
                    if (row[column], row[-1]) == (value, label):
                        assert weight is not None
                        cell = weight if cell is None else cell * weight % MODULUS
                cells.append(cell)
    return cells


TASKS = st.builds(
    task_of,
    st.lists(st.integers(1, 4), min_size=2, max_size=7).map(tuple),
    st.integers(0, 40),
    st.integers(0, 2**32 - 1),
)


@given(TASKS)
def test_a_cell_is_the_sum_of_the_weights_of_its_rows(task: Task) -> None:
    assert cells_of(task) == by_definition(task)


def test_a_task_can_be_sent_elsewhere() -> None:
    task = task_of((2, 3, 2), 20, 1)
    assert cells_of(pickle.loads(pickle.dumps(task))) == cells_of(task)


@pytest.mark.parametrize("rows", [[], [5], [5000], [1000] * 7, [3000, 1, 1, 2047, 1], [2048, 2048, 1], [0, 0]])
def test_bundles_hold_all_nodes_in_order_and_end_when_they_have_rows_enough(rows: list[int]) -> None:
    tasks: list[Task] = [
        NodeTask(CIPHER, weights([1] * count), np.zeros((count, 2), dtype=np.uint8), (1, 1)) for count in rows
    ]
    parts = list(bundles(tasks))
    assert [task for part in parts for task in part] == tasks
    sizes = [[len(task.weights) for task in part] for part in parts]
    assert all(sum(part) >= 2048 > sum(part[:-1]) for part in sizes[:-1])
    assert all(parts)


def test_inline_workers_do_the_tasks_in_order() -> None:
    tasks = [task_of((2, 2), 10, seed) for seed in range(3)]
    (done,) = InlineWorkers().map(count_nodes, bundles(tasks))
    assert [cells.numbers for cells in done] == [cells_of(task) for task in tasks]
