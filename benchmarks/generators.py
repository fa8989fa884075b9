"""Compare the generators that could be the default: thirty questions, answered by each.

`python -m benchmarks.generators` asks the first thirty of the project's own questions about Wikipedia for
Schools, and writes the answers to `benchmarks/results/generators.md`, to be read, with statistics. The
support check that marks sentences is also the measure here, so a second measure is added: the cosine between
a sentence and the passage that it cites, or the best passage if it cites none.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.ask_wikispeedia import OWN_QUESTIONS, build_index
from benchmarks.results_files import RESULTS, output_option, save, table
from citewell.core.events import final_answer
from citewell.core.settings import Settings, load_settings
from citewell.core.types import Answer
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.parts import build_ranker
from citewell.retriever.encoder.encoder import DualEncoder

GENERATORS = ("extractive", "SmolLM2-135M-Instruct")
QUESTIONS = 30


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; temporary by default")
    parser.add_argument("--limit", type=int, default=QUESTIONS, help=f"questions [{QUESTIONS}]")
    output_option(parser)
    arguments = parser.parse_args()
    lines = OWN_QUESTIONS.read_text(encoding="utf-8").splitlines()[: arguments.limit]
    questions = [json.loads(line)["question"] for line in lines]
    with tempfile.TemporaryDirectory() as temporary:
        data_dir = arguments.data_dir or Path(temporary)
        settings = load_settings({"data_dir": data_dir, "search.collection": "wikispeedia"})
        build_index(settings)
        answers = {name: asyncio.run(answer_all(settings, name, questions)) for name in GENERATORS}
        encoder = build_ranker(settings).encoder
        measures = {name: measure(of_one, encoder) for name, of_one in answers.items()}
    header = ["generator", *measures[GENERATORS[0]]]
    print(table(header, [[name, *values.values()] for name, values in measures.items()]))
    written = (arguments.output or RESULTS / "generators.json").with_suffix(".md")
    written.write_text(side_by_side(questions, answers), encoding="utf-8")
    save("generators", {"questions": len(questions), "measures": measures}, arguments.output)


async def answer_all(settings: Settings, name: str, questions: list[str]) -> list[Answer]:
    """Return the answers of one generator."""
    own = settings.model_copy(update={"generator": settings.generator.model_copy(update={"name": name})})
    async with open_pipeline(own) as pipeline:
        return [await final_answer(pipeline.ask(question)) for question in questions]


def measure(answers: list[Answer], encoder: DualEncoder) -> dict[str, Any]:
    """Return the statistics of a generator's answers."""
    sentences = [sentence for answer in answers for sentence in answer.sentences]
    cosines = []
    for answer in answers:
        if not answer.sentences:
            continue
        passages = encoder.encode_passages([reference.text for reference in answer.references])
        written = encoder.encode_passages([sentence.text for sentence in answer.sentences])
        similar = written @ passages.T
        for row, sentence in zip(similar, answer.sentences, strict=True):
            cosines.append(float(max((row[number - 1] for number in sentence.citations), default=row.max())))
    return {
        "answered": sum(answer.outcome == "answered" for answer in answers),
        "sentences": len(sentences),
        "supported": round(sum(sentence.supported for sentence in sentences) / len(sentences), 3),
        "cosine to cited passage": round(statistics.mean(cosines), 3),
        "median seconds": round(statistics.median(answer.timings["total"] for answer in answers), 2),
    }


def side_by_side(questions: list[str], answers: dict[str, list[Answer]]) -> str:
    """Return all answers as Markdown; `(?)` marks sentences that no reference supports."""
    parts = ["# Thirty questions, two generators\n"]
    for number, question in enumerate(questions):
        parts.append(f"## {question}\n")
        for name, of_one in answers.items():
            answer = of_one[number]
            text = " ".join(
                f"{s.text} {''.join(f'[{n}]' for n in s.citations) if s.supported else '(?)'}"
                for s in answer.sentences
            )
            parts.append(f"**{name}**: {text or answer.answer}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
