"""`citewell bootstrap`: build a data set of cited answers, to train generators on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from citewell.cli.commands.bootstrap_publish import publish
from citewell.cli.commands.bootstrap_refilter import refilter
from citewell.cli.commands.bootstrap_study import calibrate, induce, stats
from citewell.cli.commands.options import flags, retrieval_options
from citewell.core import running
from citewell.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence

    from citewell.bootstrap.folder import RunFolder, Survey
    from citewell.bootstrap.overlap import EvaluationQuestions
    from citewell.bootstrap.questions import Questions
    from citewell.bootstrap.recipe import Recipe
    from citewell.bootstrap.types import BootstrapTask, Outcome
    from citewell.core.settings import Settings

_SHOWN = 10  # problems of the questions file that are printed; the rest are counted


@click.group("bootstrap", invoke_without_command=True)
@click.option(
    "--questions",
    "file",
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Questions: JSON Lines (.gz too) or one question per line; - reads standard input.",
)
@click.option(
    "--teacher",
    metavar="TEACHER",
    help="Writer of answers: generator, GGUF file, openai:MODEL, recorded, self or self:NAME.",
)
@click.option(
    "--out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path), help="Folder of the run."
)
@click.option(
    "--recipe",
    "recipe_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Recipe: a TOML file; docs/recipes.md lists its keys.",
)
@click.option(
    "--base-url", "generator__base_url", metavar="URL", help="Base URL of the OpenAI-compatible API."
)
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    help="Run in this process or on a Ray cluster [local].",
)
@click.option("--retry-faults", "again", is_flag=True, help="Retry the rows that failed.")
@retrieval_options
@click.pass_context
def command(
    context: click.Context,
    /,
    file: Path | None,
    teacher: str | None,
    out: Path | None,
    recipe_file: Path | None,
    engine: Literal["local", "ray"],
    again: bool,
    networks: tuple[str, ...],
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Have a teacher answer questions from references, correct its citations, and keep the good answers.

    Run the same command to resume an interrupted run. --set also takes keys of the recipe.
    """
    if context.invoked_subcommand is not None:
        return
    if file is None or teacher is None or out is None:
        raise InputError(
            "--questions FILE, --teacher TEACHER and --out FOLDER are required.",
            "See citewell bootstrap --help.",
        )
    from citewell.bootstrap.folder import RunFolder
    from citewell.bootstrap.questions import Questions
    from citewell.bootstrap.recipe import divide, read_recipe
    from citewell.core.settings import load_settings

    values = flags(named, networks, assignments)
    if (most := values.pop("retriever.k", None)) is not None:
        values["references.most"] = most
    given = divide(values)
    recipe, settings = read_recipe(recipe_file, given.recipe), load_settings(given.settings)
    run = _Run(
        Questions(file, recipe.questions), RunFolder(out, recipe.run.shard), recipe, settings, teacher, engine
    )
    run.go(again=again)


for study in (refilter, publish, stats, calibrate, induce):
    command.add_command(study)


