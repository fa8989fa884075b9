"""Questions for a teacher: how and why first, from training data only, without any evaluation question.

`python -m benchmarks.teacher_questions --out FILE` writes {id, question, references, license} per line from
CITEWELL_DATA, for `citewell bootstrap --questions FILE`. Rows of reading data bring the passages they were
asked about as references; the others leave them to retrieval. Questions near one of an evaluation set
(`citewell.bootstrap.overlap`), of TREC, Cranfield or CISI, or of `benchmarks/questions`, are left out, as are
all held-out ones; near-duplicates of an earlier question too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.results_files import external_data
from citewell.bootstrap.config import DatasetConfig
from citewell.bootstrap.overlap import EvaluationQuestion, find_overlaps, read_evaluation
from citewell.core.near_duplicates import NearDuplicates
from citewell.core.text import squeeze
from citewell.generator.evaluation.held_out import is_held_out

QUESTIONS = Path(__file__).parent / "questions"
_EXPLAINED = re.compile(
    r"(?:why|how come|how (?!many|much|old|long|tall|big|far|often|high|deep|large|fast)\w)", re.IGNORECASE
)
_DOMAINS = ("science", "lifestyle", "recreation")
_PASSAGES = 5
_WORDS = (4, 40)  # of a question; shorter ones need their context

Row = dict[str, Any]


def main() -> None:
    """Write the questions, and print how many were left out and why."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("--near", type=float, default=DatasetConfig().near, help="min similarity [0.6]")
    arguments = parser.parse_args()
    data = external_data()
    rows, left_out = chosen(
        {name: list(read(data)) for name, read in READERS.items()}, evaluation(data), arguments.near
    )
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    explained = sum(is_explained(row["question"]) for row in rows)
    print(f"{len(rows):,} questions, {explained:,} of them how and why; left out: {dict(left_out)}")
    print(dict(Counter(row["id"].split("-")[0] for row in rows)))


def chosen(
    sources: Mapping[str, Sequence[Row]], evaluated: Sequence[EvaluationQuestion], near: float
) -> tuple[list[Row], Counter[str]]:
    """Return the rows in the order in which to ask them, and the numbers of those left out, by reason.

    How and why come before the rest, the sources take turns, and a hash orders the rows of each.
    """
    left_out: Counter[str] = Counter()
    ordered = [
        row
        for wanted in (True, False)
        for row in _turns(
            [[row for row in of if is_explained(row["question"]) is wanted] for of in sources.values()]
        )
    ]
    texts = [row["question"] for row in ordered]
    overlaps = find_overlaps(texts, evaluated, near)
    repeated = _repeated(texts, near)
    rows = []
    for place, row in enumerate(ordered):
        if not _WORDS[0] <= len(row["question"].split()) <= _WORDS[1]:
            left_out["length"] += 1
        elif place in overlaps or is_held_out(row["question"]):
            left_out["evaluation"] += 1
        elif place in repeated:
            left_out["repeated"] += 1
        else:
            rows.append(row)
    return rows, left_out


def is_explained(question: str) -> bool:
    """Return whether a question asks how or why, rather than for a number."""
    return bool(_EXPLAINED.match(question))


def evaluation(data: Path) -> list[EvaluationQuestion]:
    """Return the questions that must not be asked: those of the house, of TREC and other test collections."""
    found = list(read_evaluation(data, DatasetConfig()).questions)
    files = [*sorted((data / "retrieval").glob("*/queries.jsonl.gz")), *sorted(QUESTIONS.glob("*.jsonl"))]
    for file in files:
        for number, row in enumerate(_read(file), 1):
            if text := row.get("question") or row.get("text"):
                found.append(EvaluationQuestion(f"{file.parent.name}/{file.name}", str(number), text))
    return found


def qed(data: Path) -> Iterator[Row]:
    """Yield questions of Natural Questions with the paragraph that answers."""
    for row in _read(data / "qa_pairs" / "qed_train.jsonl.gz"):
        yield _row(row, row["positive"])


