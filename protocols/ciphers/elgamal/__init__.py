"""ElGamal in the exponent on a curve (DESIGN 6.5), behind the port of ciphers.

Over `protocols.ciphers.curve`, `keys`, `encryption`, `sums`, `logarithms` and `sealing` are the arithmetic; `cipher`
gives it the names of the port.
"""
