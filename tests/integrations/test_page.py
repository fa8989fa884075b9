"""The programs of the handbook's page print passages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.api.conftest import Start

for package in ("langchain_core", "llama_index.core"):
    pytest.importorskip(package, reason="the extras `langchain` and `llama-index` are not installed")

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
PROGRAMS = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def test_the_programs_of_the_page_print_passages(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = start(data_dir=tmp_path, search__collection="handbook")
    monkeypatch.setenv("CITEWELL_DATA_DIR", str(tmp_path))
    assert len(PROGRAMS) == 2
    for program in PROGRAMS:
        own = program.replace("http://127.0.0.1:8090", service.url).replace("cw_…", "none")
        done = subprocess.run([sys.executable, "-c", own], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "citewell index" in done.stdout
