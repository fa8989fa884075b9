"""Subcommands of `citewell bootstrap`: `stats` and `calibrate` study a run, `induce` prepares one."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.options import flags, retrieval_options
from citewell.core import running
from citewell.core.errors import CitewellError, InputError

if TYPE_CHECKING:
    from citewell.bootstrap.induce import Induction, Propose
    from citewell.bootstrap.recipe import Recipe
    from citewell.bootstrap.row import RowParts
    from citewell.bootstrap.types import BootstrapTask
    from citewell.core.settings import Settings
    from citewell.generator.prompt import Message

_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_TEMPERATURE = 1.0  # proposed instructions should differ


@click.command("stats", short_help="Show statistics of a bootstrap run.")
@click.argument("folder", metavar="FOLDER", type=_FOLDER)
@click.option(
    "--examples",
    metavar="N",
    type=click.IntRange(0),
    default=2,
    help="Examples to show per reason for dropping a row [2].",
)
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write the numbers to FILE.")
@click.option("--plot", metavar="FILE", type=_FILE, help="Draw them to FILE (.png, .svg or .pdf).")
def stats(folder: Path, examples: int, out: Path | None, plot: Path | None) -> None:
    """Show statistics of the bootstrap run in FOLDER: how many rows each filter dropped, with examples.

    The run need not be finished.
    """
    from citewell.bootstrap.folder import FinishedRun
    from citewell.bootstrap.plots import check_plots, draw_statistics
    from citewell.bootstrap.stats import statistics, summary

    if plot is not None:
        check_plots(plot)
    found = statistics(FinishedRun(folder).outcomes(), examples)
    if not found.rows:
        raise InputError(
            f"The run in {folder} has no outcomes yet.",
            "Wait for the first rows, or run the bootstrap again.",
        )
    if out is not None:
        _write_json(out, found.to_json())
    if plot is not None:
        draw_statistics(found, plot)
    click.echo(summary(found))


@click.command("calibrate", short_help="Find the threshold that separates good samples from bad ones.")
@click.argument("folder", metavar="FOLDER", type=_FOLDER)
@click.option(
    "--labels", metavar="FILE", type=_FILE, help='Labels: JSON Lines of {"id": …, "good": true or false}.'
)
@click.option("--draw", metavar="N", type=click.IntRange(1), help="Print N answers to label, and exit.")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write the curves to FILE.")
@click.option("--plot", metavar="FILE", type=_FILE, help="Draw the curves to FILE (.png, .svg or .pdf).")
def calibrate(
    folder: Path, labels: Path | None, draw: int | None, out: Path | None, plot: Path | None
) -> None:
    """Choose the overlap threshold of the bootstrap run in FOLDER from answers that you labeled.

    Print answers with --draw, fill in `good`, and pass the file to --labels. Thresholds of ROUGE-1 and
    ROUGE-L are compared by the precision and recall of the answers they keep.
    """
    from citewell.bootstrap.calibrate import calibrate as sweep
    from citewell.bootstrap.calibrate import draw as draw_answers
    from citewell.bootstrap.calibrate import read_labels
    from citewell.bootstrap.folder import FinishedRun
    from citewell.bootstrap.plots import check_plots, draw_calibration

    if (labels is None) == (draw is None):
        raise InputError("Give either --labels FILE or --draw N.", "See citewell bootstrap calibrate --help.")
    if plot is not None:
        check_plots(plot)
    run = FinishedRun(folder)
    if draw is not None:
        for answer in draw_answers(run.outcomes(), draw):
            click.echo(json.dumps(answer, ensure_ascii=False))
        return
    assert labels is not None
    found = sweep(run.outcomes(), read_labels(labels), run.config, lambda step: click.echo(step, err=True))
    if out is not None:
        _write_json(out, found.to_json())
    if plot is not None:
        draw_calibration(found, plot)
    click.echo(found.table())


@click.command("induce", short_help="Find a good instruction for the teacher.")
@click.option(
    "--demonstrations",
    metavar="FILE",
    required=True,
    type=_FILE,
    help="JSON Lines of {question, references, answer}, with cited answers.",
)
@click.option(
    "--questions",
    "file",
    metavar="FILE",
    required=True,
    type=_FILE,
    help="Questions to compare instructions on.",
)
@click.option("--teacher", metavar="TEACHER", required=True, help="Teacher: openai:MODEL or a generator.")
@click.option(
    "--candidates",
    "number",
    metavar="N",
    type=click.IntRange(0),
    default=5,
    help="Instructions to ask the teacher for [5].",
)
@click.option(
    "--instruction", "given", metavar="TEXT", multiple=True, help="An instruction of your own; repeatable."
)
@click.option("--limit", metavar="N", type=click.IntRange(1), default=50, help="Max questions [50].")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write the comparison to FILE.")
@click.option("--recipe", "recipe_file", metavar="FILE", type=_FILE, help="Recipe of the bootstrap (TOML).")
@click.option(
    "--base-url", "generator__base_url", metavar="URL", help="Base URL of the OpenAI-compatible API."
)
@retrieval_options
def induce(
    demonstrations: Path,
    file: Path,
    teacher: str,
    number: int,
    given: tuple[str, ...],
    limit: int,
    out: Path | None,
    recipe_file: Path | None,
    networks: tuple[str, ...],
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Have the teacher propose instructions from demonstrations, and compare them on a small bootstrap.

    The p-value is that of the first row's difference from WebGLM's instruction.
    """
    from citewell.bootstrap.questions import Questions
    from citewell.bootstrap.recipe import divide, read_recipe
    from citewell.core.settings import load_settings

    values = flags(named, networks, assignments)
    if (most := values.pop("retriever.k", None)) is not None:
        values["references.most"] = most
    divided = divide(values)
    recipe, settings = read_recipe(recipe_file, divided.recipe), load_settings(divided.settings)
    shown = list(Questions(demonstrations, recipe.questions).tasks())
    test_tasks = _without(
        list(islice(Questions(file, recipe.questions).tasks(), limit + len(shown))), shown, limit
    )
    found = running.run(_induce(shown, test_tasks, _Teacher(teacher, recipe, settings), number, given))
    if out is not None:
        _write_json(out, found.to_json())
    click.echo(found.table())
    if not found.trials[0].share:
        raise CitewellError(
            "No instruction gave an answer that the filters keep.", "See `failed` in the table."
        )
    click.echo(f"\nBest, for a recipe:\n[prompt]\ninstruction = {json.dumps(found.trials[0].instruction)}")


