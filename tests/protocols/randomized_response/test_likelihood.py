"""The most likely distribution: where it is the unbiased estimate, where it cannot be, and that nothing beats it."""

from fractions import Fraction
from itertools import pairwise, product
from math import log

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.design import Design, cells
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.likelihood import MAX_GROUP_CELLS, MAX_LIKELIHOOD_CELLS, MostLikely, most_likely
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.tables import Codes, Expression, Floats, Term
from tests.support.declaration import joint_transition
from tests.support.enumeration import every_design, every_record, name, shares, unrelated_designs
from tests.support.questions import QUESTIONS

TOLERANCE = 1e-9
WARNER = RelatedDesign((2,), ((0,),), Fraction(7, 10))


def answers(yes: int, no: int) -> Codes:
    return np.array([[1]] * yes + [[0]] * no, dtype=np.uint8)


def random_responses(design: Design, records: int = 40) -> Codes:
    every = every_record(design.sizes)
    generator = np.random.default_rng(len(every))
    return every[generator.integers(len(every), size=records) ** 2 // len(every)]


def reference_likelihood(found: Floats, codes: Codes, columns: tuple[int, ...], design: Design) -> float:
    """Return the log-likelihood a record, by the written-out matrix."""
    matrix = np.array(joint_transition(design, columns), dtype=np.float64)
    chances = dict(zip(cells([design.sizes[c] for c in columns]), (matrix @ found.ravel()).tolist(), strict=True))
    return sum(log(chances[tuple(record)]) for record in codes[:, list(columns)].tolist()) / len(codes)


@pytest.mark.parametrize("theta", ["1/10", "9/20", "7/10", "1"])
@pytest.mark.parametrize("yes", [0, 11, 18, 20, 29, 40])
def test_of_one_binary_column_it_is_the_estimate_cut_to_the_simplex(theta: str, yes: int) -> None:
    design = RelatedDesign((2,), ((0,),), Fraction(theta))
    sent = answers(yes, 40 - yes)
    estimate = float(estimate_count(sent, Expression((Term(0, 1),)), design).proportion)
    found = most_likely(sent, [0], design, tolerance=1e-12)
    assert found.converged
    assert found.shares[1] == pytest.approx(min(max(estimate, 0), 1), abs=1e-5)


SMALL_QUESTIONS = [design for design in QUESTIONS.values() if len(design.sizes) < 4]


@pytest.mark.parametrize(
    "design", [d for d in every_design() if d.part(0).theta == Fraction(9, 10) or d in SMALL_QUESTIONS], ids=name
)
def test_inside_the_simplex_it_is_the_estimate(design: Design) -> None:
    """Responses in the shares that a population of all records, none rare, would send."""
    every = every_record(design.sizes)
    columns = tuple(range(len(design.sizes)))
    weights = np.arange(len(every)) % 3 + 1
    truth = weights / weights.sum()
    expected = np.array(joint_transition(design, columns), dtype=np.float64) @ truth
    sent = np.repeat(every, np.rint(expected * 20_000).astype(int), axis=0)
    estimates = [
        float(estimate_count(sent, Expression(tuple(map(Term, columns, record))), design).proportion)
        for record in every.tolist()
    ]
    assert min(estimates) > 0
    found = most_likely(sent, columns, design, tolerance=1e-12)
    assert found.converged
    assert found.shares.ravel() == pytest.approx(np.array(estimates), abs=1e-5)


@pytest.mark.parametrize("design", every_design()[::3], ids=name)
def test_it_is_a_distribution_with_the_likelihood_and_gap_it_states(design: Design) -> None:
    columns = tuple(reversed(range(len(design.sizes))))
    sent = random_responses(design)
    found = most_likely(sent, columns, design, TOLERANCE)
    assert found.converged
    assert found.gap <= TOLERANCE
    assert found.shares.shape == tuple(design.sizes[column] for column in columns)
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1, abs=1e-12)
    assert found.log_likelihood == pytest.approx(reference_likelihood(found.shares, sent, columns, design), abs=1e-9)


