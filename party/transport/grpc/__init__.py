"""Channels between two machines: gRPC under mutual TLS. No other package imports grpc.

The initiator is a client only, so one side alone needs an open port. It numbers the calls, so that a repeated one
is harmless; it repeats them itself, with the same bytes, and gRPC never does (FAULTS C6).
"""
