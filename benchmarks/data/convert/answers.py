"""Long answers and preferences: ALCE's demonstrations and the helpful part of Anthropic's comparisons."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data.rows import Row, chosen, lines, question_id, sha1

_PARTS = ("helpful-base", "helpful-online", "helpful-rejection-sampled")
_TURN = "\n\nAssistant:"


def alce_demos(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the demonstrations of ALCE's default prompts."""
    yield "longform/alce_demos.jsonl.gz", lines(_demos(originals))


def hh_helpful(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the test files of the helpful comparisons: what both sides share becomes the prompt."""
    rows = (row for part in _PARTS for row in _comparisons(originals, part))
    yield "preferences/hh_helpful.jsonl.gz", lines(chosen("hh_helpful", rows))


def _demos(originals: Path) -> Iterator[Row]:
    for name in ("asqa", "eli5", "qampari"):
        prompt = json.loads((originals / f"prompts/{name}_default.json").read_text(encoding="utf-8"))
        for demo in prompt["demos"]:
            yield {
                "id": f"alce-{name}-demo-{question_id(demo['question'], 8)}",
                "dataset": name,
                "question": demo["question"],
                "answer": demo["answer"],
                "references": [
                    {"n": number, "title": each["title"], "url": None, "text": each["text"]}
                    for number, each in enumerate(demo["docs"], 1)
                ],
                "license": "MIT",
            }


def _comparisons(originals: Path, part: str) -> Iterator[Row]:
    with gzip.open(originals / f"data/{part}/test.jsonl.gz", "rt", encoding="utf-8") as content:
        for line in content:
            pair = json.loads(line)
            prompt, _, good = pair["chosen"].rpartition(_TURN)
            other, _, bad = pair["rejected"].rpartition(_TURN)
            if prompt != other:
                continue
            prompt, good, bad = (prompt + _TURN).strip(), good.strip(), bad.strip()
            yield {
                "id": f"hh-{sha1(f'{prompt}|{good}|{bad}')}",
                "prompt": prompt,
                "chosen": good,
                "rejected": bad,
                "subset": part,
                "license": "MIT",
            }
