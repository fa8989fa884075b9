"""Read the answers of several writers without knowing which writer wrote which.

The sixty questions of `questions/blind.jsonl` are about Wikipedia for Schools, a folder of notes and the
handbook; `fact` is empty for those that no page answers. Four steps:

- `python -m benchmarks.blind_reading answers --data-dir DIR` asks each writer each question and appends the
  answers to `--answers`. An interrupted run continues.
- `… sheet --out FILE` writes the references and the answers, named by letters that are dealt by a seed.
- `… report --verdicts FILE` reads what a reader of the sheet found: lines of {"number", "held", "verdicts",
  "unreadable"}, that is, whether the references hold the answer, one of `VERDICTS` per letter, and the
  letters of answers that are hard to read. It prints the shares per writer with bootstrapped 95% intervals,
  and writes all answers with their verdicts.
- `… study --out FILE` reads the answers from the sheet with verdicts among the results, and writes them for
  `citewell study make`, without verdicts and marks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.reading import QUESTIONS, prepare
from benchmarks.results_files import RESULTS, table
from citewell.core.events import final_answer
from citewell.core.jsonl import read_lines
from citewell.core.row_log import RowLog
from citewell.core.settings import load_settings
from citewell.core.significance import interval
from citewell.core.text import shorten, squeeze
from citewell.core.types import STATUS_WORDS, Answer
from citewell.pipeline.build import open_pipeline

WRITERS = ("extractive", "citewell-smollm2", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b")
VERDICTS = ("right", "part", "wrong", "refused")
_SEED = 20
_READ, _SHOWN = 900, 300  # characters of a reference, for the reader and in the report
_MARKS = re.compile(rf" \((?:{'|'.join(STATUS_WORDS.values())})\)")
_QUESTION = re.compile(r"## \d+\. (?P<question>.+) \(\w+\)")
_REFERENCE = re.compile(r"> \[\d+\] \*(?P<title>.*?)\*: (?P<text>.*)")
Shares = Callable[[Sequence[Mapping[str, Any]], Mapping[int, Mapping[str, Any]]], str]
_ANSWER = re.compile(r"\*\*[A-H]\*\* \((?P<system>[^:]+): [^)]+\) (?P<answer>.*)")


def main() -> None:
    """Run one of the four steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("answers", "sheet", "report", "study"))
    parser.add_argument("--answers", type=Path, default=Path("blind-answers.jsonl"))
    parser.add_argument("--data-dir", type=Path, help="folder of the collections, for the step `answers`")
    parser.add_argument(
        "--writers", default=",".join(WRITERS), help="comma-separated, for the step `answers`"
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "blind-reading.md")
    parser.add_argument("--verdicts", type=Path, default=RESULTS / "blind-verdicts.jsonl")
    options = parser.parse_args()
    questions = [line.row() for line in read_lines(QUESTIONS / "blind.jsonl")]
    if options.step == "answers":
        if options.data_dir is None:
            parser.error("--data-dir is missing: the folder of the collection wikispeedia, or an empty one")
        for writer in options.writers.split(","):
            asyncio.run(answer(writer, questions, options.data_dir, options.answers))
        return
    if options.step == "study":
        rows = answers_of_sheet((RESULTS / "blind-reading.md").read_text(encoding="utf-8"))
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        options.out.write_text(text, encoding="utf-8")
        return
    write(options, questions, "# Answers read blind\n\n`python -m benchmarks.blind_reading report`", report)


def write(
    options: argparse.Namespace, questions: Sequence[Mapping[str, str]], title: str, shares: Shares
) -> None:
    """Write the sheet, or the report with a title and the shares, whichever step the options name."""
    dealt = deal(questions, RowLog(options.answers).rows)
    if options.step == "sheet":
        text = sheet(dealt)
    else:
        judged = {row["number"]: row for row in (line.row() for line in read_lines(options.verdicts))}
        found = shares(dealt, judged)
        print(found)
        text = f"{title}\n\n{found}\n\n{sheet(dealt, judged)}"
    options.out.write_text(text, encoding="utf-8")
    print(f"Written to {options.out}.")


async def answer(writer: str, questions: Sequence[Mapping[str, str]], data_dir: Path, file: Path) -> None:
    """Append a writer's answers to the questions that it has not answered in the file."""
    log = RowLog(file)
    known = {(row["collection"], row["question"]) for row in log.rows if row["writer"] == writer}
    for name in dict.fromkeys(one["collection"] for one in questions):
        asked = [
            one for one in questions if one["collection"] == name and (name, one["question"]) not in known
        ]
        if not asked:
            continue
        settings = load_settings({"data_dir": data_dir, "search.collection": name, "generator.name": writer})
        prepare(settings)
        async with open_pipeline(settings) as pipeline:
            for number, one in enumerate(asked, 1):
                found = await final_answer(pipeline.ask(one["question"]))
                about = {"writer": writer, "collection": name, "question": one["question"]}
                log.append(about | _kept(found))
                print(f"{writer}, {name}: {number} of {len(asked)}", flush=True)


