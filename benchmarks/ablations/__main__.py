"""Run WebGLM's ablations with small models: Tables 5, 6, 8, 9, 10 and 13 of its paper.

`python -m benchmarks.ablations --data-dir FOLDER --folder FOLDER` answers questions of NQ-open and
WebQuestions that Wikipedia for Schools can answer (the third that `benchmarks.answer_questions` holds out),
row by row, and writes docs/ablations.md and benchmarks/results/ablations.json after each. It resumes: answers
are kept in `--folder`. Rows without all answers there keep their published figures of as many questions,
unless the row that they are compared with is measured again; others are named on the page as not run yet.
Table 9 is what `citewell eval scorer` wrote to benchmarks/results/scorer-votes.md, Table 5 the reading of
Citewell-QA.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.ablations.measures import (
    compared_measures,
    comparisons,
    figures,
    measured,
    plain,
    reading,
    votes_table,
)
from benchmarks.ablations.page import page
from benchmarks.ablations.published import published
from benchmarks.ablations.rows import NOT_RUN, RUN, STUDENT, AblationRow, MissingRow, students
from benchmarks.ablations.run import identity_of_row, run_row
from benchmarks.answer_questions import BearingQuestion, of_split
from benchmarks.ask_wikispeedia import COLLECTION
from benchmarks.results_files import RESULTS, external_data, machine, output_option, save
from citewell.core.errors import CitewellError
from citewell.core.progress import Counter
from citewell.core.questions import AnsweredQuestion, read_questions
from citewell.core.settings import load_settings
from citewell.core.significance import corrected
from citewell.generator.evaluation.answers import AnswerFile, GeneratedAnswer
from citewell.generator.evaluation.judges.names import open_judges
from citewell.pipeline.evaluation.accuracy import ACCURACY, ANSWERED
from citewell.pipeline.evaluation.coverage import PassageSearch, stored_pages
from citewell.pipeline.evaluation.embedding import embedding_of

JUDGES = ("rouge", "embedding")
QUESTIONS = 60
ROOT = Path(__file__).parent.parent.parent
NOTES = Path(__file__).parent / "notes.json"
READING = ROOT / "recipes" / "citewell-qa" / "reading.json"


def main() -> None:
    """Run the rows that are wanted, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the collection")
    parser.add_argument("--folder", type=Path, required=True, help="folder that keeps questions and answers")
    parser.add_argument("--collection", default=COLLECTION, help=f"collection to ask [{COLLECTION}]")
    parser.add_argument("--questions", type=Path, help="other questions: lines of {question, answers}")
    parser.add_argument("--limit", type=int, default=QUESTIONS, help=f"questions [{QUESTIONS}]")
    parser.add_argument("--generator", default=STUDENT, help=f"generator of rows that name none [{STUDENT}]")
    parser.add_argument("--students", type=Path, help="folder of the students of Table 6, by version")
    parser.add_argument("--rows", help="names of rows, separated by semicolons; none runs none [all]")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "ablations.md", help="page to write")
    output_option(parser)
    arguments = parser.parse_args()
    given = {
        "data_dir": arguments.data_dir,
        "search.collection": arguments.collection,
        "generator.name": arguments.generator,
        "citations.judge": "words",
    }
    arguments.folder.mkdir(parents=True, exist_ok=True)
    passages = functools.cache(lambda: PassageSearch(stored_pages(load_settings(given))))
    asked = questions(arguments.questions, arguments.folder / "questions.jsonl", arguments.limit, passages)
    answers = AnswerFile(arguments.folder / "answers.jsonl")
    taught, untaught = students(arguments.students)
    rows, missing = (*taught, *RUN), (*untaught, *NOT_RUN)
    for row in chosen(rows, arguments.rows):
        if not answers.missing(identity_of_row(row, given), asked):
            continue
        progress = Counter(row.name, lambda text: print(text, flush=True))
        try:
            asyncio.run(run_row(row, given, asked, answers, passages, progress))
        except CitewellError as error:
            print(f"{row.name}: {error}", flush=True)
    write_report(rows, missing, given, asked, answers, arguments.out, arguments.output)


