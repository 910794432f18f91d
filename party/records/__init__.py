"""What a party remembers and reports of its runs."""