GRID = 24
ON_A_GRID: list[tuple[Design, tuple[int, ...]]] = [
    (RelatedDesign((2, 2), ((0,), (1,)), Fraction(7, 10)), (0, 1)),
    (RelatedDesign((2, 2), ((0, 1),), Fraction(9, 20)), (1, 0)),
    (RelatedDesign((3, 2), ((0,),), Fraction(3, 5)), (0,)),
    (RelatedDesign((2, 2), ((1,),), Fraction(3, 5)), (0, 1)),
    (UnrelatedDesign((2, 2), ((0, 1),), Fraction(1, 2), (shares("1/4 3/4"), shares("1/2 1/2"))), (0, 1)),
    (UnrelatedDesign((2, 2), ((0,), (1,)), Fraction(2, 5), (shares("1/4 3/4"), shares("1/2 1/2"))), (0, 1)),
]


@pytest.mark.parametrize(("design", "columns"), ON_A_GRID)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_distribution_of_a_grid_is_more_likely_than_the_gap_allows(
    design: Design, columns: tuple[int, ...], seed: int
) -> None:
    every = every_record(design.sizes)
    sent = every[np.random.default_rng(seed).integers(len(every), size=12)]
    found = most_likely(sent, columns, design, TOLERANCE)
    size = found.shares.size
    grid = [(*parts, GRID - sum(parts)) for parts in product(range(GRID + 1), repeat=size - 1) if sum(parts) <= GRID]
    matrix = np.array(joint_transition(design, columns), dtype=np.float64)
    position = np.ravel_multi_index(tuple(sent[:, list(columns)].T.astype(int)), found.shares.shape)
    with np.errstate(divide="ignore"):
        likelihoods = np.log((np.array(grid) / GRID) @ matrix.T)[:, position].mean(axis=1)
    assert likelihoods.max() <= found.log_likelihood + TOLERANCE
    assert likelihoods.max() >= found.log_likelihood - 0.05
    nearest = np.array(grid[int(likelihoods.argmax())]) / GRID
    assert np.abs(matrix @ (nearest - found.shares.ravel())).max() < 0.05


@pytest.mark.parametrize("theta", ["9/20", "7/10"])
def test_the_likelihood_never_falls_and_the_gap_bounds_what_is_missing(theta: str) -> None:
    design = RelatedDesign((2, 2, 3), ((0,), (1,), (2,)), Fraction(theta))
    sent = random_responses(design, 60)
    rounds = [most_likely(sent, [0, 1, 2], design, tolerance=1e-13, limit=limit) for limit in range(1, 25)]
    best = most_likely(sent, [0, 1, 2], design, tolerance=1e-10)
    likelihoods = [found.log_likelihood for found in rounds]
    assert all(later >= earlier - 1e-14 for earlier, later in pairwise(likelihoods))
    assert likelihoods[-1] > likelihoods[0]
    assert all(found.log_likelihood + found.gap >= best.log_likelihood - 1e-12 for found in rounds)


def test_it_stops_at_the_limit_and_says_so() -> None:
    design = RelatedDesign((2, 2, 3), ((0,), (1,), (2,)), Fraction(9, 20))
    sent = random_responses(design, 60)
    stopped = most_likely(sent, [0, 1, 2], design, limit=2)
    assert (stopped.rounds, stopped.converged) == (2, False)
    assert stopped.gap > 1e-9
    ended = most_likely(sent, [0, 1, 2], design)
    assert ended.converged
    assert 2 < ended.rounds < 10_000
    assert most_likely(sent, [0, 1, 2], design, limit=ended.rounds).converged
    assert not most_likely(sent, [0, 1, 2], design, limit=ended.rounds - 1).converged


@pytest.mark.parametrize("kind", ["related", "unrelated"])
def test_with_theta_one_it_is_the_observed_shares(kind: str) -> None:
    design: Design = RelatedDesign((2, 3), ((0, 1),), Fraction(1))
    if kind == "unrelated":
        design = UnrelatedDesign((2, 3), ((0, 1),), Fraction(1), (shares("1/2 1/2"), shares("0 0 1")))
    sent = np.array([[0, 0]] * 3 + [[1, 2]] * 5 + [[1, 0]] * 2, dtype=np.uint8)
    found = most_likely(sent, [1, 0], design)
    assert found.shares == pytest.approx(np.array([[0.3, 0.2], [0, 0], [0, 0.5]]))
    assert found.rounds == 1