def chosen(rows: Sequence[AblationRow], names: str | None) -> list[AblationRow]:
    """Return the rows of these names; exits for an unknown one."""
    if names is None:
        return list(rows)
    by_name = {row.name: row for row in rows}
    wanted = [name.strip() for name in names.split(";") if name.strip() not in ("", "none")]
    if unknown := [name for name in wanted if name not in by_name]:
        raise SystemExit(f"Unknown row {unknown[0]!r}. Rows: {'; '.join(by_name)}")
    return [by_name[name] for name in wanted]


def questions(
    file: Path | None, kept: Path, limit: int, passages: Callable[[], PassageSearch]
) -> Sequence[AnsweredQuestion]:
    """Return the first questions of a file, or of those of the held-out third that the collection answers."""
    if file:
        return read_questions(file, limit)
    if not kept.is_file():
        rows = [row for row in held_out() if passages().right_articles(row.question, row.answers)]
        lines = [json.dumps({"question": row.question, "answers": row.answers}) + "\n" for row in rows]
        kept.write_text("".join(lines), encoding="utf-8")
    return read_questions(kept, limit)


def held_out() -> list[AnsweredQuestion]:
    """Return the held-out questions of NQ-open and WebQuestions with short answers, in a fixed order."""
    folder = external_data() / "questions"
    found: dict[str, BearingQuestion] = {}
    for name in ("nq_open", "webq400"):
        for row in read_questions(folder / f"{name}.jsonl.gz"):
            found[row.question] = BearingQuestion(text=row.question, origin=name, answers=row.answers)
    return [AnsweredQuestion(row.text, row.answers) for row in of_split(list(found.values()), "held")]


def write_report(
    known: Sequence[AblationRow],
    missing: Sequence[MissingRow],
    given: Mapping[str, Any],
    asked: Sequence[AnsweredQuestion],
    answers: AnswerFile,
    out: Path,
    output: Path | None,
) -> None:
    """Measure the rows with all their answers, and write the page and the results.

    What is published of the others stays.
    """
    waiting = [row for row in known if answers.missing(identity_of_row(row, given), asked)]
    kept, before = published(output or RESULTS / "ablations.json", waiting, len(asked))
    settings = load_settings(given)
    with open_judges(JUDGES, settings, lambda: embedding_of(settings), print) as judges:
        rows = [
            measured(row, asked, asyncio.run(_stored(row, given, asked, answers)), judges)
            for row in known
            if row not in waiting
        ]
    tested = compared_measures(JUDGES)
    found = {
        name: corrected({**before.get(name, {}), **of}) for name, of in comparisons(rows, tested).items()
    }
    shown = [ACCURACY, ANSWERED, *tested[1:]]
    of_rows = {**kept, **figures(rows, datetime.datetime.now(tz=datetime.UTC).date().isoformat())}
    dates = _span([of["date"] for of in of_rows.values()])
    about = (
        f"Each row answers {len(asked)} questions from the collection `{settings.search.collection}` "
        f"(`--limit {len(asked)}`, {machine().split(' of ')[0]}, {dates})."
    )
    not_run = [row.name for row in known if row.name not in of_rows]
    result = {"questions": len(asked), "rows": of_rows, "comparisons": plain(found), "not run": not_run}
    save("ablations", result, output)
    notes = json.loads(NOTES.read_text(encoding="utf-8")) if NOTES.is_file() else {}
    votes = votes_table(RESULTS / "scorer-votes.md")
    text = page(known, of_rows, missing, found, shown, votes, reading(READING), notes, about)
    out.write_text(text, encoding="utf-8")


def _span(dates: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys((min(dates), max(dates)))) if dates else "not run yet"


async def _stored(
    row: AblationRow, given: Mapping[str, Any], asked: Sequence[AnsweredQuestion], answers: AnswerFile
) -> dict[str, GeneratedAnswer]:
    async def never(question: AnsweredQuestion) -> GeneratedAnswer:
        raise AssertionError("All answers are there.")

    return await answers.complete(
        row.name, identity_of_row(row, given), asked, never, lambda done, total: None
    )


if __name__ == "__main__":
    main()
