"""Answers in their writers' own words, and questions without an answer, for a generator that copies less.

`python -m benchmarks.written_answers --held SET --out FOLDER` takes the training split of
`benchmarks.generation_set` and writes two files, with {id, question, answer, references, source, license} a
line:

- `written.jsonl`: PubMedQA's conclusions with the sections of their abstracts, and ExpertQA's answers with
  the evidence that the experts were shown. Few of their words are quoted, unlike those of
  `benchmarks.generation_questions`. `citewell bootstrap --teacher recorded` sets their citations and filters.
- `unanswerable.jsonl`: SQuAD's questions that their paragraph does not answer, with a sentence that says so.

Each reference is cut to the sentences in a row that share most words with the answer (of unanswerable ones,
with the question), since a generator is shown passages of that length and not whole pages.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results_files import table
from citewell.core.text import split_sentences, squeeze, words
from citewell.generator.evaluation.held_out import is_held_out

REFUSAL = "The references do not answer this question."
MOST = 90  # words of a reference
_WRITTEN = ("pubmedqa", "expertqa")


def nearest(text: str, wanted: str, most: int = MOST) -> str:
    """Return the adjacent sentences, of `most` words together, that share most different words with `wanted`.

    A sentence that is longer by itself is cut; of equal runs, the first is taken.
    """
    sentences = [" ".join(sentence.split()[:most]) for sentence in split_sentences(squeeze(text))]
    lengths = [len(sentence.split()) for sentence in sentences]
    keys = set(words(wanted))
    best, shared = "", -1
    for first in range(len(sentences)):
        end = first + 1
        while end < len(sentences) and sum(lengths[first : end + 1]) <= most:
            end += 1
        run = " ".join(sentences[first:end])
        if (count := len(keys & set(words(run)))) > shared:
            best, shared = run, count
    return best


def written(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows with written answers, with references cut to the content of the answers."""
    return (_cut(row, row["answer"]) for row in rows if row["source"] in _WRITTEN)


def unanswerable(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows whose references have no answer, with `REFUSAL` as the answer."""
    return (_cut(row, row["question"]) | {"answer": REFUSAL} for row in rows if not row["answerable"])


def _cut(row: Mapping[str, Any], wanted: str) -> dict[str, Any]:
    references = [each | {"text": nearest(each["text"], wanted)} for each in row["references"]]
    kept = ("id", "question", "answer", "source", "license")
    return {key: row[key] for key in kept} | {"references": references}


def main() -> None:
    """Write both files and print their numbers of rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held", type=Path, required=True, help="folder of benchmarks.generation_set")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    options = parser.parse_args()
    with (options.held / "train.jsonl").open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if not is_held_out(row["question"])]
    options.out.mkdir(parents=True, exist_ok=True)
    counts = []
    for name, found in (("written", list(written(rows))), ("unanswerable", list(unanswerable(rows)))):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found)
        (options.out / f"{name}.jsonl").write_text(text, encoding="utf-8")
        counts.append([f"{name}.jsonl", len(found)])
    print(table(["file", "questions"], counts))


if __name__ == "__main__":
    main()
