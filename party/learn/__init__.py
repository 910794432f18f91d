"""Learners on disguised data for Python programs: scikit-learn's interface to what `cotally mine` does."""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("these learners need scikit-learn: pip install '.[learn]' in cotally's clone")
