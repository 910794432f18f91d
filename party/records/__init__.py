"""What a party remembers of its runs, and reports about them."""
