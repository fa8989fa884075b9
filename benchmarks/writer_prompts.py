"""Compare prompts for the local writer: the same references, with and without the answer.

`python -m benchmarks.writer_prompts` asks questions of NQ-open's development split in Wikipedia for Schools
(`--data-dir` has its collection) until `--limit` of them have an accepted answer in their references, and
half as many do not. Each form of the prompt then writes from these references, without the pipeline's
judgment of evidence and its check of citations, and refuses where decoding does, not by the probability of a
refusal (`benchmarks.refusals`). A third of the questions is held out (see `benchmarks.answer_questions`).

Right: the answer, without its marks, contains an accepted answer. Refused: it says that the references do not
answer. Wrong: neither, which includes right answers in other words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.answer_questions import BearingQuestion, of_split, wikipedia_questions
from benchmarks.ask_wikispeedia import COLLECTION
from benchmarks.results_files import output_option, save, table
from citewell.core.answers import has_answer
from citewell.core.events import final_answer
from citewell.core.settings import Settings, load_settings
from citewell.core.text import words
from citewell.core.types import Reference
from citewell.generator.causal import Sampling
from citewell.generator.citations.marks import read_marks
from citewell.generator.focus import focused
from citewell.generator.load import open_model
from citewell.generator.local import LocalGenerator
from citewell.generator.prompt import RULES, WEBGLM, PromptForm
from citewell.generator.refusal import is_refusal
from citewell.generator.resolve import resolve
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.parts import build_ranker
from citewell.retriever.parts import parts

THREE = ("fact", "joined", "refusal")
FIVE = PromptForm().examples
FORMS = {
    "WebGLM, one": WEBGLM,
    "WebGLM, three": replace(WEBGLM, examples=THREE),
    "rules, one": replace(WEBGLM, instruction=RULES),
    "rules, three": replace(WEBGLM, instruction=RULES, examples=THREE),
    "rules, three, titles": PromptForm(RULES, examples=THREE),
    "rules, five, titles": PromptForm(RULES, examples=FIVE),
    "rules, five, titles, question first": PromptForm(RULES, question_first=True, examples=FIVE),
    "rules, five, titles, 160 words": PromptForm(),
    "rules, no example": replace(WEBGLM, instruction=RULES, demonstration=False),
}


class PromptCase(NamedTuple):
    """A question, its accepted answers, its references, and whether one of them holds an answer."""

    question: str
    answers: tuple[str, ...]
    references: tuple[Reference, ...]
    answerable: bool


class Written(NamedTuple):
    """An answer, the seconds to its first token, and to its end."""

    question: str
    text: str
    first: float
    seconds: float
    right: bool
    refused: bool


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--generator", required=True, help="GGUF file or name of the writer")
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the collection")
    parser.add_argument("--limit", type=int, default=24, help="questions with an answer [24]")
    parser.add_argument("--forms", default="; ".join(FORMS), help="separated by semicolons")
    parser.add_argument("--references", type=Path, help="file that keeps the questions with their references")
    output_option(parser)
    arguments = parser.parse_args()
    settings = load_settings({"data_dir": arguments.data_dir, "search.collection": COLLECTION})
    cases = _kept(arguments.references) or asyncio.run(find_cases(settings, arguments.limit))
    if arguments.references:
        arguments.references.write_text(json.dumps([_plain(case) for case in cases]), encoding="utf-8")
    model = open_model(resolve(arguments.generator), settings.cache_dir, threads=settings.threads)
    results: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    for name in (part.strip() for part in arguments.forms.split(";")):
        writer = LocalGenerator(
            model,
            arguments.generator,
            prompt_tokens=2000,
            answer_tokens=settings.generator.answer_tokens,
            sampling=Sampling(settings.generator.temperature, 0, settings.generator.frequency_penalty or 0.0),
            form=FORMS[name],
        )
        most = next((int(words) for words in re.findall(r"(\d+) words", name)), None)
        written = asyncio.run(write(writer, cases if most is None else focused_cases(cases, settings, most)))
        results[name] = summary(cases, written)
        answers[name] = [one._asdict() for one in written]
        print(name, results[name], flush=True)
        counts = {"answerable": sum(case.answerable for case in cases), "questions": len(cases)}
        save("writer_prompts", counts | {"forms": results, "answers": answers}, arguments.output)
    header = ["prompt", *next(iter(results.values()))]
    print("\n" + table(header, [[name, *measures.values()] for name, measures in results.items()]))


def focused_cases(cases: Sequence[PromptCase], settings: Settings, most: int) -> list[PromptCase]:
    """Return the cases with the sentences of their references that matter."""
    focus = partial(focused, relevance=build_ranker(settings).sentence_scores, most_words=most, split=parts)
    return [case._replace(references=tuple(focus(case.question, case.references))) for case in cases]


async def find_cases(settings: Settings, limit: int) -> list[PromptCase]:
    """Ask until there are `limit` questions whose references hold an answer, and half as many others."""
    wanted = {True: limit, False: limit // 2}
    found: list[PromptCase] = []
    asked = [one for one in of_split(wikipedia_questions(), "dev") if one.origin == "nq_open"]
    async with open_pipeline(settings) as pipeline:
        for question in asked:
            answer = await final_answer(pipeline.retrieve(question.text))
            case = _case(question, answer.references)
            if wanted[case.answerable]:
                wanted[case.answerable] -= 1
                found.append(case)
            if not any(wanted.values()):
                break
    return found


def _case(question: BearingQuestion, references: Sequence[Reference]) -> PromptCase:
    borne = any(map(question.is_borne_by, references))
    return PromptCase(question.text, question.answers, tuple(references), borne)


async def write(writer: LocalGenerator, cases: Sequence[PromptCase]) -> list[Written]:
    """Return the writer's answers."""
    written = []
    for case in [cases[0], *cases]:  # the first one warms up
        started = time.perf_counter()
        pieces: list[str] = []
        first = 0.0
        async with aclosing(writer.generate(case.question, case.references, 1)) as tokens:
            async for token in tokens:
                first = first or time.perf_counter() - started
                pieces.append(token.text)
        text = "".join(pieces).strip()
        seconds = time.perf_counter() - started
        unmarked = " ".join(sentence.text for sentence in read_marks(text))
        right = has_answer(unmarked, case.answers)
        written.append(
            Written(case.question, text, round(first, 2), round(seconds, 2), right, is_refusal(text))
        )
    return written[1:]


