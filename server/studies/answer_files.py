"""Reading the answers of systems from files: those of evaluations, of `citewell ask --json`, or any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from citewell.core.jsonl import Line, read_lines
from citewell.core.markdown import laid_out
from citewell.core.text import squeeze
from citewell.generator.citations.marks import MarkedSegment, MarkedSentence, write_marks
from citewell.server.studies.answers import SystemAnswer, answer_of_text, known_marks, numbered_references

_FORM = 'Lines are {"question": "…", "system": "…", "answer": "…", "references": ["…"]}.'


def read_answer_file(file: Path) -> Iterator[SystemAnswer]:
    """Yield the answers of a file; failed ones are skipped.

    The system is a row's `system`, `generator` or `models.generator`, or else the name of the file. Raises
    `InputError` for a line that is not an answer.
    """
    for line in read_lines(file):
        row = line.row()
        if not row.get("error"):
            yield _answer(line, row)


def system_of(file: Path) -> str:
    """Return the name of a file without its endings, which stands for a system."""
    return file.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".answers")


def _answer(line: Line, row: Mapping[str, Any]) -> SystemAnswer:
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise line.error("there is no question.", _FORM)
    models = row.get("models")
    generator = models.get("generator") if isinstance(models, dict) else None
    system = str(row.get("system") or row.get("generator") or generator or system_of(line.file))
    try:
        references = row.get("references") or []
        if not isinstance(references, list):
            raise TypeError
        found = numbered_references(references)
        if any(_number(each, place) != place for place, each in enumerate(references, 1)):
            raise line.error(
                "the references are not numbered 1, 2, 3 and so on.", "Marks count them in order."
            )
        sentences = known_marks(_sentences(row["sentences"]), len(found)) if "sentences" in row else None
    except (KeyError, TypeError, ValueError) as error:
        raise line.error("the sentences or references are not as expected.", _FORM) from error
    text = row.get("answer", row.get("text"))
    if sentences is None:
        if not isinstance(text, str):
            raise line.error("there is no answer.", _FORM)
        return answer_of_text(question, system, text, found)
    if not isinstance(text, str):
        text = laid_out(
            (sentence.before, write_marks([MarkedSegment(sentence.text, sentence.marks)]))
            for sentence in sentences
        )
    return SystemAnswer(
        question=squeeze(question),
        system=system,
        text=text.strip(),
        sentences=tuple(sentences),
        references=found,
    )


def _number(reference: Mapping[str, Any] | str, place: int) -> object:
    """Return the number that a reference says it has, or else its place."""
    return place if isinstance(reference, str) else reference.get("number", place)


def _sentences(given: Sequence[Any]) -> list[MarkedSentence]:
    """Return sentences from lists of text, marks and, maybe, what is before, or from objects with these."""
    found = []
    for each in given:
        parts = (each["text"], each["citations"], each.get("before")) if isinstance(each, dict) else each
        text, marks, *before = parts
        found.append(MarkedSentence(str(text), tuple(map(int, marks)), *before))
    return found
