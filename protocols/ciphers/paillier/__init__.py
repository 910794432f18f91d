"""Paillier encryption: keys, ciphertexts that cross, fast encryption, packed replies (DESIGN 6.2, 6.3).

Semi-honest peers; a peer that deviates gets neither our key nor more than the slots of one reply (FAULTS 1a).
"""
