"""Questions with references for training and evaluating generators, and the list of held-out ones.

`python -m benchmarks.generation_set --out FOLDER` writes `train.jsonl`, `dev.jsonl` and `test.jsonl`, one
{question, answer, claims, references, answerable, source, license} per line, from CITEWELL_DATA:

- `expertqa`: experts' questions with the evidence that systems cited, the expert's revised answer, and the
  claims that the expert found correct and completely supported.
- `pubmedqa`: research questions with the sections of an abstract; the answer is its conclusion.
- `eli5`: ALCE's ELI5 questions with three claims each, and the references that Citewell's own retrieval finds
  in Wikipedia for Schools. Those without evidence there are left out. No license allows training on them.
- `squad-unanswerable`: questions that their paragraph does not answer.

Every question has five references if there are enough: missing ones are filled up with the most similar
passages (by BM25) of other questions of the same split, and all are shuffled. A hash of a question's words,
or of its article for SQuAD, decides its split, so that new rows move no others. `--sources` and `--splits`
name those to include. Retrieving for ELI5 takes hours: what was found is kept in `retrieved.jsonl`, and the
same command goes on where it was interrupted.

All dev and test questions, and all of ELI5, are held out: `generator/evaluation/held_out.txt` lists their
digests, and `citewell.generator.evaluation.held_out.is_held_out` checks a question. `--pin` writes that list;
without it, the command fails if the data and the list disagree.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.ask_wikispeedia import COLLECTION, build_index
from benchmarks.results_files import external_data, save, table
from citewell.core.events import final_answer
from citewell.core.row_log import RowLog
from citewell.core.settings import load_settings
from citewell.core.text import squeeze
from citewell.generator.evaluation import held_out
from citewell.generator.evaluation.held_out import LIST, digest
from citewell.pipeline.build import open_pipeline
from citewell.retriever.lexical import bm25

SPLITS = ("train", "dev", "test")
REFERENCES = 5
ELI5 = "eli5"
# The shares of each source's questions: test, and test or dev.
SHARES = {
    "expertqa": (0.5, 0.65),
    "pubmedqa": (0.15, 0.22),
    ELI5: (0.8, 1.0),
    "squad-unanswerable": (0.3, 0.5),
}
# Maximum unanswerable questions of each split: SQuAD has thousands.
UNANSWERABLE = {"train": 300, "dev": 40, "test": 80}
FOLDER = Path(held_out.__file__).parent
_MARK = re.compile(r"\s*\[\d+\]")
_CORRECT = ("Definitely correct", "Probably correct")
_POOL = 20  # other questions whose passages may fill up the references


class GenerationSetQuestion(NamedTuple):
    """A question with its own references; `group` decides its split."""

    row: dict[str, Any]
    group: str

    @property
    def question(self) -> str:
        """The question itself."""
        return str(self.row["question"])


def main() -> None:
    """Build the three files, and check or write the list of held-out questions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the three files")
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; temporary by default")
    parser.add_argument("--limit", type=int, help="questions per source and split [all]")
    parser.add_argument(
        "--sources",
        default=",".join(READERS),
        help="to include; retrieving for eli5 takes hours [all]",
    )
    parser.add_argument("--splits", default=",".join(SPLITS), help="to include [all]")
    parser.add_argument("--pin", action="store_true", help="write the list of held-out questions")
    arguments = parser.parse_args()
    data = external_data()
    parts = {source: divided(list(read(data)), source) for source, read in READERS.items()}
    digests = held(parts)
    check_list(digests, pin=arguments.pin)
    sources, splits = arguments.sources.split(","), arguments.splits.split(",")
    if unknown := set(sources) - set(READERS):
        parser.error(f"unknown sources: {', '.join(sorted(unknown))}")
    if unknown := set(splits) - set(SPLITS):
        parser.error(f"unknown splits: {', '.join(sorted(unknown))}")
    parts = {
        source: {split: of[: arguments.limit] if split in splits else [] for split, of in all_of.items()}
        for source, all_of in parts.items()
        if source in sources
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    if ELI5 in parts:
        with tempfile.TemporaryDirectory() as temporary:
            retrieved = RetrievedReferences(arguments.out / "retrieved.jsonl")
            parts[ELI5] = with_retrieved(parts[ELI5], arguments.data_dir or Path(temporary), retrieved)
    rows = {split: collect(parts, split) for split in SPLITS}
    for split in SPLITS:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[split])
        (arguments.out / f"{split}.jsonl").write_text(lines, encoding="utf-8")
    counts = {
        source: {split: sum(row["source"] == source for row in rows[split]) for split in SPLITS}
        for source in parts
    }
    shared = overlaps(rows)
    print(table(["source", *SPLITS], [[source, *of.values()] for source, of in counts.items()]))
    print("\n" + "\n".join(f"{what}: {number}" for what, number in shared.items()))
    save(
        "generation_set",
        {"questions": counts, "overlaps": shared, "held_out": len(digests)},
        arguments.out / "generation_set.json",
    )


