"""What holds for every test.

Interrupts reach the tests' processes, however the tests were started: a shell's background jobs ignore them. No example
of a property has a deadline: the machine may be busy with something else.
"""

import signal

from hypothesis import settings

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("cotally", deadline=None)
settings.load_profile("cotally")
