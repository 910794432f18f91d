"""What a design of randomized response discloses and keeps, in exact measures and in plain words (DESIGN 10)."""
