"""Comparisons by rules: what each sets against what, and that a scorer's data reads them."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace

from benchmarks.scorer_pairs import pairs
from citewell.scorer.data.reading import read_comparisons
from tests.bootstrap.outcomes import drop, references, sample

BEES = replace(sample("a", "Why do bees dance?"), references=references("Bees dance.", "They tell."))
TIDES = sample("b", "What causes tides?")


def test_each_rule_sets_the_kept_answer_against_a_worse_one() -> None:
    other = replace(drop("a", "hallucination"), question=BEES.question)
    rows = {row["kind"]: row for row in pairs([BEES, TIDES, drop("c", "short")], [other])
            if row["question"] == BEES.question}  # fmt: skip
    assert set(rows) == {"kept", "references", "whole"}
    better = {kind: row["answers"][row["preferred"]] for kind, row in rows.items()}
    worse = {kind: row["answers"][1 - row["preferred"]] for kind, row in rows.items()}
    assert all(each["text"] == BEES.answer for each in better.values())
    assert worse["kept"]["text"] == "Rambling."
    assert worse["references"]["text"] == BEES.answer
    assert [each["text"] for each in worse["references"]["references"]] == [r.text for r in TIDES.references]
    assert worse["whole"]["text"] in ("An answer to a[1].", "And more of it[2].")


def test_a_scorers_data_reads_the_comparisons(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in pairs([BEES, TIDES], [])))
    data = read_comparisons(file)
    assert len(data.comparisons) == 4
    assert all(each.references and each.second_references for each in data.comparisons)
