"""Questions with answers and references, as in WebGLM-QA, and the labels of the references."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, read_lines
from citewell.core.ranking_metrics import has_order
from citewell.core.rouge import Text, score
from citewell.retriever.evaluation.task import Corpus

_MARK = re.compile(r"\[\d+\]")
_FORM = 'Lines are {"question": "…", "answer": "…", "references": ["…", …]}.'


@dataclass(frozen=True)
class ReferenceTask:
    """Questions, the rows of their references in the common corpus, and the labels of the references.

    `questions`, `references` and `labels` have the same keys: the number of the line.
    """

    name: str
    corpus: Corpus
    questions: Mapping[str, str]
    references: Mapping[str, tuple[int, ...]]
    labels: Mapping[str, tuple[float, ...]]
    notices: tuple[str, ...] = ()


def rouge_1_precision(reference: str, answer: str) -> float:
    """Return the share of the reference's words that occur in the answer, at most as often as there, 0 to 1.

    This is the label of a reference in WebGLM (§3.1.2 and §5.4.2, https://arxiv.org/abs/2306.07906): ROUGE-1
    precision with the answer as target (Lin 2004, https://aclanthology.org/W04-1013). Marks in the answer,
    such as [1], are not words.
    """
    (precision,) = _labels([reference], answer)
    return precision


def _labels(references: Sequence[str], answer: str) -> tuple[float, ...]:
    target = Text(_MARK.sub(" ", answer))
    return tuple(score(Text(reference), target).precision for reference in references)


def read_references(file: Path, *, limit: int | None = None) -> ReferenceTask:
    """Read lines of {question, answer, references}, compressed or not; `limit` keeps the first ones.

    References are texts, or objects of text and title. Questions whose references all have the same label
    cannot be ranked; they are skipped, and a notice counts them. Raises `InputError` for a line of another
    form, and if no question remains.
    """
    titles: list[str] = []
    texts: list[str] = []
    questions: dict[str, str] = {}
    references: dict[str, tuple[int, ...]] = {}
    labels: dict[str, tuple[float, ...]] = {}
    skipped = 0
    for line in islice(read_lines(file), limit):
        row = line.row()
        question, answer = (_text(line, row, key) for key in ("question", "answer"))
        found = [_reference(line, reference) for reference in _list(line, row)]
        label = _labels([text for _, text in found], answer)
        if not has_order(label):
            skipped += 1
            continue
        name = str(line.number)
        questions[name], labels[name] = question, label
        references[name] = tuple(range(len(texts), len(texts) + len(found)))
        titles += [title for title, _ in found]
        texts += [text for _, text in found]
    if not questions:
        raise InputError(f"{file} holds no question with references to put in order.", _FORM)
    notices: tuple[str, ...] = ()
    if skipped:
        notices = (f"{skipped:,} questions are left out: their references are equally good.",)
    ids = tuple(f"{name}-{place}" for name, rows in references.items() for place in range(1, len(rows) + 1))
    corpus = Corpus(ids, tuple(titles), tuple(texts))
    return ReferenceTask(file.name.split(".")[0], corpus, questions, references, labels, notices)


def _list(line: Line, row: Mapping[str, Any]) -> list[Any]:
    found = row.get("references")
    if not isinstance(found, list):
        raise line.error("the references are not a list.", _FORM)
    return found


def _reference(line: Line, reference: Any) -> tuple[str, str]:
    if isinstance(reference, str):
        return "", reference
    if not isinstance(reference, dict):
        raise line.error("a reference is neither text nor an object with its text.", _FORM)
    return reference.get("title") or "", _text(line, reference, "text")


def _text(line: Line, row: Mapping[str, Any], key: str) -> str:
    text = row.get(key)
    if not isinstance(text, str):
        raise line.error(f"the {key} is not a text.", _FORM)
    return text
