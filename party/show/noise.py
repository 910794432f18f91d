"""Noise in words: what it bounds, and what it costs."""

from math import sqrt

from party.settings.noise import noise_text
from protocols.noise.accounting import Spending
from protocols.noise.geometric import most_variance
from protocols.terms import Method, Terms


def noise_lines(terms: Terms, ours: Spending | None, theirs: Spending | None) -> list[str]:
    """Say what noise bounds and by how much told numbers are off; nothing where counts are exact.

    Args:
        terms: Of the run.
        ours: What we spend.
        theirs: What the peer spends.
    """
    if ours is None or theirs is None:
        return []
    what = "the whole run" if terms.method == Method.SMC else "all counts, beside the disguised copies,"
    cells = sqrt(most_variance(ours.cells, theirs.cells))
    tested = sqrt(most_variance(ours.accuracy, theirs.accuracy))
    correct = f", the number classified correctly by {tested:.1f}" if terms.test else ""
    bound = f"{what} tells epsilon {noise_text(ours.epsilon)} against each side at most (delta {float(ours.delta):.1e})"
    scales = f"noise of scale {float(ours.cells.scale):,.1f} (ours) and {float(theirs.cells.scale):,.1f} (the peer's)"
    off = f"{scales} puts a told count off by about {cells:,.0f} records (standard deviation){correct}"
    return [f"Noise: {bound}; {off}"]
