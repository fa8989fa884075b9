"""Making the tools leaves the logging of the process as it is."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

PROGRAM = """
import logging
from citewell.core.settings import load_settings
from citewell.server.app import create_app

create_app(load_settings())
root = logging.getLogger()
print(root.handlers, root.level == logging.WARNING)
"""


def test_the_service_leaves_logging_to_the_program_that_runs_it() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "[] True\n"
