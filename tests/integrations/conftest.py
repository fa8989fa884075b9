"""The real service over a small collection, and the settings with which this process reads the same one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.api.conftest import Service, collection_data, service, settings, start

__all__ = ["collection_data", "service", "settings", "start"]


@pytest.fixture(params=["service", "installation"])
def source(request: pytest.FixtureRequest, collection_data: Path) -> dict[str, Any]:
    """The arguments of a retriever for each of both sources, which give the same passages."""
    if request.param == "service":
        running: Service = request.getfixturevalue("service")
        return {"url": running.url}
    return {"collection": "notes", "settings": {"data_dir": collection_data, "fetch__cache": False}}
