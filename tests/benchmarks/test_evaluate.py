"""`citewell eval` through `benchmarks.evaluate`."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.evaluate import thinned
from benchmarks.results_files import RESULTS

CORPUS = {
    "a": "Bats find their way by echolocation.",
    "b": "The Moon causes the tides.",
    "c": "Bread is baked.",
}


def test_figures_are_kept_with_their_command(tmp_path: Path) -> None:
    data = tmp_path / "data" / "tiny"
    (data / "qrels").mkdir(parents=True)
    rows = (json.dumps({"_id": name, "title": "", "text": text}) + "\n" for name, text in CORPUS.items())
    (data / "corpus.jsonl").write_text("".join(rows))
    (data / "queries.jsonl").write_text('{"_id": "q", "text": "What causes the tides?"}\n')
    (data / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tb\t1\n")
    (data / "mine.run").write_text("q Q0 b 1 1.0 mine\n")
    out = tmp_path / "out.json"
    words = ("tiny", "eval", "retrieval", str(data), "--systems", f"bm25,{data / 'mine.run'}")
    subprocess.run(
        [sys.executable, "-m", "benchmarks.evaluate", "--output", str(out), *words],
        cwd=RESULTS.parents[1],
        env=os.environ | {"CITEWELL_DATA": str(tmp_path / "data")},
        check=True,
        capture_output=True,
    )
    found = json.loads(out.read_text())
    assert found["command"] == (
        "python -m benchmarks.evaluate tiny eval retrieval $CITEWELL_DATA/tiny "
        "--systems bm25,$CITEWELL_DATA/tiny/mine.run"
    )
    assert found["systems"]["bm25"]["nDCG@10"] == 1
    assert list(found["systems"]) == ["bm25", "$CITEWELL_DATA/tiny/mine.run"]
    assert "nDCG@10" in found["comparisons"]
    assert str(tmp_path) not in out.read_text()


def test_every_fourth_line_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl.gz"
    with gzip.open(file, "wt") as lines:
        lines.writelines(f"{number}\n" for number in range(9))
    (tmp_path / "kept").mkdir()
    kept = thinned(file, 4, tmp_path / "kept")
    assert kept.name == "every-4-questions.jsonl"
    assert kept.read_text() == "0\n4\n8\n"
    own = tmp_path / "own.jsonl"  # in the folder of the results
    own.write_text("0\n1\n2\n")
    thinned(own, 2, tmp_path)
    assert own.read_text() == "0\n1\n2\n"
