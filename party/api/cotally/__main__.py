"""`python -m cotally` is `cotally`."""

import sys

from party.cli.start import start

sys.exit(start())
