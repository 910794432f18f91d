"""What keeps a node or a call from starting, and what its environment cannot change."""

import pytest

from party.errors import ConfigError
from party.transport.grpc.server import NodeServer
from tests.support.rpc import Parties


def test_a_node_without_a_peer_is_refused(parties: Parties) -> None:
    with pytest.raises(ConfigError, match="no peer is trusted"):
        NodeServer.listen(parties.bob, [], "127.0.0.1:0")


def test_pure_python_protobuf_is_refused_at_both_ends(parties: Parties, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("google.protobuf.internal.api_implementation.Type", lambda: "python")
    with pytest.raises(ConfigError, match="pure-Python"):
        parties.serve()
    with pytest.raises(ConfigError, match="pure-Python"):
        parties.connect("127.0.0.1:1")


def test_the_environments_proxy_is_not_used(parties: Parties, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with parties.serve() as server:
        channel = parties.connect(server.address, patience=2.0)
        assert server.accept(5).peer != channel.peer
        channel.close()
