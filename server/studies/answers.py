"""An answer of a system, as it is stored in a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.core.text import squeeze
from citewell.core.types import Reference
from citewell.generator.citations.marks import MarkedSentence, read_marks


@dataclass(frozen=True, kw_only=True)
class SystemAnswer:
    """What a system answered to a question: sentences with the numbers of the references that they cite.

    `text` is the answer with its marks; it is empty if there is no answer.
    """

    question: str
    system: str
    text: str
    sentences: tuple[MarkedSentence, ...]
    references: tuple[Reference, ...]

    def stored(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        return {
            "system": self.system,
            "text": self.text,
            "sentences": [
                {"text": text, "citations": list(marks), "before": before}
                for text, marks, before in self.sentences
            ],
            "references": [
                {"number": each.number, "url": each.url, "title": each.title, "text": each.text}
                for each in self.references
            ],
        }


def answer_of_text(question: str, system: str, text: str, references: tuple[Reference, ...]) -> SystemAnswer:
    """Return an answer from its Markdown with marks."""
    return SystemAnswer(
        question=squeeze(question),
        system=system,
        text=text.strip(),
        sentences=tuple(known_marks(read_marks(text, markdown=True), len(references))),
        references=references,
    )


def known_marks(sentences: Sequence[MarkedSentence], references: int) -> list[MarkedSentence]:
    """Return the sentences without marks that no reference has."""
    return [
        MarkedSentence(text, tuple(number for number in marks if 1 <= number <= references), before)
        for text, marks, before in sentences
    ]


def numbered_references(references: Iterable[Mapping[str, Any] | str]) -> tuple[Reference, ...]:
    """Return references from texts, or from objects with text, title and url."""
    rows = [{"text": each} if isinstance(each, str) else each for each in references]
    return tuple(
        Reference(number, str(row.get("url") or ""), str(row.get("title") or ""), str(row["text"]), 0.0)
        for number, row in enumerate(rows, 1)
    )
