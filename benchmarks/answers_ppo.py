"""Train answers by PPO on two cores, and measure what it brings beside best of n.

    python -m benchmarks.answers_ppo questions --out recipes/answers
    citewell train answers recipes/answers-ppo.toml --out my-answers
    python -m benchmarks.answers_ppo compare --questions recipes/answers --trained my-answers --out FOLDER
    python -m benchmarks.answers_ppo curves --trained my-answers --trained my-answers-beta-0 --out FOLDER
    python -m benchmarks.answers_ppo tax --trained my-answers --trained my-answers-ptx --out FOLDER

`questions` writes the questions of `benchmarks.generation_set` that have an answer (ExpertQA and PubMedQA) as
`train.jsonl` and `dev.jsonl`, each with the sentences of its two best references that matter, about 40 words,
and `texts.jsonl`, paragraphs of Wikipedia for Schools, for PPO-ptx.

`compare` writes answers to the dev questions by the start and by what was trained, with the token limit of
the training: at temperature 1 from the plain softmax, and greedily, as readers get them. It keeps them in
FOLDER (the same command resumes), and prints measures of the answers, paired tests against one answer of the
start, and how often the shipped scorer, which the training did not see, prefers them. Best of n takes the
finished answer of the start with the best support; its KL divergence is log n − (n − 1) / n. `answers-kl.png`
shows reward and preference against the KL divergence.

`curves` draws the course of each run, also of one that still goes on, against its KL divergence: reward,
second scorer, copying and words, beside best of n. Over-optimization is where the second scorer falls while
the reward rises.

`tax` measures what training costs in tasks that it did not train: the log-probability of paragraphs of other
articles, and whether greedy answers to questions of SQuAD have an accepted answer, with their F1, in paired
tests against the start.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from lxml.html import document_fromstring
from numpy.typing import NDArray

from benchmarks.answers_ppo_compare import compare_answers
from benchmarks.answers_ppo_curves import draw_curves
from benchmarks.answers_ppo_tax import measure_tax
from benchmarks.generation_set import divided, expertqa, pubmedqa
from benchmarks.results_files import external_data
from citewell.core.text import squeeze
from citewell.core.types import Reference
from citewell.generator.focus import shortened
from citewell.retriever.lexical import bm25

REFERENCES = 2
WORDS = 40  # of both references
TEXTS = 2000
_LEARNED, _HELD = 0, 2  # of five parts of the articles


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    first = steps.add_parser("questions", help="write the questions and the texts")
    first.add_argument("--out", type=Path, required=True, help="folder for the three files")
    second = steps.add_parser("compare", help="compare what was trained with its start")
    second.add_argument("--questions", type=Path, required=True, help="folder that the first step wrote")
    second.add_argument(
        "--best-of",
        type=int,
        action="append",
        help="samples of the start to choose from; repeatable [4 and 16]",
    )
    second.add_argument("--tokens", type=int, default=0, help="max tokens per answer [the training's]")
    third = steps.add_parser("curves", help="draw the courses of trainings")
    fourth = steps.add_parser("tax", help="measure what was trained on other tasks")
    fourth.add_argument("--limit", type=int, default=200, help="texts, and questions of SQuAD [200]")
    for step in (second, third, fourth):
        step.add_argument("--out", type=Path, required=True, help="folder for the answers and the results")
        step.add_argument(
            "--trained",
            type=Path,
            action="append",
            required=True,
            help="folder that a training wrote; repeatable",
        )
    arguments = parser.parse_args()
    if arguments.step == "questions":
        write_questions(arguments.out)
    elif arguments.step == "curves":
        draw_curves(arguments.trained, arguments.out)
    elif arguments.step == "tax":
        texts = drawn_texts(arguments.limit, _HELD)
        measure_tax(arguments.trained, texts, arguments.out, questions=arguments.limit)
    else:
        compare_answers(
            arguments.questions / "dev.jsonl",
            arguments.trained,
            arguments.out,
            best_of=arguments.best_of or [4, 16],
            tokens=arguments.tokens,
        )


def write_questions(folder: Path) -> None:
    """Write the questions of both splits, and the texts."""
    data = external_data()
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"expertqa": divided(list(expertqa(data)), "expertqa")}
    parts |= {"pubmedqa": divided(list(pubmedqa(data)), "pubmedqa")}
    for split in ("train", "dev"):
        rows = [asked.row for of in parts.values() for asked in of[split]]
        lines = [
            {key: row[key] for key in ("question", "answer", "source", "license")}
            | {"references": short_references(row["question"], row["references"])}
            for row in rows
        ]
        _write(folder / f"{split}.jsonl", lines)
        print(f"{split}: {len(lines):,} questions")
    _write(folder / "texts.jsonl", [{"text": text} for text in drawn_texts(TEXTS, _LEARNED)])


def drawn_texts(count: int, part: int) -> list[str]:
    """Return paragraphs of a fifth of the articles: those with this remainder of their number."""
    file = sorted((external_data() / "web" / "wikispeedia").glob("articles-*.jsonl.gz"))[0]
    texts = list(_paragraphs(file, part))
    return random.Random(0).sample(texts, min(count, len(texts)))


def short_references(question: str, references: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the best references, cut to the sentences that matter, in their order."""
    scores = bm25(question, [each["text"] for each in references])
    best = sorted(sorted(range(len(references)), key=lambda place: -scores[place])[:REFERENCES])
    given = [
        Reference(
            number, references[place]["url"], references[place]["title"], references[place]["text"], 0.0
        )
        for number, place in enumerate(best, 1)
    ]
    cut = shortened(question, given, _relevance, WORDS)
    return [{"title": each.title, "url": each.url, "text": each.text} for each in cut]


def _relevance(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    return bm25(question, texts).astype(np.float32)


def _paragraphs(file: Path, part: int) -> Iterator[str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % 5 == part:
                tree = document_fromstring(json.loads(line)["html"])
                texts = (squeeze(each.text_content()) for each in tree.iterfind(".//article//p"))
                yield from (text for text in texts if len(text.split()) >= 40)


def _write(file: Path, rows: Sequence[dict[str, object]]) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