def deal(
    questions: Sequence[Mapping[str, str]], answers: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the questions with their answers by letter, in an order drawn per question."""
    dealt = []
    for number, one in enumerate(questions, 1):
        key = one["collection"], one["question"]
        mine = [row for row in answers if (row["collection"], row["question"]) == key]
        random.Random(f"{_SEED} {number}").shuffle(mine)
        dealt.append({**one, "number": number, "answers": dict(zip("ABCDEFGH", mine, strict=False))})
    return dealt


def sheet(dealt: Sequence[Mapping[str, Any]], judged: Mapping[int, Mapping[str, Any]] | None = None) -> str:
    """Return the questions, references and answers; with verdicts, also the verdicts and who wrote what.

    References that differ between the answers of a question stand below each answer, those that it cites.
    """
    parts = []
    for one in dealt:
        fact = f"A right answer: {one['fact']}." if one["fact"] else "No page is known to answer this."
        parts += [f"## {one['number']}. {one['question']} ({one['collection']})", fact]
        most = _SHOWN if judged else _READ
        shown = [row["references"] for row in one["answers"].values()]
        is_shared = all(references == shown[0] for references in shown)
        if is_shared:
            parts += _quoted(shown[0], most)
        for letter, row in one["answers"].items():
            mark = ""
            if judged:
                verdict = judged[one["number"]]
                unreadable = ", unreadable" if letter in verdict["unreadable"] else ""
                mark = f" ({row['writer']}: {verdict['verdicts'][letter]}{unreadable})"
            parts.append(f"**{letter}**{mark} {row['answer']}")
            if not is_shared:
                parts += _quoted([r for r in row["references"] if f"[{r['number']}]" in row["answer"]], most)
    return "\n\n".join(parts) + "\n"


def _quoted(references: Sequence[Mapping[str, str]], most: int) -> list[str]:
    return [f"> [{r['number']}] *{r['title']}*: {shorten(r['text'], most)}" for r in references]


def answers_of_sheet(text: str) -> Iterator[dict[str, Any]]:
    """Yield the answers of a sheet with verdicts, each with its question, writer and references."""
    question, references = "", list[dict[str, str]]()
    for part in text.split("\n\n"):
        if found := _QUESTION.fullmatch(part):
            question, references = found["question"], []
        elif found := _REFERENCE.fullmatch(part):
            references.append(found.groupdict())
        elif found := _ANSWER.fullmatch(part.strip()):
            answer = _MARKS.sub("", found["answer"])
            row = {"question": question, "system": found["system"], "answer": answer}
            yield row | {"references": references}


def report(dealt: Sequence[Mapping[str, Any]], judged: Mapping[int, Mapping[str, Any]]) -> str:
    """Return the shares of the verdicts per writer, where the references hold the answer and where not."""
    rows = []
    writers = list(dict.fromkeys(row["writer"] for one in dealt for row in one["answers"].values()))
    for writer in writers:
        by_held: dict[bool, dict[str, str]] = {True: {}, False: {}}
        readable = {}
        for one in dealt:
            verdict = judged[one["number"]]
            for letter, row in one["answers"].items():
                if row["writer"] == writer:
                    key = str(one["number"])
                    by_held[verdict["held"]][key] = verdict["verdicts"][letter]
                    readable[key] = float(letter not in verdict["unreadable"])
        held, not_held = by_held[True], by_held[False]
        cells = [_share({key: float(value == wanted) for key, value in held.items()}) for wanted in VERDICTS]
        refused = _share({key: float(value == "refused") for key, value in not_held.items()})
        rows.append([writer, len(held), *cells, len(not_held), refused, _share(readable)])
    return table(["writer", "held", *VERDICTS, "not held", "refused", "readable"], rows)


def _share(values: Mapping[str, float]) -> str:
    if not values:
        return ""
    low, high = interval(values)
    return f"{sum(values.values()) / len(values):.2f} ({low:.2f} to {high:.2f})"


def _kept(found: Answer) -> dict[str, Any]:
    sentences = " ".join(
        f"{s.text} {''.join(f'[{n}]' for n in s.citations)}".strip()
        + ("" if s.supported else f" ({STATUS_WORDS[s.status]})")
        for s in found.sentences
    )
    references = [{"number": r.number, "title": r.title, "text": squeeze(r.text)} for r in found.references]
    return {"outcome": found.outcome, "answer": sentences or squeeze(found.answer), "references": references}


if __name__ == "__main__":
    main()