class _Run:
    """One call of the command."""

    def __init__(
        self,
        questions: Questions,
        folder: RunFolder,
        recipe: Recipe,
        settings: Settings,
        teacher: str,
        engine: str,
    ) -> None:
        self._questions = questions
        self._folder = folder
        self._recipe = recipe
        self._settings = settings
        self._teacher = teacher
        self._engine = engine

    def go(self, *, again: bool) -> None:
        """Work on the remaining rows, and failed ones if `again`; write the data set and print the funnel."""
        from citewell.bootstrap.command import decisive
        from citewell.bootstrap.overlap import read_evaluation

        started_with = {
            "teacher": self._teacher,
            "recipe": self._recipe.decisive(),
            "settings": decisive(self._settings),
        }
        # Read first, so that a mistyped name is reported before hours of work.
        evaluation = read_evaluation(self._settings.data, self._recipe.dataset)
        survey = self._folder.survey(self._questions, started_with)
        self._report_problems(survey)
        failed = self._failed() if again else frozenset()
        if survey.done == survey.tasks and not failed:
            click.echo(f"All {survey.tasks:,} rows are done.", err=True)
        else:
            with self._folder.writing(survey, started_with, self._recipe.dataset):
                self._note_prompt()
                running.run(self._work(survey, failed))
        self._finish(evaluation, started_with)

    def _note_prompt(self) -> None:
        from citewell.bootstrap.teachers.shown_prompt import shown_prompt

        messages = shown_prompt(self._teacher, self._recipe.prompt, self._settings.generator)
        self._folder.write_prompt(messages)

    def _failed(self) -> frozenset[str]:
        from citewell.bootstrap.record import failed_keys

        return failed_keys(self._folder.journal)

    async def _work(self, survey: Survey, failed: frozenset[str]) -> None:
        from citewell.bootstrap.record import record, record_again
        from citewell.cli.bootstrap_view import progress

        journal = self._folder.journal
        if failed:
            click.echo(f"Retrying {len(failed):,} failed rows.", err=True)
            with progress(0, len(failed)) as seen:
                rows = (task for task in self._questions.tasks() if task.key in failed)
                faults = self._recipe.run.faults
                await record_again(self._outcomes(list(rows)), journal, faults, seen)
        if survey.done < survey.tasks:
            if survey.done:
                click.echo(f"Resuming after {survey.done:,} of {survey.tasks:,} rows.", err=True)
            with progress(survey.done, survey.tasks) as seen:
                await record(self._outcomes(), journal, self._recipe.run.faults, seen)
        self._folder.ahead.close()

    async def _outcomes(self, tasks: Sequence[BootstrapTask] | None = None) -> AsyncGenerator[Outcome, None]:
        """The outcomes of `tasks`; by default, of all tasks that have none yet."""
        from contextlib import aclosing

        from citewell.bootstrap.engine import local_outcomes
        from citewell.cli.view import PlainView
        from citewell.pipeline.bootstrapping import PartsOpener

        concurrency = self._recipe.teacher.concurrency
        recipe = self._recipe.for_each_worker() if self._engine == "ray" else self._recipe
        opener = PartsOpener(self._teacher, recipe, self._settings, self._needs_retrieval(tasks))
        if self._engine == "ray":
            from citewell.bootstrap.ray_engine import ray_outcomes

            async with aclosing(
                ray_outcomes(list(tasks or self._left()), opener, self._recipe.ray, concurrency)
            ) as rows:
                async for outcome in rows:
                    yield outcome
            return
        # Failed rows are replaced where they are.
        ahead = None if tasks else self._folder.ahead
        async with (
            opener(PlainView().step) as parts,
            aclosing(local_outcomes(tasks or self._left(), parts, concurrency, ahead)) as rows,
        ):
            async for outcome in rows:
                yield outcome

    def _left(self) -> Iterator[BootstrapTask]:
        return self._folder.left(self._questions)

    def _needs_retrieval(self, tasks: Sequence[BootstrapTask] | None) -> bool:
        # What a row brings may be left out as an order, so that any row may need filling.
        return self._recipe.references.fill or any(task.references is None for task in tasks or self._left())

    def _report_problems(self, survey: Survey) -> None:
        from citewell.bootstrap.folder import PROBLEMS

        for problem in survey.problems[:_SHOWN]:
            click.echo(
                f"{self._questions.file}, line {problem.line:,} is skipped: {problem.problem}.", err=True
            )
        if (more := len(survey.problems) - _SHOWN) > 0:
            click.echo(f"{more:,} more lines are skipped; see {self._folder.path / PROBLEMS}.", err=True)

    def _finish(self, evaluation: EvaluationQuestions, started_with: Mapping[str, Any]) -> None:
        from citewell.bootstrap.command import run_command
        from citewell.bootstrap.stats import FAULT
        from citewell.cli.bootstrap_view import write_and_show

        self._note_prompt()  # of a model that was not installed before
        dataset = write_and_show(
            self._folder.path,
            self._folder.journal.outcomes,
            self._recipe.dataset,
            run_command(self._questions.file, self._folder.path, started_with, self._recipe.dataset),
            evaluation,
        )
        if failed := sum(stage.stopped for stage in dataset.statistics.funnel if stage.name == FAULT):
            click.echo(
                f"{failed:,} rows failed. `citewell bootstrap stats {self._folder.path}` shows the errors; "
                "--retry-faults retries those rows.",
                err=True,
            )
