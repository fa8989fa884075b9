"""Questions for a teacher: how and why first, from training data only, without any evaluation question.

`python -m benchmarks.teacher_questions --out FILE` writes {id, question, references, license} per line from
the sources of `benchmarks.teacher_sources`, for `citewell bootstrap --questions FILE`. Left out are questions
near one of an evaluation set (`citewell.bootstrap.overlap`) or of `EVALUATED`, all held-out ones, and
near-duplicates of an earlier question.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

from benchmarks.results_files import external_data
from benchmarks.teacher_sources import COVERED, OWN, Row, article_titles, is_covered, read_rows
from citewell.bootstrap.config import DatasetConfig
from citewell.bootstrap.overlap import EvaluationQuestion, find_overlaps, read_evaluation
from citewell.core.near_duplicates import NearDuplicates
from citewell.generator.evaluation.held_out import is_held_out

REPOSITORY = Path(__file__).parent.parent
EVALUATED = (
    "retrieval/*/queries.jsonl.gz",  # TREC, Cranfield, CISI
    "answer_sentence/clapnq_dev.jsonl.gz",
    "answer_sentence/covid_qa.jsonl.gz",
    "answerability/mtrag.jsonl.gz",
    "qa_pairs/feedbackqa_valid.jsonl.gz",
)
"""Files in CITEWELL_DATA whose questions evaluate retrieval, readers of answers and conversations."""
_OF_THE_HOUSE = ("benchmarks/questions/*.jsonl", "recipes/qed-dev.jsonl")
_FINANCE = "longform_cited/lfrqa.jsonl.gz", "fiqa"  # of `benchmarks.answer_sentences`
_EXPLAINED = re.compile(
    r"(?:why|how come|what causes|how (?!many|much|old|long|tall|big|far|often|high|deep|large|fast)\w)",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"how to (?:diagnose|treat|prevent)\b|what are the treatments", re.IGNORECASE
)  # MedQuAD's
_WORDS = (4, 40)  # of a question; shorter ones need their context


def main() -> None:
    """Write the questions, and print how many were left out and why."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("--near", type=float, default=DatasetConfig().near, help="min similarity [0.6]")
    parser.add_argument("--limit", type=int, default=4000, help="max questions [4000]")
    arguments = parser.parse_args()
    data = external_data()
    titles = article_titles(data)
    own = [list(read(data)) for read in OWN.values()]
    covered = [
        [row for row in read(data) if is_covered(row["question"], titles)] for read in COVERED.values()
    ]
    rows, left_out = chosen((own, covered), evaluation(data), arguments.near)
    rows = rows[: arguments.limit]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    explained = sum(is_explained(row["question"]) for row in rows)
    print(f"{len(rows):,} questions, {explained:,} of them how and why; left out: {dict(left_out)}")
    print(dict(Counter(row["id"].split("-")[0] for row in rows)))


def chosen(
    groups: Sequence[Sequence[Sequence[Row]]], evaluated: Sequence[EvaluationQuestion], near: float
) -> tuple[list[Row], Counter[str]]:
    """Return the rows in the order in which to ask them, and the numbers of those left out, by reason.

    `groups` hold the rows of sources. How and why come before the rest, and then earlier groups; the sources
    of a group take turns, and a hash orders the rows of each.
    """
    left_out: Counter[str] = Counter()
    ordered = [
        row
        for wanted in (True, False)
        for sources in groups
        for row in _turns([[row for row in of if is_explained(row["question"]) is wanted] for of in sources])
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
    """Return whether a question asks how or why, rather than for a number or by a template."""
    return bool(_EXPLAINED.match(question)) and not _TEMPLATE.match(question)


def evaluation(data: Path) -> list[EvaluationQuestion]:
    """Return the questions that must not be asked: those of the house, of TREC and other test collections."""
    found = list(read_evaluation(data, DatasetConfig()).questions)
    files = [file for pattern in EVALUATED for file in sorted(data.glob(pattern))]
    files += [file for pattern in _OF_THE_HOUSE for file in sorted(REPOSITORY.glob(pattern))]
    rows = [(file, row) for file in files for row in read_rows(file)]
    file, domain = data / _FINANCE[0], _FINANCE[1]
    rows += [(file, row) for row in read_rows(file) if row["domain"] == domain]
    for number, (file, row) in enumerate(rows, 1):
        if text := row.get("question") or row.get("text"):
            found.append(EvaluationQuestion(f"{file.parent.name}/{file.name}", str(number), text))
    return found


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


if __name__ == "__main__":
    main()
