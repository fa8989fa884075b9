"""Rankings of K answers to one question (InstructGPT, §3.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from citewell.scorer.data.source_line import SourceLine, group_of
from citewell.scorer.data.types import RankedAnswers


def read_ranking(row: Mapping[str, Any], place: SourceLine) -> Iterator[RankedAnswers]:
    """Yield the ranking of a row `{question, answers: [text], ranks: [number]}`; 1 is best, equals tie."""
    question = place.question(row)
    answers, ranks = row.get("answers"), row["ranks"]
    if not isinstance(answers, list) or not isinstance(ranks, list) or len(answers) != len(ranks):
        place.problem("no_ranks", "answers and ranks are not two lists of the same length.")
        return
    references = place.references(row)
    texts = [place.answer(text, f"answer {number}", references) for number, text in enumerate(answers, 1)]
    numbers = [place.number(rank, f"rank {number}") for number, rank in enumerate(ranks, 1)]
    known = [
        (rank, text)
        for rank, text in zip(numbers, texts, strict=True)
        if rank is not None and text is not None
    ]
    if question is None or len(known) < 2:
        place.problem("one_answer", "fewer than two answers have a rank.")
        return
    known.sort(key=lambda each: each[0])
    yield RankedAnswers(
        question,
        tuple(text for _, text in known),
        ranks=tuple(rank for rank, _ in known),
        references=references,
        group=group_of(question),
        source=place.source,
        rater=place.stated(row, "rater"),
    )