def summary(cases: Sequence[PromptCase], written: Sequence[Written]) -> dict[str, Any]:
    """Return the measures of a form."""
    answered = [one for one in written if not one.refused]
    sentences = [sentence for one in answered for sentence in read_marks(one.text)]

    def share(values: Sequence[bool]) -> float:
        return round(sum(values) / max(1, len(values)), 2)

    bearing = [one for case, one in zip(cases, written, strict=True) if case.answerable]
    others = [one for case, one in zip(cases, written, strict=True) if not case.answerable]
    return {
        "right": share([one.right for one in bearing]),
        "refused": share([one.refused for one in bearing]),
        "wrong": share([not (one.right or one.refused) for one in bearing]),
        "refused without evidence": share([one.refused for one in others]),
        "sentences cited": share([bool(sentence.marks) for sentence in sentences]),
        "words, median": statistics.median([len(words(one.text)) for one in answered] or [0]),
        "first token s": round(statistics.median(one.first for one in written), 2),
        "seconds": round(statistics.median(one.seconds for one in written), 2),
    }


def _plain(case: PromptCase) -> dict[str, Any]:
    return case._asdict() | {"references": [asdict(reference) for reference in case.references]}


def _kept(file: Path | None) -> list[PromptCase]:
    if file is None or not file.exists():
        return []
    rows = json.loads(file.read_text(encoding="utf-8"))
    return [
        PromptCase(
            row["question"],
            tuple(row["answers"]),
            tuple(Reference(**reference) for reference in row["references"]),
            row["answerable"],
        )
        for row in rows
    ]


if __name__ == "__main__":
    main()
