"""Association rules from randomized transactions (Review section 3; DESIGN 9)."""
