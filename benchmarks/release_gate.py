"""The gate of releases: a hundred questions, whose right answers must not become fewer than in the last one.

`python -m benchmarks.release_gate` asks the handbook and a folder of notes, which come with the repository,
the questions about them in `questions/reading.jsonl`, `newcomer.jsonl` and `unanswerable.jsonl`, and prints
how many quoted answers are right, beside the figures of the last release and their 95% intervals. A test
fails if a figure is below its interval. `--pin` makes these the figures of the release, with `--lower` also
if one is below.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.reading import NOTES, QUESTIONS, prepare
from benchmarks.results_files import RESULTS, save, table
from citewell.core.answers import has_answer
from citewell.core.estimates import estimate
from citewell.core.events import final_answer
from citewell.core.settings import load_settings
from citewell.core.types import Answer
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.collections import HANDBOOK

RELEASE = RESULTS / "release_gate.json"
_FILES = ("reading", "newcomer", "unanswerable")

Values = dict[str, dict[str, float]]
"""{measure: {question: 0 or 1}}"""


class GateQuestion(NamedTuple):
    """A question to a collection, with words of a right answer; without `says`, a refusal is right."""

    collection: str
    question: str
    says: str


def questions() -> Iterator[GateQuestion]:
    """Yield the questions."""
    for name in _FILES:
        for line in (QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            collection = row.get("collection", HANDBOOK)
            if collection in (HANDBOOK, NOTES):
                yield GateQuestion(collection, row["question"], row.get("fact") or row.get("says") or "")


async def ask(asked: list[GateQuestion], data_dir: Path) -> Values:
    """Return what is right of the quoted answers; the collections are indexed in `data_dir`."""
    found: Values = {"right": {}, "right, answerable": {}, "in references": {}, "refused, unanswerable": {}}
    for name in (HANDBOOK, NOTES):
        settings = load_settings(
            {
                "data_dir": data_dir,
                "search.collection": name,
                "search.seconds": 300,  # no busy machine may fail the gate
                "generator.name": "extractive",
            }
        )
        prepare(settings)
        async with open_pipeline(settings) as pipeline:
            for one in asked:
                if one.collection == name:
                    grade(one, await final_answer(pipeline.ask(one.question)), found)
    return found


def grade(one: GateQuestion, answer: Answer, found: Values) -> None:
    """Add the values of a question to those that are found."""
    if one.says:
        right = has_answer(answer.answer, [one.says])
        found["right, answerable"][one.question] = right
        found["in references"][one.question] = any(has_answer(r.text, [one.says]) for r in answer.references)
    else:
        right = found["refused, unanswerable"][one.question] = answer.outcome == "no_evidence"
    found["right"][one.question] = right


def fallen(values: Values, release: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the measures below their interval in the release, with the questions that were right there.

    Exits if the release was asked other questions.
    """
    if any(values[name].keys() != each["values"].keys() for name, each in release["measures"].items()):
        sys.exit("The release was asked other questions: python -m benchmarks.release_gate --pin")
    return {
        name: [question for question, value in values[name].items() if value < each["values"][question]]
        for name, each in release["measures"].items()
        if estimate(values[name])["value"] < each["low"]
    }


def main() -> None:
    """Ask, compare with the last release, and pin on demand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pin", action="store_true", help="keep these figures as those of the release")
    parser.add_argument("--lower", action="store_true", help="also if one is below the last interval")
    arguments = parser.parse_args()
    release = json.loads(RELEASE.read_text(encoding="utf-8")) if RELEASE.exists() else {"measures": {}}
    with tempfile.TemporaryDirectory() as temporary:
        values = asyncio.run(ask(list(questions()), Path(temporary)))
    rows = [
        [name, len(of), f"{estimate(of)['value']:.3f}", shown(release["measures"].get(name))]
        for name, of in values.items()
    ]
    print(table(["measure", "questions", "now", f"release {release.get('release', '')}".strip()], rows))
    below = {} if arguments.pin and arguments.lower else fallen(values, release)
    for name, lost in below.items():
        print(f"\n{name} is below the interval. No longer right:\n" + "\n".join(f"- {each}" for each in lost))
    if below:
        sys.exit(1)
    if arguments.pin:
        measures = {name: estimate(of) | {"values": of} for name, of in values.items()}
        save(RELEASE.stem, {"release": version("citewell"), "measures": measures})


def shown(measure: Mapping[str, float] | None) -> str:
    """Return a figure of the release with its interval."""
    return f"{measure['value']:.3f} ({measure['low']:.3f} to {measure['high']:.3f})" if measure else ""


if __name__ == "__main__":
    main()
