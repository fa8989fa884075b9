"""Labels of sentences: 1 for those that hold the answer of a question, 0 for the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, read_lines
from citewell.core.text import split_sentences, words
from citewell.core.training.fields import TitledPassage, optional_text, passages, text, texts
from citewell.core.training.sources import question_key
from citewell.retriever.training.rows import LabeledRow

_MOST_ANSWERING = 0.5
"""Where more of a passage's sentences hold the answer, most of them do so by chance."""
_OF_OTHERS = 3
"""First sentences that are read of a passage that does not answer."""


def sentence_rows(files: Sequence[Path]) -> list[LabeledRow]:
    """Read lines of {question, positive, hard_negative?, answer?, evidence_sentences?}.

    The sentences of the passages in `positive` and `hard_negative`, objects of title and text, become one row
    per question, also from several lines. One of a positive passage answers if it shares its words with an
    evidence sentence, or, where there are none, if it has the words of an answer in sequence; a passage of
    which no sentence answers, or more than half do, is skipped. Lines of {question, title?, passage, label}
    with the label `unanswerable` add passages that do not answer. Raises `InputError` for a line of another
    form, and if no sentence answers.
    """
    found: dict[str, tuple[str, dict[str, float]]] = {}
    for line in (line for file in files for line in read_lines(file)):
        value = line.row()
        question = text(line, value, "question")
        _, labels = found.setdefault(question_key(question), (question, {}))
        for sentence, label in _labeled(line, value):
            labels[sentence] = max(label, labels.get(sentence, 0.0))
    rows = [LabeledRow(asked, tuple(labels), tuple(labels.values())) for asked, labels in found.values()]
    if not any(any(row.targets) for row in rows):
        raise InputError(
            f"{files[0]} cannot give the label sentences: no passage has an answer in one of its sentences.",
            'Lines are {"question": "…", "positive": [{"title": "…", "text": "…"}], "answer": ["…"]}.',
        )
    return [row for row in rows if row.passages]


def _labeled(line: Line, value: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the sentences of a line's passages, as encoders read them, with their labels."""
    evidence, answers = texts(line, value, "evidence_sentences"), texts(line, value, "answer")
    for each in passages(line, value, "positive"):
        sentences = _sentences(each)
        labels = [float(_answers(of.text, evidence, answers)) for of in sentences]
        if 0 < sum(labels) <= _MOST_ANSWERING * len(labels):
            yield from zip((of.encoded for of in sentences), labels, strict=True)
    others = passages(line, value, "hard_negative")
    if value.get("label") == "unanswerable":
        others.append(TitledPassage(optional_text(line, value, "title"), text(line, value, "passage")))
    for each in others:
        yield from ((of.encoded, 0.0) for of in _sentences(each)[:_OF_OTHERS])


def _sentences(passage: TitledPassage) -> list[TitledPassage]:
    parts = passage.text.splitlines()
    return [passage._replace(text=each) for part in parts for each in split_sentences(part)]


def _answers(sentence: str, evidence: Sequence[str], answers: Sequence[str]) -> bool:
    own = words(sentence)
    if evidence:
        return any(_holds(words(each), own) or _holds(own, words(each)) for each in evidence)
    return any(_holds(own, words(each)) for each in answers)


def _holds(whole: Sequence[str], part: Sequence[str]) -> bool:
    return bool(part) and f" {' '.join(part)} " in f" {' '.join(whole)} "
