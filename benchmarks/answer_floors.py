"""The floors of the answer gate: how often quoted answers hold an accepted answer.

For 40 development questions of QED, sentences of five paragraphs are quoted, of which one answers.
`python -m benchmarks.answer_floors --pin` raises the floors to slightly below the current scores. Lowering a
floor requires `--lower`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.answer_sentences import QED_DEV
from benchmarks.floors import gate, sha256s
from citewell.core.jsonl import read_lines
from citewell.core.questions import AnsweredQuestion
from citewell.core.settings import load_settings
from citewell.core.text import words
from citewell.core.types import Reference
from citewell.generator.evaluation.answers import GeneratedAnswer
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.evaluation.accuracy import ACCURACY, ANSWERED, IN_CITED, measure
from citewell.pipeline.evaluation.answering import generated
from citewell.pipeline.evaluation.systems import AnswerSystem, Arm

FLOORS = Path(__file__).parent.parent / "tests" / "pipeline" / "evaluation" / "floors.json"
_FILE = "qa_pairs/qed_train.jsonl.gz"
_QUESTIONS, _REFERENCES = 40, 5
_LONGEST = 80  # words of a paragraph
_MARGIN = 0.03  # one answer, since int8 rounds differently on each processor
_SYSTEM = AnswerSystem(label="quoting", arm=Arm.ON, name="extractive")


def checksums(data: Path) -> dict[str, str]:
    """Return the SHA-256 of the input file."""
    return sha256s(data, (_FILE,))


def measured(data: Path) -> dict[str, float]:
    """Return the accuracy of quoted answers."""
    rows = _rows(data)
    asked = [AnsweredQuestion(row["question"], tuple(row["answer"])) for row in rows]
    values = measure(_SYSTEM, asked, asyncio.run(_quoted(rows))).values
    return {name: mean(values[name].values()) for name in (ACCURACY, IN_CITED, ANSWERED)}


def _rows(data: Path) -> list[dict[str, Any]]:
    dev = {line.row()["question"] for line in read_lines(QED_DEV)}
    everything = (line.row() for line in read_lines(data / _FILE))
    rows = [row for row in everything if row["question"] in dev and row["answer"]]
    short = [row for row in rows if len(words(row["positive"][0]["text"])) <= _LONGEST]
    return list({row["question"]: row for row in short}.values())[:_QUESTIONS]


async def _quoted(rows: list[dict[str, Any]]) -> dict[str, GeneratedAnswer]:
    """Quote from the paragraphs of five questions at a time, so that the right one is in any place."""
    settings = load_settings({"generator.name": "extractive", "search.collection": "handbook"})
    found = {}
    async with open_pipeline(settings) as pipeline:
        for place, row in enumerate(rows):
            begin = place - place % _REFERENCES
            paragraphs = [each["positive"][0] for each in rows[begin : begin + _REFERENCES]]
            references = [
                Reference(number, paragraph["url"], paragraph["title"], paragraph["text"], 0.0)
                for number, paragraph in enumerate(paragraphs, 1)
            ]
            found[row["question"]] = await generated(pipeline.write(row["question"], references))
    return found


if __name__ == "__main__":
    gate(__doc__, "accuracy", FLOORS, checksums, measured, _MARGIN)
