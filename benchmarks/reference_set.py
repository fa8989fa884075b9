"""Questions with a long answer and five references each, built from pairs of questions and passages.

`python -m benchmarks.reference_set --out FOLDER` writes `train.jsonl.gz`, `dev.jsonl.gz` and `test.jsonl.gz`
in the format of WebGLM-QA, for the protocol of its Table 7: `{question, answer, references}`. The answer was
written or chosen by people: the paragraph that answers a question of Natural Questions or SQuAD, the page of
MedQuAD, the conclusion of PubMedQA. The references are the five passages that an encoder without distillation
ranks first among all passages of the split. An answer's passages are cut as the pipeline cuts pages, and need
not be among the five.

`candidates.jsonl.gz` has the questions of the training split with more passages, for a teacher to judge: the
same five, and random ones that the encoder or BM25 ranks lower.

Questions are divided by topic (the article, the disease, the abstract), so that no question or passage of the
training split is in the others.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.results_files import external_data, save, table
from citewell.core.settings import load_settings
from citewell.core.text import encoded_text
from citewell.core.types import Passage
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.evaluation.systems.lexical import LexicalSystem, bm25
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.extract.document import Block
from citewell.retriever.extract.paragraphs import to_passages

REFERENCES = 5
# Candidates for a teacher: this many each of the encoder's and of BM25's, drawn from this many of their best.
CANDIDATES, DEPTH = 6, 50
# Questions per source in the test and dev splits; the others, up to the last number, are for training.
SHARES = {
    "qed_train": (300, 150, 4000),
    "squad_dev": (200, 100, 3000),
    "medquad": (200, 100, 4000),
    "pubmedqa": (100, 50, 600),
}
SPLITS = ("test", "dev", "train")
# Flattened tables and lists of links, which are not suitable as an answer.
_NO_PROSE = re.compile(r"^#|These resources address")
_LONGEST = 600  # words of an answer; longer ones are whole articles


class LabeledQuestion(NamedTuple):
    """A question, its answer, the passages of the answer, and its topic."""

    id: str
    question: str
    answer: str
    passages: tuple[Passage, ...]
    group: str
    license: str


def read(source: str, folder: Path) -> Iterator[LabeledQuestion]:
    """Yield the questions of one file of `qa_pairs` that have an answer in prose."""
    for row in _rows(folder / "qa_pairs" / f"{source}.jsonl.gz"):
        positives = row["positive"]
        answer = row["answer"] if source == "pubmedqa" else "\n\n".join(p["text"] for p in positives[:1])
        answer = " ".join(answer) if isinstance(answer, list) else answer
        if not positives or _NO_PROSE.search(answer) or not 5 <= len(answer.split()) <= _LONGEST:
            continue
        passages = tuple(
            passage
            for positive in positives
            for passage in to_passages(
                [Block(text, ()) for text in positive["text"].split("\n\n")],
                positive.get("url") or "",
                "" if source == "pubmedqa" else positive["title"],
            )
        )
        group = row["id"] if source == "pubmedqa" else positives[0]["title"]
        yield LabeledQuestion(row["id"], row["question"], answer, passages, group, row["license"])


class SplitPart(NamedTuple):
    """The questions of a split from one source, and the passages of all questions of their groups."""

    questions: list[LabeledQuestion]
    passages: list[Passage]


def split(questions: Sequence[LabeledQuestion], sizes: Sequence[int]) -> dict[str, SplitPart]:
    """Divide by group, in an order that the groups' names decide; `sizes` limit each of `SPLITS`."""
    groups: dict[str, list[LabeledQuestion]] = {}
    for question in questions:
        groups.setdefault(question.group, []).append(question)
    names = sorted(groups, key=lambda name: hashlib.sha256(name.encode()).digest())
    parts: dict[str, list[LabeledQuestion]] = {name: [] for name in SPLITS}
    wanted = dict(zip(SPLITS, sizes, strict=True))
    for name in names:
        part = next((s for s in SPLITS if len(parts[s]) < wanted[s]), None)
        if part:
            parts[part] += groups[name]
    chance = random.Random(0)
    return {
        name: SplitPart(
            chance.sample(part, min(len(part), wanted[name])),
            list(dict.fromkeys(passage for question in part for passage in question.passages)),
        )
        for name, part in parts.items()
    }