def expertqa(data: Path) -> Iterator[GenerationSetQuestion]:
    """Yield experts' questions whose answer cites at least two passages with a known text."""
    for row in _rows(data / "longform" / "expertqa_train.jsonl.gz"):
        own = [reference for reference in row["references"] if reference.get("text")][:REFERENCES]
        kept = {reference["n"] for reference in own}
        if len(own) < 2:
            continue
        claims = [
            _MARK.sub("", claim["revised_text"] or claim["text"])
            for claim in row["claims"]
            if claim["support_label"] == "Complete"
            and claim["correctness"] in _CORRECT
            and kept & set(claim["evidence"])
        ]
        answer = _MARK.sub("", row["revised_answer"] or row["answer"])
        yield _asked(row, "expertqa", own, answer=answer, claims=claims)


def pubmedqa(data: Path) -> Iterator[GenerationSetQuestion]:
    """Yield research questions with the sections of an abstract, which its conclusion answers."""
    for row in _rows(data / "longform" / "pubmedqa.jsonl.gz"):
        yield _asked(row, "pubmedqa", row["references"][:REFERENCES], answer=row["answer"])


def eli5(data: Path) -> Iterator[GenerationSetQuestion]:
    """Yield ALCE's ELI5 questions; `with_retrieved` finds their references."""
    for row in _rows(data / "questions" / "alce_eli5.jsonl.gz"):
        yield _asked(row, ELI5, [], answer=row["answer"], claims=row["claims"])


def squad_unanswerable(data: Path) -> Iterator[GenerationSetQuestion]:
    """Yield SQuAD's questions that their paragraph does not answer, by article."""
    for row in _rows(data / "qa_pairs" / "squad_dev.jsonl.gz"):
        if not row["answerable"]:
            asked = _asked(row, "squad-unanswerable", row["hard_negative"], answerable=False)
            yield asked._replace(group=row["hard_negative"][0]["title"])


READERS: Mapping[str, Callable[[Path], Iterator[GenerationSetQuestion]]] = {
    "expertqa": expertqa,
    "pubmedqa": pubmedqa,
    ELI5: eli5,
    "squad-unanswerable": squad_unanswerable,
}


def divided(
    questions: Sequence[GenerationSetQuestion], source: str
) -> dict[str, list[GenerationSetQuestion]]:
    """Return the questions of a source by split, each question once, in the order of their digests."""
    test, dev = SHARES[source]
    once = {digest(asked.question): asked for asked in questions}
    parts: dict[str, list[GenerationSetQuestion]] = {split: [] for split in SPLITS}
    for _, asked in sorted(once.items()):
        place = int(digest(asked.group), 16) / 16**16
        parts["test" if place < test else "dev" if place < dev else "train"].append(asked)
    if source == "squad-unanswerable":
        return {split: of[: UNANSWERABLE[split]] for split, of in parts.items()}
    return parts


def held(parts: Mapping[str, Mapping[str, Sequence[GenerationSetQuestion]]]) -> list[str]:
    """Return the digests of all dev and test questions, in order."""
    return sorted(
        {digest(asked.question) for of in parts.values() for split in ("dev", "test") for asked in of[split]}
    )


def check_list(digests: Sequence[str], *, pin: bool) -> None:
    """Compare with the stored list, or write it; exit the program if they differ."""
    file = FOLDER / LIST
    if pin:
        file.write_text("".join(f"{name}\n" for name in digests), encoding="ascii")
    elif file.read_text(encoding="ascii").split() != list(digests):
        sys.exit(f"The data holds out other questions than {file} lists. To accept that, give --pin.")


