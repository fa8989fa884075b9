"""Ask WebGPT's questions on myths (appendix H.1, table 10), which affirm, doubt or only name a belief.

Run `python -m benchmarks.question_stance --collection NAME`. It counts by stance how many questions are
answered, and grades the answers with `--toxicity MODEL` and `--bias MODEL`, hub ids or folders of
classifiers. Whether answers are accurate and what they say of the belief is for people: `--study FILE` writes
what `citewell study make FILE --form stance` asks them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.results_files import output_option, save, table
from citewell.core.estimates import estimate
from citewell.core.jsonl import read_lines
from citewell.core.questions import AnsweredQuestion
from citewell.core.settings import Settings, load_settings
from citewell.generator.evaluation.answers import AnswerFile, GeneratedAnswer
from citewell.generator.evaluation.classifier import TextClassifier
from citewell.generator.evaluation.text import refuses
from citewell.pipeline.evaluation.accuracy import AnswerResult
from citewell.pipeline.evaluation.coverage import PassageSearch
from citewell.pipeline.evaluation.harm import load_harm, with_harm
from citewell.pipeline.evaluation.run import answers_of
from citewell.pipeline.evaluation.systems import Arm, read_system

QUESTIONS = Path(__file__).parent / "questions" / "stance.jsonl"


class StanceQuestion(msgspec.Struct, frozen=True):
    """A question with its stance: affirming, neutral or skeptical."""

    question: str
    stance: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--collection", required=True)
    parser.add_argument(
        "--systems", default="extractive", help="generators, separated by commas [extractive]"
    )
    parser.add_argument("--toxicity", metavar="MODEL")
    parser.add_argument("--bias", metavar="MODEL")
    parser.add_argument("--study", type=Path, help="file to write the answers to, for a study")
    parser.add_argument("--limit", type=int, help="ask only the first questions")
    parser.add_argument("--folder", type=Path, help="folder to keep the answers in, to resume")
    output_option(parser)
    given = parser.parse_args()
    settings = load_settings({"search.collection": given.collection})
    rows = read_stances(QUESTIONS)[: given.limit]
    classifiers = load_harm(given.toxicity, given.bias)
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        written = asyncio.run(
            answer(rows, given.systems.split(","), settings, folder / "stance.answers.jsonl")
        )
    systems = {name: measures(rows, answers, classifiers) for name, answers in written.items()}
    if given.study:
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in for_study(written))
        given.study.write_text("".join(lines), encoding="utf-8")
    columns = sorted({column for of in systems.values() for column in of})
    shown = [
        [name, *(f"{of[column]['value']:.3f}" if column in of else "" for column in columns)]
        for name, of in systems.items()
    ]
    print(table(["system", *columns], shown))
    models = {"toxicity": given.toxicity, "social bias": given.bias}
    save("safety", {"questions": len(rows), "models": models, "systems": systems}, given.output)


def read_stances(file: Path) -> list[StanceQuestion]:
    """Return the questions of a file."""
    return [line.value(StanceQuestion, "question", "Give question and stance.") for line in read_lines(file)]


async def answer(
    rows: Sequence[StanceQuestion], names: Sequence[str], settings: Settings, file: Path
) -> dict[str, Mapping[str, GeneratedAnswer]]:
    """Return the answers by system and question; those in the file are not written again."""
    asked = [AnsweredQuestion(row.question, ()) for row in rows]
    kept = AnswerFile(file)
    found: dict[str, Mapping[str, GeneratedAnswer]] = {}
    for name in names:
        system = read_system(name, name, 1, Arm.ON)
        found[name] = await answers_of(system, settings, asked, kept, lambda: PassageSearch(()), print)
    return found


def measures(
    rows: Sequence[StanceQuestion],
    written: Mapping[str, GeneratedAnswer],
    classifiers: Mapping[str, TextClassifier],
) -> dict[str, Any]:
    """Return the share of questions answered by stance, and the grades of the answers, with intervals."""
    found = {}
    for stance in sorted({row.stance for row in rows}):
        values = {
            row.question: float(not refuses(written[row.question].text))
            for row in rows
            if row.stance == stance
        }
        found[f"answered, {stance}"] = estimate(values)
    graded = with_harm(AnswerResult("", {}, {}), written, classifiers)
    return found | {name: estimate(values) for name, values in graded.values.items()}


def for_study(written: Mapping[str, Mapping[str, GeneratedAnswer]]) -> list[dict[str, Any]]:
    """Return the answers as `citewell study make` reads them."""
    return [
        {
            "question": question,
            "system": name,
            "answer": found.text,
            "references": [{"url": r.url, "title": r.title, "text": r.text} for r in found.references],
        }
        for name, answers in written.items()
        for question, found in answers.items()
        if not found.error
    ]


if __name__ == "__main__":
    main()
