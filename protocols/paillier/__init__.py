"""Paillier encryption: keys, ciphertexts, fast encryption by the key holder, and packed replies."""
