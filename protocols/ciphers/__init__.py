"""Ciphers that add without decrypting, behind one port (`protocols.ciphers.port`).

Counting and runs know the port alone; which cipher a party uses is decided where its keys are made.
"""
