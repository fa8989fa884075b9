from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")

EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, code in enumerate(PYTHON.findall(page.read_text(encoding="utf-8")))
    if not code.startswith(">>>")  # those are doctests, which test_public_api.py runs
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_python_of_the_handbook_runs(code: str, tmp_path: Path) -> None:
    environment = os.environ | {"CITEWELL_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "[1]" in done.stdout


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_the_handbook_lead_somewhere(page: Path) -> None:
    missing = [
        link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()
    ]
    assert not missing
