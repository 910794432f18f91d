"""A model as SQL, PMML, Python or a JSON schema, which holds no more than the model's file.

A column has its name, or `party.name` where both parties have one of that name, as for `predict`; the rows have the
columns of both. What reads cells here has the rules of `party.models.prediction`, as far as its language goes.
"""
