"""The benchmark of indexes runs at small sizes, and what it measures is plausible."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_array_and_flat_search_are_exact_and_the_others_nearly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.dense_scale", "--sizes", "600", "--questions", "20"]
    done = subprocess.run([*command, "--output", str(tmp_path / "out.json")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out.json").read_text())["results"]
    assert [result["kind"] for result in results] == ["array", "flat", "ivf", "hnsw"]
    assert [result["default"] for result in results] == [True, False, False, False]
    best = [max(found["recall@10"] for found in result["searches"]) for result in results]
    assert min(best[:2]) >= 0.99
    assert min(best) >= 0.9
    assert "| 600 | array (default) |" in done.stdout