class RetrievedReferences:
    """The references that were found so far, in a file with a question per line."""

    def __init__(self, file: Path) -> None:
        self._log = RowLog(file)
        self._found: dict[str, list[dict[str, str]]] = {
            row["question"]: row["references"] for row in self._log.rows
        }

    def get(self, question: str) -> list[dict[str, str]] | None:
        """Return the references of a question, an empty list without evidence; None if it is to be asked."""
        return self._found.get(question)

    def add(self, question: str, references: list[dict[str, str]]) -> None:
        """Store the references of a question."""
        self._found[question] = references
        self._log.append({"question": question, "references": references})


def with_retrieved(
    parts: Mapping[str, Sequence[GenerationSetQuestion]], data_dir: Path, retrieved: RetrievedReferences
) -> dict[str, list[GenerationSetQuestion]]:
    """Return the questions with evidence in Wikipedia for Schools, with the retrieved passages."""
    settings = load_settings(
        {
            "data_dir": data_dir,
            "search.collection": COLLECTION,
            "retriever.k": REFERENCES,
            "generator.name": "extractive",  # less evidence is enough for a language model
        }
    )
    build_index(settings)
    asyncio.run(_retrieve((asked.question for of in parts.values() for asked in of), settings, retrieved))
    return {
        split: [
            asked._replace(row=asked.row | {"references": references})
            for asked in of
            if (references := retrieved.get(asked.question))
        ]
        for split, of in parts.items()
    }


async def _retrieve(questions: Iterable[str], settings: Any, retrieved: RetrievedReferences) -> None:
    waiting = [question for question in questions if retrieved.get(question) is None]
    async with open_pipeline(settings) as pipeline:
        for number, question in enumerate(waiting, 1):
            answer = await final_answer(pipeline.retrieve(question))
            references = answer.references if answer.outcome == "retrieved" else ()
            retrieved.add(question, [{"text": r.text, "title": r.title, "url": r.url} for r in references])
            if number % 10 == 0 or number == len(waiting):
                print(f"{number:,} of {len(waiting):,} questions retrieved", file=sys.stderr, flush=True)


def collect(
    parts: Mapping[str, Mapping[str, Sequence[GenerationSetQuestion]]], split: str
) -> list[dict[str, Any]]:
    """Return the rows of one split, sources interleaved, each with five references in random order."""
    rows = []
    for of in parts.values():
        rows += [filled(asked, of[split]) for asked in of[split]]
    return sorted(rows, key=lambda row: digest(f"{row['question']} order"))


def filled(asked: GenerationSetQuestion, others: Sequence[GenerationSetQuestion]) -> dict[str, Any]:
    """Return the row with its missing passages taken from other groups, the most similar first."""
    own = list(asked.row["references"])
    chance = random.Random(asked.question)
    strangers = [other for other in others if other.group != asked.group]
    lenders = chance.sample(strangers, min(_POOL, len(strangers)))
    known = {reference["text"] for reference in own}
    pool = [r for lender in lenders for r in lender.row["references"] if r["text"] not in known]
    pool = list({reference["text"]: reference for reference in pool}.values())
    if pool and len(own) < REFERENCES:
        best = (-bm25(asked.question, [r["text"] for r in pool])).argsort(kind="stable")
        own += [pool[place] for place in best[: REFERENCES - len(own)]]
        chance.shuffle(own)
    return asked.row | {"references": own}


def overlaps(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
    """Count the questions and passages of the held-out splits that are in the training split too."""
    train = {digest(row["question"]) for row in rows["train"]}
    passages = {squeeze(r["text"]) for row in rows["train"] for r in row["references"]}
    found = {}
    for split in ("dev", "test"):
        held_passages = {squeeze(r["text"]) for row in rows[split] for r in row["references"]}
        found[f"{split} questions in train"] = sum(digest(row["question"]) in train for row in rows[split])
        found[f"{split} passages in train, of {len(held_passages):,}"] = len(held_passages & passages)
    return found


def _asked(
    row: Mapping[str, Any],
    source: str,
    references: Sequence[Mapping[str, Any]],
    *,
    answer: str = "",
    claims: Sequence[str] = (),
    answerable: bool = True,
) -> GenerationSetQuestion:
    question = squeeze(row["question"])
    kept = {
        "id": row["id"],
        "question": question,
        "answer": answer,
        "claims": list(claims),
        "references": [
            {"text": r["text"], "title": r.get("title") or "", "url": r.get("url") or ""} for r in references
        ],
        "answerable": answerable,
        "source": source,
        "license": row["license"],
    }
    return GenerationSetQuestion(kept, question)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
