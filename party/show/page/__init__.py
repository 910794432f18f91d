"""A finished run as one page: the tree drawn, what it is worth, who learned what."""
