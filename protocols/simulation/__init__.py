"""Runs of both parties in one process, and of a survey with drawn respondents, for experiments, and forecasts of rules.

Coins come in bulk from a seeded generator, and exact counts from the joined table.
"""
