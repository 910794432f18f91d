"""Ciphers that add without decrypting, behind one port (`protocols.ciphers.port`).

Counting and runs know the port alone; how a party encrypts is decided where its key is made.
"""
