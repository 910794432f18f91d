"""What people read when parties meet."""

import pytest

from party.show.parties import code_lines


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("0.0.0.0:7071", "reaches us on port 7071 of this machine."),
        ("[::]:7071", "reaches us on port 7071 of this machine."),
        ("127.0.0.1:7071", "reaches us at 127.0.0.1:7071."),
        ("[::1]:7071", "reaches us at [::1]:7071."),
    ],
)
def test_who_waits_for_a_code_tells_an_address_that_somebody_can_call(address: str, where: str) -> None:
    _, told, last = code_lines("111 222 333", address, 600)
    assert told.endswith(where)
    assert last.endswith("We listen, as our [node] address is not set.")
