"""`citewell mcp` in processes of its own, over the collection `notes`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.notes import notes, shared_data

__all__ = ["notes", "shared_data"]

COMMAND = str(Path(sys.executable).with_name("citewell"))


@pytest.fixture
def environment(shared_data: Path, cache: Path, minilm_folder: Path) -> dict[str, str]:
    """The variables of a process that searches `notes`; the encoder's weights are already converted."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
    settings = {
        "DATA_DIR": str(shared_data),
        "CACHE_DIR": str(cache),
        "SEARCH__COLLECTION": "notes",
        "FETCH__CACHE": "false",
        "FETCH__ALLOW_NETWORKS": "127.0.0.0/8",
        "GENERATOR__NAME": "extractive",
    }
    return own | {f"CITEWELL_{name}": value for name, value in settings.items()}
