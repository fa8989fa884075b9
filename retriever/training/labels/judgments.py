"""Labels from graded judgments by people: the label is the grade."""

from __future__ import annotations

from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.jsonl import plain_or_gzipped
from citewell.retriever.evaluation.task import read_task
from citewell.retriever.evaluation.trec import ranked, read_run
from citewell.retriever.training.rows import LabeledRow


def judgment_rows(folder: Path, split: str, run: Path | None, depth: int) -> list[LabeledRow]:
    """Read the judgments of a BEIR folder.

    Without a run, a query's passages are the judged ones. With a run, they are its `depth` best that the
    corpus holds, and unjudged passages have the label 0: the task is to rerank them. Queries without a
    passage above 0 are skipped. Raises `InputError` for files that cannot be read or do not match, and if no
    query remains.
    """
    task = read_task(folder, split, partial=True)
    results = read_run(run) if run is not None else {}
    rows = []
    for query, question in task.queries.items():
        judged = task.qrels[query]
        listed = ranked(results.get(query, {}))[:depth] if run is not None else list(judged)
        documents = [document for document in listed if document in task.corpus.rows]
        targets = tuple(float(max(0, judged.get(document, 0))) for document in documents)
        if any(targets):
            passages = tuple(task.corpus.passages[task.corpus.rows[document]] for document in documents)
            rows.append(LabeledRow(question, passages, targets))
    if not rows:
        raise InputError(
            f"{plain_or_gzipped(folder / 'qrels' / f'{split}.tsv')} cannot give the label judgments: "
            "no query has a relevant passage in its list."
        )
    return rows
