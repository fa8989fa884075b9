"""Read the quoted answers of two versions of Citewell, without knowing which version gave which.

A hundred questions, drawn by a hash: forty of NQ-open and twenty definitions, of the third that
`benchmarks.answer_bearing` holds out, for Wikipedia for Schools; twenty for the handbook; and twenty of the
held half of `benchmarks.own_documents`. Three steps:

- `python -m benchmarks.quoted_reading answers --name NAME --citewell FILE --data-dir DIR` indexes the three
  collections with the program `citewell` of a version, asks it each question by the command line, and appends
  the answers to `--answers`. An interrupted run continues.
- `… sheet --out FILE` writes the answers to read, named by letters that are dealt by a seed.
- `… report` reads the verdicts of `--verdicts`, which are lines as `benchmarks.blind_reading` describes them,
  and writes the shares per version, of all questions and by kind, with all answers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.answer_questions import LEADS, of_split, wikipedia_questions
from benchmarks.blind_reading import report, write
from benchmarks.own_documents import questions as own_questions
from benchmarks.reading import QUESTIONS
from benchmarks.results_files import RESULTS, external_data
from citewell.core.jsonl import read_lines
from citewell.core.row_log import RowLog
from citewell.core.text import squeeze

DRAWN = {"nq_open": 40, LEADS: 20, "handbook": 20, "own": 20}
_DOCS = Path(__file__).parent.parent / "docs"
_TITLE = "# Quoted answers, read blind\n\n`python -m benchmarks.quoted_reading report`"


def main() -> None:
    """Run one of the three steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("answers", "sheet", "report"))
    parser.add_argument("--name", help="what to call the version, for the step `answers`")
    parser.add_argument("--citewell", type=Path, help="its program, for the step `answers`")
    parser.add_argument("--data-dir", type=Path, help="its data folder, for the step `answers`")
    parser.add_argument("--answers", type=Path, default=Path("quoted-answers.jsonl"))
    parser.add_argument("--out", type=Path, default=RESULTS / "quoted-reading.md")
    parser.add_argument("--verdicts", type=Path, default=RESULTS / "quoted-verdicts.jsonl")
    options = parser.parse_args()
    questions = drawn()
    if options.step == "answers":
        if None in (options.name, options.citewell, options.data_dir):
            parser.error("answers needs --name, --citewell and --data-dir")
        answer(options.name, Program(options.citewell, options.data_dir), questions, options.answers)
        return
    write(options, questions, _TITLE, shares)


def shares(dealt: Sequence[Mapping[str, Any]], judged: Mapping[int, Mapping[str, Any]]) -> str:
    """Return the shares of the verdicts per version, for all questions and for each kind."""
    parts = [report(dealt, judged)]
    for kind in DRAWN:
        parts += [f"Of {kind}:", report([one for one in dealt if one["kind"] == kind], judged)]
    return "\n\n".join(parts)


def drawn() -> list[dict[str, str]]:
    """Return the questions, each with its collection and a fact of a right answer where one is known."""
    wikipedia = of_split(wikipedia_questions(), "held")
    pools = {
        origin: [
            {"collection": "wikispeedia", "question": one.text, "fact": "; ".join(one.answers) or one.lead}
            for one in wikipedia
            if one.origin == origin
        ]
        for origin in ("nq_open", LEADS)
    }
    pools["handbook"] = [
        {"collection": "pages", "question": row["question"], "fact": ""}
        for row in (line.row() for line in read_lines(QUESTIONS / "handbook.jsonl"))
    ]
    pools["own"] = [
        {"collection": "own", "question": row["question"], "fact": row.get("answer", "")}
        for row in own_questions("held")
    ]
    return [
        one | {"kind": name}
        for name, pool in pools.items()
        for one in sorted(pool, key=lambda row: sha256(row["question"].encode()).digest())[: DRAWN[name]]
    ]


class Program:
    """The program `citewell` of one version, with a data folder of its own."""

    def __init__(self, file: Path, data_dir: Path) -> None:
        self.file = file.absolute()
        self.flags = ["--set", f"data_dir={data_dir.absolute()}"]

    def index(self, collection: str) -> None:
        """Index a collection; pages that are there already are left as they are."""
        match collection:
            case "wikispeedia":
                sources = sorted((external_data() / "web" / "wikispeedia").glob("articles-*.jsonl.gz"))
            case "pages":
                sources = [_DOCS]
            case _:
                sources = [QUESTIONS / "own" / "held" / "documents"]
        self._run("index", *map(str, sources), "--collection", collection)

    def ask(self, question: str, collection: str) -> dict[str, Any]:
        """Return the answer as the command line prints it in JSON."""
        flags = ("--collection", collection, "--generator", "extractive", "--json")
        found: dict[str, Any] = json.loads(self._run("ask", *flags, question).splitlines()[-1])
        return found

    def _run(self, *arguments: str) -> str:
        command = [str(self.file), *arguments, *self.flags]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout


def answer(name: str, program: Program, questions: Sequence[Mapping[str, str]], file: Path) -> None:
    """Append a version's answers to the questions that it has not answered in the file."""
    log = RowLog(file)
    known = {(row["collection"], row["question"]) for row in log.rows if row["writer"] == name}
    asked = [one for one in questions if (one["collection"], one["question"]) not in known]
    for collection in dict.fromkeys(one["collection"] for one in asked):
        program.index(collection)
    for number, one in enumerate(asked, 1):
        found = program.ask(one["question"], one["collection"])
        about = {"writer": name, "collection": one["collection"], "question": one["question"]}
        log.append(about | _kept(found))
        print(f"{name}: {number} of {len(asked)}", flush=True)


def _kept(found: Mapping[str, Any]) -> dict[str, Any]:
    sentences = " ".join(
        f"{each['text']} {''.join(f'[{n}]' for n in each['citations'])}".strip()
        for each in found["sentences"]
    )
    references = [
        {key: squeeze(str(each[key])) for key in ("number", "title", "text")} for each in found["references"]
    ]
    return {
        "outcome": found["outcome"],
        "answer": sentences or squeeze(found["answer"]),
        "references": references,
    }


if __name__ == "__main__":
    main()
