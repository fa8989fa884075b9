"""Says that it is ready, waits for a line, migrates, and prints the migrations that it ran.

python migrator.py URL
"""

from __future__ import annotations

import sys

from citewell.server.store.address import read_address
from citewell.server.store.engine import open_migrating_engine
from citewell.server.store.migrate import migrate

address = read_address(sys.argv[1])
if address.file is None:
    open_migrating_engine(address).connect().close()  # the driver is loaded, so that all begin at once
print("ready", flush=True)  # noqa: T201
sys.stdin.readline()
print(*migrate(address))  # noqa: T201
