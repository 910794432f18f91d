"""Learners: ID3 and Hybrid-ID3 over any count engine."""
