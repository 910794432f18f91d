"""Random joint tables with everything around them, for hypothesis."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.tables import Codes
from protocols.terms import Terms
from tests.support.parties import Case, make_local, make_terms

THETAS = tuple(map(Fraction, ("9/20", "9/10", "3/4", "1/7", "7/11")))


@st.composite
def cases(draw: st.DrawFn, rows: int = 36, sizes: tuple[int, int] = (2, 5)) -> Case:
    """Draw a joint table and who holds what of it; the terms are the usual ones with a drawn theta, seed and test.

    Where a group has too many offsets for theta, its mirror image is taken.
    """
    owners = draw(st.sampled_from([("alice",), ("bob",), ("alice", "bob")]))
    domains = st.integers(*sizes)
    alice = draw(st.lists(domains, min_size=0 if "alice" in owners else 1, max_size=3))
    bob = draw(st.lists(domains, min_size=0 if "bob" in owners and alice else 1, max_size=3))
    classes = draw(st.integers(2, 4))
    count = draw(st.integers(1, rows))
    case = Case(
        sizes={"alice": tuple(alice), "bob": tuple(bob)},
        class_owners=owners,
        classes=classes,
        codes=_codes(draw(st.integers(0, 2**32 - 1)), [*alice, *bob, classes], count),
        groups={"alice": draw(st.integers(1, 3)), "bob": draw(st.integers(1, 3))},
        terms=draw(_terms()),
        initiator=draw(st.sampled_from(["alice", "bob"])),
    )
    return case if _can_follow(case) else replace(case, terms=replace(case.terms, theta=1 - case.terms.theta))


def _can_follow(case: Case) -> bool:
    try:
        for party in ("alice", "bob"):
            make_local(case, party).design(case.terms.theta, class_is_shared=False)
    except InputError as error:
        return error.field != "theta"
    return True


@st.composite
def _terms(draw: st.DrawFn) -> Terms:
    return make_terms(
        theta=draw(st.sampled_from(THETAS)),
        seed=draw(st.integers(0, 9)),
        test=draw(st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(1, 2)])),
    )


def _codes(seed: int, sizes: Sequence[int], rows: int) -> Codes:
    """Return rows from a small pool with a few cells changed, so that trees are neither trivial nor all noise."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, sizes, size=(1 + rows // 3, len(sizes)))
    codes = pool[rng.integers(0, len(pool), rows)]
    noise = rng.random(codes.shape) < 0.1
    result: Codes = np.where(noise, rng.integers(0, sizes, size=codes.shape), codes).astype(np.uint8)
    return result


def correlated(sizes: Sequence[int], rows: int, seed: int = 0, flips: float = 0.2) -> Codes:
    """Return rows whose columns all follow the last one, apart from a share of random cells."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, sizes[-1], size=(rows, 1))
    noise = rng.random((rows, len(sizes))) < flips
    noise[:, -1] = False
    mixed = np.where(noise, rng.integers(0, 256, size=noise.shape), base)
    codes: Codes = (mixed % np.array(sizes)).astype(np.uint8)
    return codes
