"""`citewell eval`: `retrieval` and `compare`; the other subcommands have their own modules."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citewell.cli.commands.eval_adoption import adoption
from citewell.cli.commands.eval_answers import answers
from citewell.cli.commands.eval_browse import browse
from citewell.cli.commands.eval_generation import generation
from citewell.cli.commands.eval_scorer import scorer
from citewell.cli.commands.eval_truthfulqa import truthfulqa
from citewell.cli.commands.lists import choose_baseline, read_list
from citewell.cli.commands.output import check_files, replace
from citewell.core.errors import CitewellError, InputError

if TYPE_CHECKING:
    from citewell.retriever.evaluation.report import RetrievalEvaluation
    from citewell.retriever.evaluation.systems.system import RankingSystem
    from citewell.retriever.evaluation.task import RetrievalTask
    from citewell.retriever.evaluation.trec import Qrels

_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_EVERY = 2.0  # seconds between lines of progress
_QRELS = "qrels.txt"


@click.group("eval")
def command() -> None:
    """Evaluate retrieval, generation, answers, scoring and browsing on your data."""


command.add_command(adoption)
command.add_command(answers)
command.add_command(browse)
command.add_command(generation)
command.add_command(scorer)
command.add_command(truthfulqa)


@command.command("retrieval", short_help="Evaluate retrieval systems.")
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("--split", metavar="NAME", default="test", help="Split: judgments in qrels/NAME.tsv [test].")
@click.option("--qrels", metavar="FILE", type=_FILE, help="Relevance judgments in TREC or BEIR format.")
@click.option(
    "--systems",
    metavar="NAMES",
    default="bm25,minilm,default",
    help="tfidf, bm25, minilm, default, hybrid, reranked, pipeline, an encoder's folder or hub id, or a TREC "
    "run; separate several by commas [bm25,minilm,default].",
)
@click.option("--rerank", metavar="RUN", type=_FILE, help="Rerank the documents of this TREC run.")
@click.option(
    "--depth", metavar="N", type=click.IntRange(1), default=100, help="Documents ranked per query [100]."
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="System to compare the others with [the first].",
)
@click.option(
    "--relevant",
    metavar="GRADE",
    type=click.IntRange(1),
    default=1,
    help="Min grade counted as relevant (not used by nDCG) [1].",
)
@click.option("--references", is_flag=True, help="INPUT is a folder of questions with references.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Use only the first N questions.")
@click.option("--runs", metavar="FOLDER", type=_FOLDER, help="Write TREC runs and judgments to FOLDER.")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write {system: {metric: value}} to FILE.")
@click.option("--markdown", metavar="FILE", type=_FILE, help="Write the tables to FILE.")
@click.option(
    "--plots",
    metavar="FOLDER",
    type=_FOLDER,
    help="Plot quality against latency, and differences, to FOLDER.",
)
def retrieval(
    source: Path,
    split: str,
    qrels: Path | None,
    systems: str,
    rerank: Path | None,
    depth: int,
    baseline: str | None,
    relevant: int,
    references: bool,
    limit: int | None,
    runs: Path | None,
    out: Path | None,
    markdown: Path | None,
    plots: Path | None,
) -> None:
    """Evaluate retrieval systems on INPUT: a BEIR folder, or a file of questions with references.

    Systems rank the whole corpus of the folder, the documents of a first-stage run (--rerank), or the
    references of each question of the file. docs/evaluating-retrieval.md explains formats and measures.
    """
    names = read_list(systems, "system")
    first = choose_baseline(baseline, names, "system")
    if plots is not None:
        from citewell.core.plots import check_plots

        check_plots()
    check_files(out, markdown)
    if references or source.is_file():
        if qrels is not None or rerank is not None:
            raise InputError(
                f"--qrels and --rerank do not apply to {source}, a file of questions with references.",
                "Remove them, or give a BEIR folder.",
            )
        evaluation = _on_references(_file_of(source, split), names, first, limit)
        judged = None
    else:
        from citewell.retriever.evaluation.task import read_task

        task = read_task(source, split, qrels=qrels, partial=rerank is not None, limit=limit)
        evaluation = _on_task(task, names, first, rerank, depth, relevant)
        judged = task.qrels
    try:
        _write(evaluation, out, markdown, plots)
        if runs is not None:
            _write_runs(runs, evaluation, judged)
    except OSError as error:
        raise CitewellError(
            f"{error.filename} cannot be written: {error.strerror}.",
            "Free some space, or name another file.",
        ) from error
    finally:
        # Always printed, since it took long to compute; last, since the reader of a pipe may be gone.
        _show(evaluation)


def _file_of(source: Path, split: str) -> Path:
    from citewell.core.jsonl import plain_or_gzipped

    return plain_or_gzipped(source / f"{split}.jsonl") if source.is_dir() else source


def _on_task(
    task: RetrievalTask, names: list[str], baseline: str, rerank: Path | None, depth: int, relevant: int
) -> RetrievalEvaluation:
    from citewell.retriever.evaluation.evaluate import candidates, evaluate, evaluate_run
    from citewell.retriever.evaluation.report import RetrievalEvaluation, compared
    from citewell.retriever.evaluation.systems.names import NAMES
    from citewell.retriever.evaluation.trec import read_run

    first, notices = None, task.notices
    if rerank is not None:
        first, more = candidates(task, read_run(rerank, documents=task.corpus.rows), depth)
        notices += more
    _log_notices(notices)
    runs = {name: read_run(Path(name)) for name in names if name not in NAMES and Path(name).is_file()}
    found = {name: evaluate_run(task, name, run, relevant) for name, run in runs.items()}
    progress = _Progress()
    for system in _systems([name for name in names if name not in runs]):
        found[system.name] = evaluate(
            task, system, depth, relevant=relevant, first=first, on_progress=progress
        )
    progress.end()
    outcomes = tuple(found[name] for name in names)
    return RetrievalEvaluation(
        task.name,
        "corpus" if first is None else "rerank",
        len(task.queries),
        len(task.corpus),
        baseline,
        outcomes,
        compared(outcomes, baseline),
        notices,
    )


def _on_references(file: Path, names: list[str], baseline: str, limit: int | None) -> RetrievalEvaluation:
    from citewell.retriever.evaluation.evaluate import evaluate_references
    from citewell.retriever.evaluation.references import read_references
    from citewell.retriever.evaluation.report import RetrievalEvaluation, compared

    task = read_references(file, limit=limit)
    _log_notices(task.notices)
    progress = _Progress()
    outcomes = tuple(evaluate_references(task, system, progress) for system in _systems(names))
    progress.end()
    return RetrievalEvaluation(
        task.name,
        "references",
        len(task.questions),
        len(task.corpus),
        baseline,
        outcomes,
        compared(outcomes, baseline),
        task.notices,
    )


def _systems(names: list[str]) -> list[RankingSystem]:
    from citewell.core.settings import load_settings
    from citewell.retriever.evaluation.systems.names import Loading, build_systems

    return build_systems(names, Loading(load_settings(), lambda model, step: _log(f"{model}: {step}")))


def _show(evaluation: RetrievalEvaluation) -> None:
    from citewell.core.significance import differences_table
    from citewell.retriever.evaluation.report import scores_table

    click.echo(scores_table(evaluation))
    if len(evaluation.outcomes) > 1:
        click.echo(f"\nDifferences to {evaluation.baseline}:\n\n{differences_table(evaluation.comparisons)}")


def _write(evaluation: RetrievalEvaluation, out: Path | None, page: Path | None, plots: Path | None) -> None:
    from citewell.retriever.evaluation.report import details, details_file, markdown, summary

    if out is not None:
        replace(details_file(out), details(evaluation))
        replace(out, summary(evaluation))
    if page is not None:
        replace(page, markdown(evaluation))
    if plots is not None:
        from citewell.retriever.evaluation.plots import draw

        plots.mkdir(parents=True, exist_ok=True)
        draw(evaluation, plots)


def _write_runs(folder: Path, evaluation: RetrievalEvaluation, judged: Qrels | None) -> None:
    from citewell.retriever.evaluation.trec import write_qrels, write_run

    folder.mkdir(parents=True, exist_ok=True)
    for outcome in evaluation.outcomes:
        name = re.sub(r"[^\w.-]+", "-", outcome.name).strip("-.")
        write_run(folder / f"{name}.txt", outcome.run, name)
    if judged is not None:
        write_qrels(folder / _QRELS, judged)


@command.command("compare", short_help="Compare two TREC runs or two evaluations.")
@click.argument("first", metavar="A", type=_FILE)
@click.argument("second", metavar="B", type=_FILE)
@click.option(
    "--qrels", metavar="FILE", type=_FILE, help="Relevance judgments [qrels.txt in the folder of A]."
)
@click.option(
    "--relevant",
    metavar="GRADE",
    type=click.IntRange(1),
    default=1,
    help="Min grade counted as relevant (not used by nDCG) [1].",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def compare(first: Path, second: Path, qrels: Path | None, relevant: int, as_json: bool) -> None:
    """Compare B with A query by query: two TREC runs, or two files that `citewell eval` wrote by --json.

    Runs are judged by --qrels, or by the qrels.txt that `citewell eval retrieval --runs FOLDER` writes beside
    them. Of two evaluations, systems of the same name are compared.
    """
    from citewell.pipeline.evaluation.comparing import compare_files

    found = compare_files(first, second, qrels, relevant)
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        click.echo(found.table())


class _Progress:
    """Progress and rate on standard error; on a terminal, on one line."""

    def __init__(self) -> None:
        self._label = ""
        self._started = self._shown = 0.0
        self._first = 0

    def __call__(self, label: str, done: int, total: int) -> None:
        now = time.monotonic()
        if label != self._label:
            self._label, self._started, self._shown, self._first = label, now, now, done
        elif now - self._shown >= _EVERY:
            self._shown = now
            rate = (done - self._first) / (now - self._started)
            _log(f"{label} {done:,} of {total:,}, {rate:,.0f}/s", over=True)

    def end(self) -> None:
        """End the line on a terminal."""
        if sys.stderr.isatty():
            click.echo("", err=True)


def _log_notices(notices: tuple[str, ...]) -> None:
    for notice in notices:
        _log(notice)


def _log(text: str, *, over: bool = False) -> None:
    if over and sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)
    else:
        click.echo(text, err=True)
