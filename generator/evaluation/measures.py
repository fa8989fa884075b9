"""The measures of one generator's answers, with and without judges."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from citewell.core.text import words
from citewell.generator.citations.marks import MarkedSentence, read_marks
from citewell.generator.evaluation.answers import GeneratedAnswer
from citewell.generator.evaluation.citations import CitedAnswer, citation_recall_and_precision, claim_recall
from citewell.generator.evaluation.judges.judge import SupportJudge
from citewell.generator.evaluation.rows import EvaluationRow
from citewell.generator.evaluation.text import copied, refuses, repetition, rouge_l_sum

RECALL, PRECISION, CLAIMS = "citation recall", "citation precision", "claim recall"
TEXT = "text"
"""The name used for measures without a judge."""
ROUGE_L_SUM, WORDS, CITATIONS = "ROUGE-Lsum", "words", "citations per sentence"
COPIED, REPETITION, FLUENCY = "copied 8-grams", "seq-rep-4", "loss per token"
REFUSED, REFUSED_WRONGLY = "refused, unanswerable", "refused, answerable"

Values = dict[str, dict[str, float]]
"""{measure: {key of the row: value}}"""

Loss = Callable[[str], float | None]

_BREAK = re.compile(r"\n+")


@dataclass(frozen=True)
class GeneratorResult:
    """The measured values of one generator: those of each judge, and `TEXT`.

    `failures` are the rows without an answer, by line, with the reason. They count as empty answers, so that
    generators are compared on the same questions.
    """

    name: str
    values: Mapping[str, Values]
    failures: Mapping[int, str]


def measure(
    name: str,
    rows: Sequence[EvaluationRow],
    written: Mapping[str, GeneratedAnswer],
    judges: Sequence[SupportJudge],
    *,
    raw: bool = False,
    loss: Loss | None = None,
) -> GeneratorResult:
    """Measure the answers of the generator `name`, by the keys of the rows.

    With `raw`, the marks are the generator's own, before correction. Citations and claims are measured on
    answerable rows, refusals on all. `loss` gives the loss per token of a language model of another family.
    """
    sentences = {row.key: shown(written[row.key], raw=raw) for row in rows}
    texts = {key: " ".join(s.text for s in found) for key, found in sentences.items()}
    answerable = [row for row in rows if row.answerable]
    values = {judge.name: _judged(answerable, sentences, texts, judge) for judge in judges}
    values[TEXT] = _counted(rows, sentences, texts, loss)
    failures = {row.line: written[row.key].error for row in rows if written[row.key].error}
    return GeneratorResult(name, values, failures)


def shown(written: GeneratedAnswer, *, raw: bool) -> tuple[MarkedSentence, ...]:
    """Return the sentences with the marks after correction, or with the generator's own."""
    return tuple(read_marks(written.raw, markdown=written.markdown)) if raw else written.sentences


def passages(row: EvaluationRow) -> dict[int, str]:
    """Return the title and text of each reference, as judges read them, by its number."""
    return {r.number: f"{r.title_path}\n{r.text}".strip() for r in row.references}


def _judged(
    rows: Sequence[EvaluationRow],
    sentences: Mapping[str, Sequence[MarkedSentence]],
    texts: Mapping[str, str],
    judge: SupportJudge,
) -> Values:
    cited = [CitedAnswer(sentences[row.key], passages(row)) for row in rows]
    scores = citation_recall_and_precision(cited, judge)
    values: Values = {
        RECALL: {row.key: score.recall for row, score in zip(rows, scores, strict=True)},
        PRECISION: {row.key: score.precision for row, score in zip(rows, scores, strict=True)},
    }
    if with_claims := [row for row in rows if row.claims]:
        recalled = claim_recall([r.claims for r in with_claims], [texts[r.key] for r in with_claims], judge)
        values[CLAIMS] = {row.key: value for row, value in zip(with_claims, recalled, strict=True)}
    return values


def _counted(
    rows: Sequence[EvaluationRow],
    sentences: Mapping[str, Sequence[MarkedSentence]],
    texts: Mapping[str, str],
    loss: Loss | None,
) -> Values:
    values: dict[str, dict[str, float | None]] = {}
    for row in rows:
        text, found = texts[row.key], sentences[row.key]
        refused = REFUSED_WRONGLY if row.answerable else REFUSED
        values.setdefault(refused, {})[row.key] = float(refuses(text))
        if not row.answerable:
            continue
        counted = {
            WORDS: float(len(words(text))),
            CITATIONS: sum(len(s.marks) for s in found) / len(found) if found else None,
            COPIED: copied(text, [r.text for r in row.references]),
            REPETITION: repetition(text),
            ROUGE_L_SUM: rouge_l_sum([s.text for s in found], _lines(row.answer)) if row.answer else None,
            FLUENCY: loss(text) if loss and text else None,
        }
        for measure, value in counted.items():
            values.setdefault(measure, {})[row.key] = value
    known = {name: {key: v for key, v in of.items() if v is not None} for name, of in values.items()}
    return {name: of for name, of in known.items() if of}


def _lines(answer: str) -> str:
    """Return a human answer with one sentence per line, and without marks."""
    return "\n".join(s.text for line in _BREAK.split(answer) for s in read_marks(line))
