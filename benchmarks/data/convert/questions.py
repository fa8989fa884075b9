"""Questions with short answers: NQ-open, those of WebGLM's evaluation, TruthfulQA and ALCE's ELI5."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data.rows import Row, chosen, lines, question_id

_NQ = "data CC BY-SA 3.0"


def nq_open(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the development questions of NQ-open."""
    rows = _short_answers(originals / "nq_open/NQ-open.dev.jsonl", "nqopen", _NQ)
    yield "questions/nq_open.jsonl.gz", lines(chosen("nq_open", rows))


def webglm_questions(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the 400 questions each of NQ-open and WebQuestions that WebGLM drew."""
    for name, file, license_ in (
        ("nq400", "data/nq_open.jsonl", f"Apache-2.0 (repository); {_NQ}"),
        ("webq400", "data/web_questions.jsonl", "Apache-2.0 (repository); WebQuestions CC BY 4.0"),
    ):
        rows = _short_answers(originals / file, name, license_)
        yield f"questions/{name}.jsonl.gz", lines(chosen(name, rows))


def truthfulqa(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert TruthfulQA's table of questions, whose lists of answers are separated by semicolons."""
    yield "questions/truthfulqa.jsonl.gz", lines(chosen("truthfulqa", _truthful(originals)))


def alce_eli5(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert ALCE's questions of ELI5 with three claims each."""
    found = json.loads((originals / "data/eli5.json").read_text(encoding="utf-8"))
    rows = (
        {
            "id": f"eli5-{question_id(each['question'])}",
            "question": each["question"].strip(),
            "context": each["question_ctx"].replace("[removed]", "").strip(),
            "answer": each["answer"].strip(),
            "claims": each["claims"],
            "license": "no licence file (ALCE MIT; Reddit ELI5 text)",
        }
        for each in found
    )
    yield "questions/alce_eli5.jsonl.gz", lines(chosen("alce_eli5", rows))


def _short_answers(file: Path, prefix: str, license_: str) -> Iterator[Row]:
    with file.open(encoding="utf-8") as content:
        for line in content:
            row = json.loads(line)
            yield {
                "id": f"{prefix}-{question_id(row['question'])}",
                "question": row["question"],
                "answer": row["answer"],
                "license": license_,
            }


def _truthful(originals: Path) -> Iterator[Row]:
    with (originals / "TruthfulQA.csv").open(encoding="utf-8", newline="") as content:
        for row in csv.DictReader(content):
            yield {
                "id": f"tqa-{question_id(row['Question'])}",
                "question": row["Question"],
                "answer": row["Best Answer"],
                "correct_answers": _parts(row["Correct Answers"]),
                "incorrect_answers": _parts(row["Incorrect Answers"]),
                "type": row["Type"],
                "category": row["Category"],
                "source": row["Source"],
                "license": "Apache-2.0",
            }


def _parts(text: str) -> list[str]:
    return [part for each in text.split(";") if (part := each.strip())]