def test_columns_of_one_value_or_sent_as_they_are_have_their_observed_shares() -> None:
    design = RelatedDesign((2, 2, 2), ((2,),), Fraction(3, 5))
    sent = np.array([[0, 0, 0], [1, 0, 1], [1, 0, 1], [1, 1, 0]], dtype=np.uint8)
    assert most_likely(sent, [1, 0], design).shares == pytest.approx(np.array([[0.25, 0.5], [0, 0.25]]))
    design = RelatedDesign((2, 2), ((0,),), Fraction(7, 10))
    sent = np.array([[1, 0]] * 9 + [[0, 0]] * 11 + [[1, 1]] * 10, dtype=np.uint8)
    found = most_likely(sent, [0, 1], design, tolerance=1e-12).shares
    for label, codes in ((0, sent[:20, :1]), (1, sent[20:, :1])):
        alone = most_likely(codes, [0], WARNER, tolerance=1e-12).shares
        assert found[:, label] * len(sent) / len(codes) == pytest.approx(alone, abs=1e-6)
    design = RelatedDesign((1, 2), ((0, 1),), Fraction(7, 10))
    sent = np.hstack([np.zeros((40, 1), dtype=np.uint8), answers(18, 22)])
    alone = most_likely(answers(18, 22), [0], WARNER).shares
    assert most_likely(sent, [0, 1], design).shares == pytest.approx(alone[None])
    assert most_likely(sent, [0], design).shares == pytest.approx([1])


@pytest.mark.parametrize("design", [d for d in unrelated_designs() if len(d.sizes) == 3][::3], ids=name)
def test_the_order_of_columns_is_that_of_the_axes(design: UnrelatedDesign) -> None:
    sent = design.randomize(random_responses(design, 200), bulk_draw(np.random.default_rng(2), 200))
    found = most_likely(sent, [0, 1, 2], design, 1e-11).shares
    turned = most_likely(sent, [2, 0, 1], design, 1e-11).shares
    assert turned == pytest.approx(found.transpose(2, 0, 1), abs=1e-3)


def test_its_repr_shows_size_never_content() -> None:
    found = most_likely(answers(18, 22), [0], WARNER)
    assert repr(found) == f"<MostLikely 2 cells, {found.rounds} rounds>"
    assert repr(MostLikely(np.zeros((2, 3)), 0.0, 0.0, 7, converged=True)) == "<MostLikely 2x3 cells, 7 rounds>"


MANY = RelatedDesign((2,) * 18, (tuple(range(11)), (11,)), Fraction(7, 10))
ZEROS = np.zeros((3, 18), dtype=np.uint8)


def test_what_cannot_be_estimated_is_refused_and_the_most_that_can_is_not() -> None:
    for codes, columns, text in (
        (ZEROS[:0], [0], "there are no records to estimate from"),
        (ZEROS, [], "name one column or more, each once: columns are 0 to 17"),
        (ZEROS, [1, 1], "name one column or more, each once: columns are 0 to 17"),
        (ZEROS, [18], "name one column or more, each once: columns are 0 to 17"),
        (ZEROS, [-1], "name one column or more, each once: columns are 0 to 17"),
        (
            ZEROS,
            list(range(1, 18)),
            f"the columns have more than {MAX_LIKELIHOOD_CELLS} joint cells: name fewer of them",
        ),
        (ZEROS, list(range(11)), f"columns of one group have more than {MAX_GROUP_CELLS} joint cells: name fewer"),
        (ZEROS[:, 1:], [0], "the design has 18 columns, the table 17"),
        (ZEROS + 2, [0], "the table holds a code outside the design's domains"),
    ):
        with pytest.raises(InputError) as refusal:
            most_likely(codes, columns, MANY)
        assert text in str(refusal.value)
    found = most_likely(ZEROS, [*range(11, 18), *range(9)], MANY, limit=1)
    assert found.shares.size == MAX_LIKELIHOOD_CELLS
    assert most_likely(ZEROS, range(1, 6), MANY).shares.size == 32
    for tolerance, limit in ((0.0, 1), (-1.0, 1), (1e-9, 0), (1e-9, -1), (float("nan"), 1)):
        with pytest.raises(InputError, match="the tolerance and the limit of rounds must be above 0"):
            most_likely(answers(1, 1), [0], WARNER, tolerance, limit)
