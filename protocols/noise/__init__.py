"""Noise on exact counts, drawn by integers alone, and what it costs (DESIGN 14, "Noise")."""
