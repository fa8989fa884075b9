"""`citewell eval generation`: how well generators write and cite."""

from __future__ import annotations

import itertools
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citewell.cli.commands.lists import choose_baseline, read_list
from citewell.cli.commands.options import flags
from citewell.cli.commands.output import check_files, write_results
from citewell.core import running

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.settings import Settings
    from citewell.generator.evaluation.answers import AnswerFile, GeneratedAnswer
    from citewell.generator.evaluation.measures import Loss
    from citewell.generator.evaluation.report import GenerationEvaluation
    from citewell.generator.evaluation.rows import EvaluationRow


_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("generation", short_help="Evaluate how well generators write and cite.")
@click.argument("file", metavar="FILE", type=_FILE)
@click.option(
    "--generators",
    metavar="NAMES",
    default="extractive,default",
    help="extractive, default, or any generator that `citewell ask` takes; separate several by commas "
    "[extractive,default].",
)
@click.option(
    "--judges",
    metavar="NAMES",
    default="rouge,embedding",
    help="rouge, embedding, writer, writer:NAME with a language model, or nli:MODEL with a hub id or folder; "
    "separate several by commas [rouge,embedding].",
)
@click.option("--baseline", metavar="NAME", help="Generator to compare the others with [the first].")
@click.option("--raw", is_flag=True, help="Judge citations as the generator wrote them, before correction.")
@click.option("--fluency", metavar="MODEL", help="Language model whose loss measures fluency [none].")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Use only the first N questions.")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write all metrics to FILE as JSON.")
@click.option("--markdown", metavar="FILE", type=_FILE, help="Write the tables to FILE.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set any setting by name; repeatable."
)
def generation(
    file: Path,
    generators: str,
    judges: str,
    baseline: str | None,
    raw: bool,
    fluency: str | None,
    limit: int | None,
    out: Path | None,
    markdown: Path | None,
    assignments: tuple[str, ...],
) -> None:
    """Evaluate generators on FILE, JSON Lines of {question, references, answer, claims}.

    docs/evaluating-generation.md explains formats and measures.
    """
    from citewell.core.settings import load_settings
    from citewell.generator.evaluation.judges.names import check_judges
    from citewell.generator.evaluation.report import details, summary
    from citewell.generator.evaluation.report import markdown as tables
    from citewell.generator.evaluation.rows import read_rows

    names, wanted = read_list(generators, "generator"), read_list(judges, "judge")
    first = choose_baseline(baseline, names, "generator")
    settings = load_settings(flags({}, (), assignments))
    check_judges(wanted, corrected=not raw or settings.generator.best_of > 1)
    check_files(out, markdown)
    rows = read_rows(file, limit=limit)
    for problem in rows.problems:
        _log(problem)
    evaluation = _evaluate(file, rows.rows, names, wanted, first, raw, fluency, out, settings)
    write_results(evaluation, out, markdown, markdown=tables, summary=summary, details=details)


def _evaluate(
    file: Path,
    rows: Sequence[EvaluationRow],
    names: Sequence[str],
    wanted: Sequence[str],
    baseline: str,
    raw: bool,
    fluency: str | None,
    out: Path | None,
    settings: Settings,
) -> GenerationEvaluation:
    from citewell.generator.evaluation.agreement import agreements
    from citewell.generator.evaluation.answers import AnswerFile
    from citewell.generator.evaluation.judges.names import open_judges
    from citewell.generator.evaluation.measures import measure
    from citewell.generator.evaluation.report import GenerationEvaluation
    from citewell.pipeline.evaluation.embedding import embedding_of

    with ExitStack() as stack:
        # Opened first, so that a name without a model is reported before answers are written.
        judges = stack.enter_context(open_judges(wanted, settings, lambda: embedding_of(settings), _log))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        answers = AnswerFile(out.with_name(f"{out.stem}.answers.jsonl") if out else Path(folder) / "answers")
        written = {name: running.run(_answers(name, settings, rows, answers)) for name in names}
        _log(f"Judging with {', '.join(judge.name for judge in judges)} …")
        reader = None
        if fluency is not None:
            from citewell.generator.evaluation.fluency import load_fluency

            reader = load_fluency(fluency)
        outcomes = []
        for name in names:
            loss = None
            if reader is not None and not _same_family(fluency, name, settings):
                loss = _counted(reader.loss, name, sum(row.answerable for row in rows))
            outcomes.append(measure(name, rows, written[name], judges, raw=raw, loss=loss))
        notices = _notices(raw, names, wanted, settings, fluency)
        agreed = agreements(judges)
    return GenerationEvaluation(file.name, tuple(rows), baseline, tuple(outcomes), notices, agreed)


