"""Count engines: the same `N(E)` over plaintext, estimates and two secure protocols."""
