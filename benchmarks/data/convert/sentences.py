"""Questions with sentences of a passage, of which people marked those that answer: CLAP NQ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data.detokenize import detokenized
from benchmarks.data.rows import SPACED, Row, chosen, lines


def clapnq(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the development questions of CLAP NQ, those with an answer first."""
    rows = (
        _sentences(json.loads(line), answerable=name == "answerable")
        for name in ("answerable", "unanswerable")
        for line in (originals / f"annotated_data/dev/clapnq_dev_{name}.jsonl")
        .read_text(encoding="utf-8")
        .split("\n")
        if line
    )
    yield "answer_sentence/clapnq_dev.jsonl.gz", lines(chosen("clapnq", rows), SPACED)


def _sentences(entry: dict[str, Any], *, answerable: bool) -> Row:
    passage = entry["passages"][0]
    marked = {sentence for output in entry["output"] for sentence in output["selected_sentences"]}
    return {
        "id": f"clapnq-{entry['id']}",
        "question": entry["input"],
        "title": passage["title"],
        "candidates": [
            {"text": detokenized(sentence), "label": int(sentence in marked)}
            for sentence in passage["sentences"]
        ],
        "answers": [output["answer"] for output in entry["output"] if output["answer"]],
        "answerable": answerable,
        "source": "clapnq_dev",
    }
