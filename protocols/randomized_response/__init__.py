"""Randomized response: groups of attributes disguised by one secret coin, and unbiased estimates from them."""
