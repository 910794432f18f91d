"""What a design of randomized response discloses and what it keeps secret, in exact measures (DESIGN 10)."""