def texts(passages: Sequence[Passage]) -> list[str]:
    """Return the passages as they are ranked, each with its title before it."""
    return [encoded_text(p.title_path, p.text) for p in passages]


def relevance(
    questions: Sequence[LabeledQuestion], passages: Sequence[Passage], encoder: DualEncoder
) -> Vectors:
    """Return the inner products of q questions and p passages, a (q, p) array."""
    vectors = encoder.encode_passages(texts(passages))
    scores: Vectors = encoder.encode_questions([q.question for q in questions]) @ vectors.T
    return scores


def with_references(
    questions: Sequence[LabeledQuestion], passages: Sequence[Passage], scores: Vectors
) -> list[dict[str, Any]]:
    """Return rows in the format of WebGLM-QA, each with the passages of the largest inner products."""
    rows = []
    for question, row in zip(questions, scores, strict=True):
        best = np.argsort(-row, kind="stable")[:REFERENCES]
        chosen = [passages[i] for i in best]
        # As they come from a search: in an order that does not reveal the best.
        random.Random(question.id).shuffle(chosen)
        rows.append(
            {
                "id": question.id,
                "question": question.question,
                "answer": question.answer,
                "references": [_reference(passage) for passage in chosen],
                "license": question.license,
            }
        )
    return rows


def with_candidates(
    rows: Sequence[dict[str, Any]], passages: Sequence[Passage], scores: Vectors
) -> list[dict[str, Any]]:
    """Return the rows with more passages each: random ones of the best of the encoder and of BM25."""
    ids = tuple(str(number) for number in range(len(passages)))
    corpus = Corpus(ids, ("",) * len(passages), tuple(texts(passages)))
    lexical = LexicalSystem("bm25", bm25).read(corpus, None, lambda done, total: None)
    more = []
    for row, line in zip(rows, scores, strict=True):
        chance = random.Random(row["id"])
        near = np.argsort(-line, kind="stable")[REFERENCES:DEPTH].tolist()
        worded = lexical.searcher.search(row["question"], DEPTH).rows.tolist()
        known = {reference["text"] for reference in row["references"]}
        drawn = [i for listed in (near, worded) for i in chance.sample(listed, min(CANDIDATES, len(listed)))]
        found = {p.text: p for p in (passages[i] for i in drawn) if p.text not in known}
        more.append({**row, "references": [*row["references"], *map(_reference, found.values())]})
    return more


def write(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """Write rows as gzipped JSON lines without a timestamp, so that the same rows have the same checksum."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.write_bytes(gzip.compress(lines.encode(), mtime=0))


def main() -> None:
    """Build the three files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the three files")
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2", help="the encoder without distillation")
    parser.add_argument("--share", type=float, default=1.0, help="share of each source's questions")
    options = parser.parse_args()
    data, settings = external_data(), load_settings()
    encoder = load_encoder(
        options.encoder,
        settings.cache_dir,
        max_tokens=settings.retriever.max_tokens,
        threads=settings.threads,
    )
    parts = {name: SplitPart([], []) for name in SPLITS}
    counts = []
    for source, sizes in SHARES.items():
        found = split(list(read(source, data)), [round(size * options.share) for size in sizes])
        counts.append([source, *(len(found[name].questions) for name in SPLITS)])
        for name in SPLITS:
            parts[name].questions.extend(found[name].questions)
            parts[name].passages.extend(found[name].passages)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in SPLITS:
        scores = relevance(*parts[name], encoder)
        rows = with_references(*parts[name], scores)
        write(rows, options.out / f"{name}.jsonl.gz")
        if name == "train":
            write(with_candidates(rows, parts[name].passages, scores), options.out / "candidates.jsonl.gz")
    passages = {name: len(parts[name].passages) for name in SPLITS}
    print(table(["source", *SPLITS], [*counts, ["passages", *passages.values()]]))
    save("reference_set", {"questions": counts, "passages": passages}, options.out / "reference_set.json")


def _reference(passage: Passage) -> dict[str, str]:
    return {"text": passage.text, "title": passage.title, "url": passage.url}


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


if __name__ == "__main__":
    main()