def squad(data: Path) -> Iterator[Row]:
    """Yield questions about a paragraph of Wikipedia, which answers them."""
    for row in _read(data / "qa_pairs" / "squad_dev.jsonl.gz"):
        if row["answerable"]:
            yield _row(row, row["positive"])


def clapnq(data: Path) -> Iterator[Row]:
    """Yield answerable questions with the sentences of their passage of Wikipedia."""
    for row in _read(data / "answer_sentence" / "clapnq_dev.jsonl.gz"):
        if row["answerable"]:
            text = " ".join(candidate["text"] for candidate in row["candidates"])
            yield _row(row, [{"title": row["title"], "text": text}], "Apache-2.0; text CC BY-SA 3.0")


def asqa(data: Path) -> Iterator[Row]:
    """Yield questions with their passages of Wikipedia."""
    for row in _read(data / "longform_cited" / "asqa_gold_dev.jsonl.gz"):
        yield _row(row, row["passages"], "Apache-2.0; text CC BY-SA 3.0")


def quotesum(data: Path) -> Iterator[Row]:
    """Yield questions with the passages of several pages."""
    for row in _read(data / "longform_cited" / "quotesum_dev.jsonl.gz"):
        yield _row(row, row["passages"], "CC BY-SA 4.0")


def covid(data: Path) -> Iterator[Row]:
    """Yield experts' questions with the sentences around the answer in an article."""
    for row in _read(data / "answer_sentence" / "covid_qa.jsonl.gz"):
        text = " ".join(candidate["text"] for candidate in row["candidates"])
        yield _row(row, [{"text": text}], f"Apache-2.0; text {row['document_license']}")


def medquad(data: Path) -> Iterator[Row]:
    """Yield questions about diseases with the passage of a health authority that answers."""
    for row in _read(data / "qa_pairs" / "medquad.jsonl.gz"):
        yield _row(row, row["positive"])


def lfrqa(data: Path) -> Iterator[Row]:
    """Yield questions that people asked on forums; their references are left to retrieval."""
    for row in _read(data / "longform_cited" / "lfrqa.jsonl.gz"):
        if row["domain"] in _DOMAINS:
            yield _row(row, [], "Apache-2.0")


READERS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    "qed": qed, "squad": squad, "clapnq": clapnq, "asqa": asqa, "quotesum": quotesum, "covid": covid,
    "medquad": medquad, "lfrqa": lfrqa,
}  # fmt: skip


def _row(row: Row, references: Sequence[Mapping[str, Any]], terms: str = "") -> Row:
    question = squeeze(row["question"])
    passages = [
        {"text": text, "title": each.get("title") or "", "url": each.get("url") or ""}
        for each in references[:_PASSAGES]
        if (text := squeeze(each.get("text") or ""))
    ]
    return {
        "id": str(row["id"]), "question": question, "references": passages,
        "license": row.get("license") or terms,
    }  # fmt: skip


def _turns(parts: Sequence[Sequence[Row]]) -> Iterator[Row]:
    """Yield rows of all parts in turn, those of each part by a hash of the question."""
    ordered = [sorted(part, key=lambda row: sha256(row["question"].encode()).hexdigest()) for part in parts]
    for turn in zip_longest(*ordered):
        yield from (row for row in turn if row)


def _repeated(questions: Sequence[str], near: float) -> set[int]:
    """Return the places of the questions that are near an earlier one."""
    index = NearDuplicates(questions, near)
    return {
        place for place, question in enumerate(questions)
        if any(found.index < place for found in index.near(question))
    }  # fmt: skip


def _read(file: Path) -> Iterator[Row]:
    with (
        gzip.open(file, "rt", encoding="utf-8")
        if file.suffix == ".gz"
        else file.open(encoding="utf-8") as lines
    ):
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
