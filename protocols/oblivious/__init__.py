"""Oblivious transfer in bulk, and counts as shares by it (DESIGN 15).

    curve       points of secp256k1, for the first transfers and for comparisons
    base        128 transfers each way, from points of a curve
    seeds       from these, trees of seeds of which one side lacks one leaf each
    extension   from these, both directions of a session: as many transfers as are wanted, each page checked
    masks       strings from the keys of a transfer: a mask for every use
    products    a bit of one side times numbers of the other, as shares; sums of such products
    gates       from both directions, products of random bits and strings; bits as shares, and what is computed of them
    prf         a random function of ids: one side has the key, the other a value in each place of a table of its ids
    programmed  numbers in the places of a table, equal where an id is common

Assumed, in the whole layer: oracle Diffie-Hellman on secp256k1 and random oracles for `base` and `seeds`; AES as an
ideal permutation for `masks`, and as a pseudorandom one for streams of seeds. Nothing here is ever kept or made again:
a run that goes on has a new session, with new nonces.
"""
