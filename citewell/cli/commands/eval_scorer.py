"""`citewell eval scorer`: how well scorers agree with people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from citewell.cli.commands.lists import choose_baseline, read_list
from citewell.cli.commands.options import flags
from citewell.cli.commands.output import check_files, printing, replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.settings import Settings
    from citewell.core.significance import PairedComparison
    from citewell.scorer.data.config import ReadingConfig
    from citewell.scorer.evaluation.report import ScorerEvaluation

_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("scorer", short_help="Evaluate how well scorers agree with people.")
@click.argument("file", metavar="FILE", type=_FILE)
@click.option(
    "--scorers",
    metavar="NAMES",
    default="random,length,bm25,embedding,default",
    help="random, length, bm25, embedding, citation-support, default, a shipped scorer, or a folder; "
    "separate several by commas [random,length,bm25,embedding,default].",
)
@click.option("--baseline", metavar="NAME", help="Scorer to compare the others with [length, or the first].")
@click.option(
    "--pairs",
    type=click.Choice(["paper", "small-forum", "raw"]),
    default="paper",
    help="How votes become pairs: as in WebGLM (paper), for forums with few answers, or unfiltered [paper].",
)
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Use only the first N questions.")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write all metrics to FILE as JSON.")
@click.option("--markdown", metavar="FILE", type=_FILE, help="Write the tables to FILE.")
@click.option(
    "--plots", metavar="FOLDER", type=_FOLDER, help="Plot score by rank, and calibration, to FOLDER."
)
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set any setting by name; repeatable."
)
def scorer(
    file: Path,
    scorers: str,
    baseline: str | None,
    pairs: str,
    limit: int | None,
    out: Path | None,
    markdown: Path | None,
    plots: Path | None,
    assignments: tuple[str, ...],
) -> None:
    """Evaluate scorers on FILE: votes, or pairs that people compared; the fields decide which.

    docs/evaluating-scorers.md explains formats and measures.
    """
    from citewell.core.settings import load_settings
    from citewell.scorer.evaluation.report import comparisons

    names = read_list(scorers, "scorer")
    chosen = choose_baseline(baseline or ("length" if "length" in names else None), names, "scorer")
    if plots is not None:
        from citewell.core.plots import check_plots

        check_plots()
    check_files(out, markdown)
    settings = load_settings(flags({}, (), assignments))
    evaluation = _evaluate(file, names, chosen, _reading(pairs), limit, settings)
    _write(evaluation, comparisons(evaluation), out, markdown, plots)


def _reading(pairs: str) -> ReadingConfig:
    from citewell.scorer.data.config import PAPER, RAW, SMALL_FORUM, ReadingConfig

    return ReadingConfig(votes={"paper": PAPER, "small-forum": SMALL_FORUM, "raw": RAW}[pairs])


def _evaluate(
    file: Path, names: list[str], baseline: str, reading: ReadingConfig, limit: int | None, settings: Settings
) -> ScorerEvaluation:
    from citewell.pipeline.scorers import build_systems
    from citewell.scorer.evaluation.evaluate import evaluate
    from citewell.scorer.evaluation.report import ScorerEvaluation
    from citewell.scorer.evaluation.task import read_task
    from citewell.scorer.scorer import SUPPORT

    task = read_task(file, reading, limit=limit)
    for note in task.notes:
        _log(note)
    systems = build_systems(names, settings, lambda model, step: _log(f"{model}: {step}"))
    notices = [f"The scorer default is {settings.scorer.name}."] if "default" in names else []
    actual = {"default": settings.scorer.name}
    if not task.has_references and any(actual.get(name, name) == SUPPORT for name in names):
        notices.append(f"The answers have no references, so {SUPPORT} scores all of them 0.")
    outcomes = tuple(evaluate(task, system, _log) for system in systems)
    return ScorerEvaluation(task, baseline, outcomes, tuple(notices))


def _write(
    evaluation: ScorerEvaluation,
    found: Mapping[str, Mapping[str, PairedComparison]],
    out: Path | None,
    page: Path | None,
    plots: Path | None,
) -> None:
    from citewell.scorer.evaluation.report import details, markdown, summary

    text = markdown(evaluation, found)
    with printing(text):
        if out is not None:
            replace(out.with_name(f"{out.stem}.details.json"), details(evaluation, found))
            replace(out, summary(evaluation))
        if page is not None:
            replace(page, text)
        if plots is not None:
            from citewell.scorer.evaluation.plots import draw

            plots.mkdir(parents=True, exist_ok=True)
            draw(evaluation, plots)


def _log(text: str) -> None:
    click.echo(text, err=True)
