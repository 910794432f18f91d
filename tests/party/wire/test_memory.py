"""What the frames of a peer cost in memory before anything is agreed: of the longest that are let in, made to be heavy.

NB: 16 MiB of empty columns once took 74 bytes for each byte sent. Limits of each kind, before parsing, end that.
"""

import subprocess
import sys

from party.wire import codec
from protocols import messages as m

BEFORE_AN_AGREEMENT = (
    m.Greeting, m.MemoryHeads, m.PeopleOffer, m.HiddenContents, m.JointDigests, m.Share, m.TableCommitment, m.Verdict,
)  # fmt: skip
PARSE = """
import resource
from party.wire import codec
from party.wire.v1 import node_pb2 as wire
from protocols.errors import PeerError
from protocols.messages import Share

most = codec.longest_frame(Share, wire.Frame(share=wire.Share(records=1)).SerializeToString())
share = wire.Share(records=1, {heavy})
frame = wire.Frame(share=share).SerializeToString()
assert most - 40 < len(frame) <= most
del share
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    codec.decode(frame, Share)
except PeerError:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
HEAVY = {
    "columns without a name": "attributes=[wire.Attribute()] * (most // 2 - 8)",
    "values without a letter": "attributes=[wire.Attribute(values=[''] * (most // 2 - 8))]",
    "groups without a column": "groups=[wire.Group()] * (most // 2 - 8)",
}


def test_no_message_costs_more_than_its_bound() -> None:
    for kind in BEFORE_AN_AGREEMENT:
        (entry,) = [entry for entry in codec.ENTRIES if entry.kind is kind]
        assert codec.longest_frame(kind, entry.start) <= 1 << 20
    # The whole of it, which no second one can come beside: a session reads one message at a time.
    for heavy in HEAVY.values():
        command = [sys.executable, "-c", PARSE.format(heavy=heavy)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        assert int(ended.stdout) < 160 * 1024  # KiB on Linux, bytes on macOS: then it is weaker than it looks
