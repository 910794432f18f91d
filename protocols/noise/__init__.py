"""Noise on counts, winners, labels and scores, drawn by integers alone, and its costs (DESIGN 14 and 16, "Noise")."""
