"""What the results of all benchmarks have in common."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.results_files import command, save


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["/usr/bin/python3", "-X", "dev", "-m", "benchmarks.floors"], "python -m benchmarks.floors"),
        (
            ["python", "-m", "benchmarks.floors", "--data-dir", "/home/me/x", "--limit", "3"],
            "python -m benchmarks.floors --data-dir PATH --limit 3",
        ),
        (
            ["python", "-m", "benchmarks.floors", "--output", "x.json", "--quick"],
            "python -m benchmarks.floors --quick",
        ),
    ],
)
def test_the_command_of_a_result_names_no_path_of_this_machine(words: list[str], shown: str) -> None:
    assert command(words) == shown


def test_a_result_has_its_command_and_its_machine(tmp_path: Path) -> None:
    save("floors", {"value": 1}, tmp_path / "new" / "out.json")
    result = json.loads((tmp_path / "new" / "out.json").read_text(encoding="utf-8"))
    assert list(result) == ["command", "machine", "date", "value"]
    assert "cores" in result["machine"]
