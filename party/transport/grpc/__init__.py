"""Channels between two machines by gRPC under mutual TLS.

No other package imports grpc. The initiator is a client only, so one side alone needs an open port. It numbers the
calls, so that a repeated one is harmless; it repeats them itself, with the same bytes, and gRPC never does (FAULTS C6).

What gRPC would write of its own to the standard error stays unsaid, unless GRPC_VERBOSITY is set: any stranger can make
it write, line after line, and what matters to the owner is an error of ours.
"""

import os

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # read when gRPC starts
