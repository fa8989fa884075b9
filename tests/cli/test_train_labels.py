"""`citewell train labels`, from outside: a language model on this machine judges passages."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bootstrap.labels.test_labels import PAIRS
from tests.cli.conftest import Cli
from tests.core.tiny_gguf import write_gguf


def test_a_model_labels_without_the_adapter_of_the_settings_and_goes_on(cli: Cli, tmp_path: Path) -> None:
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "labels.jsonl"
    pairs.write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    teacher = write_gguf(tmp_path / "tiny.gguf")
    label = ("train", "labels", pairs, "--teacher", teacher, "--out", out)
    no_folder = {"CITEWELL_GENERATOR__JUDGE_ADAPTER": str(tmp_path / "none")}

    first = cli.run(*label, "--limit", "1", env=no_folder)
    assert first.code == 0, first.err
    (begun,) = out.read_text().splitlines()
    rest = cli.run(*label, env=no_folder)
    assert rest.code == 0, rest.err
    lines = out.read_text().splitlines()
    assert lines[0] == begun
    found = [json.loads(line) for line in lines]
    assert {row["question"] for row in found} == {"q1", "q2"}
    assert len({(row["question"], row["passage"]) for row in found}) == len(found)
    assert all(0 <= row["yes"] <= 1 for row in found)
    assert f"{len(found)} labels, {len(found) - 1} of them from this run" in rest.out
