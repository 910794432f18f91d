"""How messages reach a peer: a channel carries one session, `drive` runs a role over it; gRPC stays in `grpc`."""
