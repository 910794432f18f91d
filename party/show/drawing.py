"""Progress of drawing: coins are keyed digests, a few microseconds each, and a survey may need millions."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from party.show.progress import MonotonicClock, Work, make_progress, working
from party.survey import Questionnaire
from protocols.randomized_response.design import Draw

_SILENT = 1.0


@contextmanager
def shown_work(work: Work, clock: MonotonicClock = time.monotonic) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with how much of a work is done; it shows that once it takes a while."""
    began = clock()
    with make_progress("auto", clock=clock) as display:

        def show(done: int, total: int) -> None:
            if clock() - began >= _SILENT:
                display.show(working(work, done, total))

        yield show


@contextmanager
def shown_candidates() -> Iterator[Callable[[int, int, int], None]]:
    """Yield the same for candidates of a number of items."""
    with shown_work(Work.CANDIDATES) as show:
        yield lambda _, done, total: show(done, total)


@contextmanager
def shown_drawing(
    questionnaire: Questionnaire, clock: MonotonicClock = time.monotonic
) -> Iterator[Callable[[Draw], Draw]]:
    """Yield what puts itself between a disguise and its draws, and shows how many are done."""
    done = 0
    with shown_work(Work.DRAWING, clock) as show:

        def watch(draw: Draw) -> Draw:
            def watched(purpose: bytes, bound: int) -> NDArray[np.int64]:
                nonlocal done
                drawn = draw(purpose, bound)
                done += 1
                show(done, questionnaire.draws)
                return drawn

            return watched

        yield watch
