"""How messages reach a peer: a `Channel` carries one session, `drive` runs a role over it; gRPC stays in `grpc`."""