def _without(tasks: list[BootstrapTask], shown: list[BootstrapTask], limit: int) -> list[BootstrapTask]:
    """The first `limit` tasks whose questions are not among the demonstrations shown."""
    demonstrations = {task.question for task in shown}
    others = [task for task in tasks if task.question not in demonstrations][:limit]
    if not others:
        raise InputError(
            "All questions are among the demonstrations.", "Give other questions to compare instructions on."
        )
    return others


class _Teacher:
    """A teacher that bootstraps with a given instruction and proposes instructions."""

    def __init__(self, name: str, recipe: Recipe, settings: Settings) -> None:
        self._name = name
        self.recipe = recipe
        self.settings = settings

    def bootstrapping(
        self, instruction: str, tasks: list[BootstrapTask]
    ) -> AbstractAsyncContextManager[RowParts]:
        from citewell.pipeline.bootstrapping import PartsOpener

        prompt = self.recipe.prompt.model_copy(update={"instruction": instruction})
        recipe = self.recipe.model_copy(update={"prompt": prompt})
        retrieval = any(task.references is None for task in tasks)
        return PartsOpener(self._name, recipe, self.settings, retrieval)()

    @asynccontextmanager
    async def proposing(self) -> AsyncGenerator[Propose]:
        from citewell.generator.auto import EXTRACTIVE, OPENAI
        from citewell.generator.completion import CompletionRequest
        from citewell.generator.load import load_local, open_client

        tokens = self.recipe.teacher.answer_tokens
        settings = self.settings
        wanted = settings.generator.model_copy(
            update={"name": self._name, "temperature": _TEMPERATURE, "answer_tokens": tokens}
        )
        if self._name.startswith(OPENAI):
            async with open_client(wanted) as client:

                async def ask(messages: Sequence[Message], number: int) -> str:
                    request = CompletionRequest(max_tokens=tokens, temperature=_TEMPERATURE, seed=number)
                    return (await client.complete(messages, request)).text

                yield ask
            return
        if self._name in (EXTRACTIVE, "recorded") or self._name.partition(":")[0] == "self":
            raise InputError(
                f"The teacher {self._name} cannot propose instructions.",
                "Name a language model, or compare your own with --candidates 0 --instruction TEXT.",
            )
        generator = load_local(wanted, settings.cache_dir, threads=settings.threads)

        async def ask_local(messages: Sequence[Message], number: int) -> str:
            texts = [token.text async for token in generator.complete(messages, 1, seed=number)]
            return "".join(texts)

        yield ask_local


async def _induce(
    shown: list[BootstrapTask],
    test_tasks: list[BootstrapTask],
    teacher: _Teacher,
    number: int,
    given: tuple[str, ...],
) -> Induction:
    from citewell.bootstrap.induce import candidates, compare_instructions, propose
    from citewell.bootstrap.references import without_orders
    from citewell.pipeline.parts import open_parts

    def log(step: str) -> None:
        click.echo(step, err=True)

    proposed: tuple[str, ...] = ()
    if number:
        log(f"asking for {number} instructions")
        async with open_parts(teacher.settings) as parts, teacher.proposing() as ask:
            read = [without_orders(task, parts.orders) for task in shown]
            proposed = await propose(read, ask, number)
    instructions = candidates(proposed, given)
    if len(instructions) < 2:
        raise CitewellError(
            "The teacher proposed only the default instruction.", "Add one with --instruction TEXT."
        )
    return await compare_instructions(
        instructions,
        test_tasks,
        lambda instruction: teacher.bootstrapping(instruction, test_tasks),
        teacher.recipe.teacher.concurrency,
        log,
    )


def _write_json(file: Path, value: dict[str, Any]) -> None:
    try:
        file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise CitewellError(f"{file} cannot be written: {error.strerror}.", "Name another file.") from error
