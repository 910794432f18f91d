"""How messages reach a peer: frames in pages, queues that hold a sender back, and gRPC between two machines.

A `Channel` carries one session with one peer; `play` runs a role over it. `party.transport.grpc` alone knows gRPC.
"""
