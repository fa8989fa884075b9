"""Outcomes of rows, as a run writes them."""

from __future__ import annotations

from citewell.bootstrap.types import Drop, Fault, FilterScores, Reason, Sample, TeacherUsage
from citewell.core.types import Reference

SCORES = FilterScores(words=40, segments=2, overlap=0.75, marks=3, right=2, cited=2, cited_segments=2)


def references(*texts: str) -> tuple[Reference, ...]:
    return tuple(
        Reference(number, f"https://example.org/{number}", f"Page {number}", text, 0.0)
        for number, text in enumerate(texts, 1)
    )


HELD_OUT = "What are the main factors that drive algal blooms in the oceans?"
"""A question that evaluations of generators hold out."""


def sample(key: str, question: str, *, scores: FilterScores = SCORES, teacher: str = "recorded") -> Sample:
    return Sample(
        key=key,
        question=question,
        answer=f"An answer to {key} [1]. And more of it [2].",
        references=references("A first passage.", "A second passage."),
        teacher=teacher,
        prompt_hash="",
        raw_answer=f"An answer to {key} [1]. And more of it [2].",
        scores=scores,
        usage=TeacherUsage(requests=1, prompt_tokens=900, answer_tokens=60, cost=0.001),
    )


def drop(
    key: str, reason: Reason, *, scores: FilterScores | None = SCORES, raw_answer: str = "Rambling."
) -> Drop:
    return Drop(
        key=key,
        question=f"Question {key}?",
        reason=reason,
        references=references("A passage."),
        teacher="recorded",
        prompt_hash="",
        raw_answer=raw_answer,
        scores=scores,
    )


def fault(key: str) -> Fault:
    return Fault(key=key, question=f"Question {key}?", error="The teacher did not answer.", attempts=2)
