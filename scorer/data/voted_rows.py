"""Rows of questions with votes on their answers: our JSON lines, Stack Exchange's, and ELI5's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from citewell.core.text import squeeze
from citewell.scorer.data.source_line import SourceLine, group_of
from citewell.scorer.data.types import Voted, VotedAnswer


def read_voted_row(row: Mapping[str, Any], place: SourceLine) -> Iterator[Voted]:
    """Yield the question of a row `{question, answers: [{text, score}]}`, if it has an answer with votes.

    ELI5's rows name the question `title` and `selftext`, and may hold one list of texts and one of scores,
    as the library `datasets` writes them (https://huggingface.co/datasets/defunct-datasets/eli5).
    """
    question = place.question(row)
    if question is None:
        return
    answers = []
    for number, given in enumerate(_answers(row["answers"], place), 1):
        text = place.text(given.get("text"), f"answer {number}")
        votes = place.number(given.get("score"), f"the score of answer {number}")
        if text is not None and votes is not None:
            answers.append(VotedAnswer(text, votes))
    yield from voted(question, answers, place)


def voted(question: str, answers: Sequence[VotedAnswer], place: SourceLine) -> Iterator[Voted]:
    """Yield the question, with the highest votes for each answer text; nothing if no answer is valid."""
    best: dict[str, VotedAnswer] = {}
    for answer in answers:
        key = squeeze(answer.text)
        if key not in best or answer.votes > best[key].votes:
            best[key] = answer
    if len(best) < len(answers):
        place.problem("identical", f"{len(answers) - len(best)} of the answers stand there twice.")
    if len(best) == 1:
        place.problem("one_answer", "there is one answer, and nothing to compare it with.")
    if best:
        yield Voted(question, tuple(best.values()), group=group_of(question), source=place.source)
    else:
        place.problem("no_answer", "there is no answer with votes.")


def _answers(value: object, place: SourceLine) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        texts, scores = value.get("text"), value.get("score")
        if isinstance(texts, list) and isinstance(scores, list) and len(texts) == len(scores):
            return [{"text": text, "score": score} for text, score in zip(texts, scores, strict=True)]
    elif isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return value
    place.problem("no_answers", "answers are neither objects with text and score nor two lists of these.")
    return []
