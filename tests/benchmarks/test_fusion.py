"""The benchmark of fusion, on a few passages."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fusion import read_pairs, runs
from citewell.retriever.evaluation.systems.dense import DenseSystem
from citewell.retriever.evaluation.systems.lexical import LexicalSystem, bm25
from tests.retriever.evaluation.made_up import WordEncoder, write_jsonl

TIDES = {"title": "Tides", "text": "The gravity of the Moon causes the tides."}
BREAD = {"title": None, "text": "Wild yeast makes bread rise."}
REGIMES = ("all scores", "two lists")
ROWS = (
    {"id": "a", "question": "What causes the tides?", "positive": [TIDES]},
    {"id": "b", "question": "What makes bread rise?", "positive": [BREAD, TIDES]},
    {"id": "c", "question": "Who knows?", "positive": []},
)


def test_every_way_of_fusing_ranks_the_questions_passages(tmp_path: Path) -> None:
    task = read_pairs(write_jsonl(tmp_path / "pairs.jsonl.gz", ROWS))
    assert task.corpus.passages == (f"Tides. {TIDES['text']}", BREAD["text"])
    assert task.qrels == {"a": {"0": 1}, "b": {"1": 1, "0": 1}}
    systems = (DenseSystem("dense", WordEncoder(), tmp_path), LexicalSystem("bm25", bm25))
    searchers = [system.read(task.corpus, None, lambda done, total: None).searcher for system in systems]
    found = runs(task, *searchers)
    columns = {column for _, column in found}
    assert columns == {regime + moved for regime in REGIMES for moved in ("", ", inner products + 2")}
    assert len(found) == 24 * len(columns)
    for way, run in found.items():
        assert max(run["a"], key=run["a"].__getitem__) == "0", way
        assert max(run["b"], key=run["b"].__getitem__) == "1", way
    for regime in REGIMES:
        run = found["standardized, weight 0.6", regime]
        assert run["a"] == pytest.approx({"0": 1, "1": -1}, abs=1e-6)
        moved = found["standardized, weight 0.6", f"{regime}, inner products + 2"]
        assert moved["a"] == pytest.approx(run["a"], abs=1e-5)
