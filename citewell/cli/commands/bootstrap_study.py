"""The parts of `citewell bootstrap` that study a run: `stats`, `calibrate`, and `induce` before one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.options import flags, retrieval_options
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
_TEMPERATURE = 1.0  # of proposals, which should differ


@click.command("stats", short_help="Show what became of a bootstrap's rows.")
@click.argument("folder", metavar="FOLDER", type=_FOLDER)
@click.option(
    "--examples", metavar="N", type=click.IntRange(0), default=2, help="Examples of each kind of drop [2]."
)
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write the numbers there.")
@click.option("--plot", metavar="FILE", type=_FILE, help="Draw them there: .png, .svg or .pdf.")
def stats(folder: Path, examples: int, out: Path | None, plot: Path | None) -> None:
    """Show what became of the rows of the bootstrap in FOLDER: how many each filter stopped, and examples.

    Lengths, citations and overlaps are those of the samples that were kept. A run may still go on.
    """
    from citewell.bootstrap.finished import FinishedRun
    from citewell.bootstrap.plots import check_plots, draw_statistics
    from citewell.bootstrap.stats import statistics, summary

    if plot is not None:
        check_plots(plot)
    found = statistics(FinishedRun(folder).outcomes(), examples)
    if not found.rows:
        raise InputError(f"The run in {folder} has no outcomes yet.", "Wait, or start it again.")
    if out is not None:
        _write_json(out, found.to_json())
    if plot is not None:
        draw_statistics(found, plot)
    click.echo(summary(found))


@click.command("calibrate", short_help="Find the threshold that tells good samples from bad ones.")
@click.argument("folder", metavar="FOLDER", type=_FOLDER)
@click.option("--labels", metavar="FILE", type=_FILE, help='JSON lines {"id": …, "good": true or false}.')
@click.option(
    "--draw", metavar="N", type=click.IntRange(1), help="Print N answers to label, in place of all else."
)
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write the curves there.")
@click.option("--plot", metavar="FILE", type=_FILE, help="Draw the curves there: .png, .svg or .pdf.")
def calibrate(
    folder: Path, labels: Path | None, draw: int | None, out: Path | None, plot: Path | None
) -> None:
    """Find the overlap from which an answer of the bootstrap in FOLDER is good, by answers that you labelled.

    Print answers with --draw, fill in `good`, and give them back with --labels: thresholds of ROUGE-1 and
    ROUGE-L are compared by the precision and recall of what they keep.
    """
    from citewell.bootstrap.calibrate import calibrate as sweep
    from citewell.bootstrap.calibrate import draw as draw_answers
    from citewell.bootstrap.calibrate import read_labels
    from citewell.bootstrap.finished import FinishedRun
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


@click.command("induce", short_help="Find a good instruction for a teacher.")
@click.option(
    "--demonstrations",
    metavar="FILE",
    required=True,
    type=_FILE,
    help="JSON lines of question, references and a cited answer.",
)
@click.option(
    "--questions", "file", metavar="FILE", required=True, type=_FILE, help="Questions to compare by."
)
@click.option("--teacher", metavar="TEACHER", required=True, help="openai:MODEL, or a generator's name.")
@click.option(
    "--candidates", "number", metavar="N", type=click.IntRange(0), default=5, help="Proposals to ask for [5]."
)
@click.option("--instruction", "given", metavar="TEXT", multiple=True, help="One of your own; repeatable.")
@click.option("--limit", metavar="N", type=click.IntRange(1), default=50, help="Questions to use [50].")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write the comparison there.")
@click.option("--config", "recipe_file", metavar="FILE", type=_FILE, help="Recipe of the bootstrap.")
@click.option("--base-url", "generator__base_url", metavar="URL", help="Address of the OpenAI API.")
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
    """Have the teacher guess instructions from demonstrations, and compare them by bootstrapping questions.

    The first of the table is the one that kept most answers; p is that of the difference to WebGLM's.
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
    held = _held(list(islice(Questions(file, recipe.questions).tasks(), limit + len(shown))), shown, limit)
    found = asyncio.run(_induce(shown, held, _Teacher(teacher, recipe, settings), number, given))
    if out is not None:
        _write_json(out, found.to_json())
    click.echo(found.table())
    click.echo(f"\nBest, for a recipe:\n[prompt]\ninstruction = {json.dumps(found.trials[0].instruction)}")


def _held(tasks: list[BootstrapTask], shown: list[BootstrapTask], limit: int) -> list[BootstrapTask]:
    """The questions that are no demonstration."""
    demonstrations = {task.question for task in shown}
    held = [task for task in tasks if task.question not in demonstrations][:limit]
    if not held:
        raise InputError(
            "No question is left to compare by.", "Give questions that are not among the demonstrations."
        )
    return held


class _Teacher:
    """A teacher by its name: to bootstrap with any instruction, and to be asked for instructions."""

    def __init__(self, name: str, recipe: Recipe, settings: Settings) -> None:
        self._name = name
        self.recipe = recipe
        self._settings = settings

    def bootstrapping(
        self, instruction: str, tasks: list[BootstrapTask]
    ) -> AbstractAsyncContextManager[RowParts]:
        from citewell.pipeline.bootstrapping import PartsOpener

        prompt = self.recipe.prompt.model_copy(update={"instruction": instruction})
        recipe = self.recipe.model_copy(update={"prompt": prompt})
        retrieval = any(task.references is None for task in tasks)
        return PartsOpener(self._name, recipe, self._settings, retrieval)()

    @asynccontextmanager
    async def proposing(self) -> AsyncGenerator[Propose]:
        from citewell.generator.completion import CompletionRequest
        from citewell.generator.load import EXTRACTIVE, OPENAI, load_local, open_client

        tokens = self.recipe.teacher.answer_tokens
        settings = self._settings
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
                f"The teacher {self._name} cannot guess instructions.",
                "Name a language model, or compare your own with --candidates 0 --instruction TEXT.",
            )
        generator = load_local(wanted, settings.cache_dir, threads=settings.threads)

        async def ask_local(messages: Sequence[Message], number: int) -> str:
            texts = [token.text async for token in generator.complete(messages, 1, seed=number)]
            return "".join(texts)

        yield ask_local


async def _induce(
    shown: list[BootstrapTask],
    held: list[BootstrapTask],
    teacher: _Teacher,
    number: int,
    given: tuple[str, ...],
) -> Induction:
    from citewell.bootstrap.induce import candidates, compare_instructions, propose

    def tell(step: str) -> None:
        click.echo(step, err=True)

    proposed: tuple[str, ...] = ()
    if number:
        tell(f"asking for {number} instructions")
        async with teacher.proposing() as ask:
            proposed = await propose(shown, ask, number)
    instructions = candidates(proposed, given)
    if len(instructions) < 2:
        raise CitewellError(
            "The teacher proposed nothing but the usual instruction.", "Give one by --instruction TEXT."
        )
    return await compare_instructions(
        instructions,
        held,
        lambda instruction: teacher.bootstrapping(instruction, held),
        teacher.recipe.teacher.concurrency,
        tell,
    )


def _write_json(file: Path, value: dict[str, Any]) -> None:
    try:
        file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise CitewellError(f"{file} cannot be written: {error.strerror}.", "Name another place.") from error
