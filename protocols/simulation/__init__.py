"""Runs of both parties in one process, and of a survey with drawn respondents, for experiments: no command uses these.

Coins come in bulk from a seeded generator, and exact counts from the joined table.
"""