def _counted(loss: Loss, name: str, total: int) -> Loss:
    """The function `loss`, showing progress as it is called `total` times."""
    from citewell.core.progress import Counter

    progress = Counter(f"{name}: fluency", _log)
    done = itertools.count(1)

    def counted(text: str) -> float | None:
        found = loss(text)
        progress(next(done), total)
        return found

    return counted


async def _answers(
    name: str, settings: Settings, rows: Sequence[EvaluationRow], answers: AnswerFile
) -> dict[str, GeneratedAnswer]:
    """The answers of a generator, written by the same code as those of `citewell ask`."""
    from citewell.core.progress import Counter
    from citewell.pipeline.build import open_pipeline
    from citewell.pipeline.evaluation.answering import check_writer, generated, never, together
    from citewell.pipeline.evaluation.identity import identity_of

    own = _settings_of(name, settings)
    identity = identity_of(own)
    if not answers.missing(identity, rows):
        return await answers.complete(name, identity, rows, never, lambda done, total: None)
    async with open_pipeline(own, on_step=lambda model, step: _log(f"{model}: {step}")) as pipeline:
        check_writer(pipeline, own)

        async def write(row: EvaluationRow) -> GeneratedAnswer:
            return await generated(pipeline.write(row.question, row.references))

        progress = Counter(f"{name}: answers", _log)
        return await answers.complete(name, identity, rows, write, progress, together=together(own))


def _settings_of(name: str, settings: Settings) -> Settings:
    from citewell.pipeline.evaluation.identity import with_generator

    # Nothing is searched, so a search provider without an API key must not matter.
    search = settings.search.model_copy(update={"providers": ("collection",), "collection": "handbook"})
    return with_generator(settings.model_copy(update={"search": search}), name)


def _same_family(judge: str | None, name: str, settings: Settings) -> bool:
    from citewell.generator.evaluation.fluency import is_same_family

    return judge is not None and is_same_family(judge, _settings_of(name, settings).generator.name)


def _notices(
    raw: bool, names: Sequence[str], judges: Sequence[str], settings: Settings, fluency: str | None
) -> tuple[str, ...]:
    from citewell.generator.auto import EXTRACTIVE
    from citewell.generator.evaluation.judges.writer import WRITER
    from citewell.pipeline.choices import judges_itself
    from citewell.pipeline.evaluation.identity import DEFAULT

    marks = "as the generator wrote them" if raw else "after citation correction"
    found = [f"Citations are judged {marks}; best of {settings.generator.best_of}."]
    written_by = {name: _settings_of(name, settings).generator.name for name in names}
    if DEFAULT in names:
        found.append(f"The generator default is {written_by[DEFAULT]}.")
    models = {name: model for name, model in written_by.items() if model != EXTRACTIVE and not raw}
    if own := [name for name, model in models.items() if judges_itself(settings, model)]:
        found.append(f"The language model that wrote also checked the citations of {', '.join(own)}.")
    for kind, _, model in (judge.partition(":") for judge in judges):
        if kind == WRITER:
            asked = model or _settings_of(DEFAULT, settings).generator.name
            if kin := [name for name in names if _same_family(asked, name, settings)]:
                found.append(f"The judge {asked} may favor answers of its family: those of {', '.join(kin)}.")
    if fluency is None:
        found.append("Fluency is not measured (no --fluency MODEL).")
    elif kin := [name for name in names if _same_family(fluency, name, settings)]:
        found.append(
            f"Fluency is the loss per token of {fluency}; not measured for {', '.join(kin)}, of its family."
        )
    else:
        found.append(f"Fluency is the loss per token of {fluency}.")
    return tuple(found)


def _log(text: str) -> None:
    click.echo(text, err=True)
