"""Learners on disguised data for Python programs: scikit-learn's interface to what `cotally mine` does."""
