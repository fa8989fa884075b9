"""Labels from ROUGE-1 precisions of references against the answer, as in WebGLM (§3.1.2)."""

from __future__ import annotations

from pathlib import Path

from citewell.retriever.evaluation.references import read_references
from citewell.retriever.training.rows import LabeledRow


def rouge_rows(file: Path) -> list[LabeledRow]:
    """Read lines of {question, answer, references}; a label is the share of a passage's words in the answer.

    `citewell eval retrieval --references` uses the same labels
    (`citewell.retriever.evaluation.references.rouge_1_precision`). Rows whose labels are all equal are
    skipped.
    """
    task = read_references(file)
    return [
        LabeledRow(
            question, tuple(task.corpus.passages[row] for row in task.references[name]), task.labels[name]
        )
        for name, question in task.questions.items()
    ]
