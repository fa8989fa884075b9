"""Questions with references and answers that people wrote, for the teacher `recorded` of a bootstrap.

`python -m benchmarks.generation_questions --references SET --held SET --out FILE` combines, as one file of
{id, question, answer, references, source, license} per line in an order that hashes decide:

- the training split of `benchmarks.reference_set` (Natural Questions by way of QED, SQuAD, MedQuAD and
  PubMedQA), with the five passages that an encoder finds; they need not hold the answer, so that filters have
  work to do;
- ExpertQA's training split of `benchmarks.generation_set`, with the evidence that the experts were shown.

The original answers are long paragraphs and whole pages. Here they are cut to the sentences that answer the
question: in QED the sentences marked as evidence, in SQuAD the sentence with the answer, in MedQuAD the first
sentences; if these have fewer than `FEWEST` words, the next sentences are added. Held-out questions are
skipped.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results_files import external_data, table
from citewell.core.text import split_sentences, squeeze
from citewell.generator.evaluation.held_out import is_held_out

FEWEST = 30
MOST = 110  # words of an answer


def concise(text: str, keys: Sequence[str]) -> str:
    """Return the sentences with one of the `keys`, or the first, and the next ones up to `FEWEST` words."""
    sentences = split_sentences(squeeze(text))
    found = {
        place
        for place, sentence in enumerate(sentences)
        if any(key in sentence or (len(key) > FEWEST and sentence in key) for key in keys)
    }
    chosen = found or {0}
    chosen = set(sorted(chosen)[:4])
    while _words(sentences, chosen) < FEWEST and len(chosen) < len(sentences):
        after = max(chosen) + 1
        chosen.add(after if after < len(sentences) else min(chosen) - 1)
    while _words(sentences, chosen) > MOST and len(chosen) > 1:
        chosen.remove(max(chosen))
    return " ".join(sentences[place] for place in sorted(chosen))


def of_references(folder: Path, data: Path) -> Iterator[dict[str, Any]]:
    """Yield the training split of `benchmarks.reference_set`, with concise answers."""
    pairs = data / "qa_pairs"
    marked = {
        row["id"]: row.get("evidence_sentences") or row["answer"]
        for row in _rows(pairs / "qed_train.jsonl.gz")
    }
    marked |= {row["id"]: row["answer"] for row in _rows(pairs / "squad_dev.jsonl.gz")}
    for row in _rows(folder / "train.jsonl.gz"):
        source = row["id"].partition("-")[0]
        answer = row["answer"]
        if source in ("qed", "squad"):
            keys = [squeeze(key) for key in marked[row["id"]]]
            answer = concise(answer, [key for key in keys if key])
        elif source == "medquad":
            answer = _beginning(answer)
        yield row | {"answer": answer, "source": source}


def of_held_set(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield ExpertQA's rows of the training split of `benchmarks.generation_set`."""
    for row in _rows(folder / "train.jsonl"):
        if row["source"] == "expertqa":
            yield {key: row[key] for key in ("id", "question", "answer", "references", "source", "license")}


def _beginning(text: str) -> str:
    sentences = split_sentences(squeeze(text))
    if len(sentences) > 1 and sentences[0].endswith("?"):
        del sentences[0]  # the question, as a heading
    fitting = [count for count in range(2, len(sentences) + 1) if _words(sentences, range(count)) <= MOST]
    return " ".join(sentences[: max(fitting, default=1)])


def _words(sentences: Sequence[str], places: Sequence[int] | set[int] | range) -> int:
    return sum(len(sentences[place].split()) for place in places)


def main() -> None:
    """Write the file and print the number of rows per source."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--references", type=Path, required=True, help="folder of benchmarks.reference_set")
    parser.add_argument("--held", type=Path, required=True, help="folder of benchmarks.generation_set")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines to write")
    options = parser.parse_args()
    rows = [*of_references(options.references, external_data()), *of_held_set(options.held)]
    kept = [row for row in rows if not is_held_out(row["question"])]
    kept.sort(key=lambda row: hashlib.sha256(row["id"].encode()).digest())
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
    options.out.write_text("".join(lines), encoding="utf-8")
    counts = Counter(row["source"] for row in kept)
    print(table(["source", "questions"], sorted(counts.items())))
    print(f"{len(kept):,} questions in {options.out}; {len(rows) - len(kept)} are held out.")


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


if __name__ == "__main__":
    main()
