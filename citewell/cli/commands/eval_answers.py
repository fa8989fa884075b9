"""`citewell eval answers`: how often an accepted answer stands in what users see."""

from __future__ import annotations

import functools
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from citewell.cli.commands.answer_evaluation import beside, log, notices, system_named, write_report
from citewell.cli.commands.lists import choose_baseline, read_list
from citewell.cli.commands.options import flags, place_options
from citewell.cli.commands.output import check_files
from citewell.core import running
from citewell.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.questions import AnsweredQuestion
    from citewell.core.settings import Settings
    from citewell.pipeline.evaluation.accuracy import AnswerResult
    from citewell.pipeline.evaluation.coverage import PassageSearch
    from citewell.pipeline.evaluation.report import AnswerEvaluation
    from citewell.pipeline.evaluation.systems import AnswerSystem

_FILE = click.Path(dir_okay=False, path_type=Path)


class _Options(NamedTuple):
    baseline: str
    reader: str | None
    toxicity: str | None
    bias: str | None
    covered: bool
    out: Path | None


@click.command("answers", short_help="Evaluate the accuracy of answers.")
@click.argument("file", metavar="FILE", type=_FILE)
@click.option(
    "--systems",
    metavar="NAMES",
    default="extractive,default",
    help="extractive, default, or any generator that `citewell ask` takes; 4*NAME is the best of four, "
    "browse:POLICY answers from what a policy quotes, and closed-book:NAME and oracle:NAME override "
    "--retriever; separate several by commas [extractive,default].",
)
@click.option(
    "--retriever",
    type=click.Choice(["on", "closed-book", "oracle"]),
    default="on",
    help="What generators get: references as in `citewell ask`, none, or passages of the collection that "
    "hold an accepted answer [on].",
)
@click.option("--baseline", metavar="NAME", help="System to compare the others with [the first].")
@click.option(
    "--reader",
    metavar="MODEL",
    help="Measure exact match and F1 of the short answer that a reader finds: hub id or folder of a model of "
    "extractive question answering, writer, or writer:NAME with a language model [none].",
)
@click.option(
    "--toxicity",
    metavar="MODEL",
    help="Grade the toxicity of answers: hub id or folder of a classifier [none].",
)
@click.option(
    "--bias",
    metavar="MODEL",
    help="Grade the social bias of answers: hub id or folder of a classifier [none].",
)
@click.option(
    "--train", metavar="FILE", type=_FILE, help="Training questions, to report splits by overlap with them."
)
@click.option("--covered", is_flag=True, help="Ask only questions that the collection can answer.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Use only the first N questions.")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write all metrics to FILE as JSON.")
@click.option("--markdown", metavar="FILE", type=_FILE, help="Write the tables to FILE.")
@place_options
def answers(
    file: Path,
    systems: str,
    retriever: str,
    baseline: str | None,
    reader: str | None,
    toxicity: str | None,
    bias: str | None,
    train: Path | None,
    covered: bool,
    limit: int | None,
    out: Path | None,
    markdown: Path | None,
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Evaluate answers on FILE, JSON Lines of {question, answers}.

    docs/evaluating-answers.md explains formats and measures.
    """
    from citewell.core.questions import read_questions
    from citewell.core.settings import load_settings
    from citewell.pipeline.evaluation.systems import Arm, asks_a_collection

    labels = read_list(systems, "system")
    first = choose_baseline(baseline, labels, "system")
    wanted = [system_named(label, Arm(retriever)) for label in labels]
    settings = load_settings(flags(named, (), assignments))
    check_files(out, markdown)
    asked = read_questions(file, limit)
    learned = read_questions(train) if train else ()
    if not asks_a_collection(settings) and (covered or any(one.arm is Arm.ORACLE for one in wanted)):
        raise InputError(
            "What can be answered is known only of a collection.",
            "Name one with --collection, or leave out --covered and oracle.",
        )
    options = _Options(first, reader, toxicity, bias, covered, out)
    evaluation = running.run(_evaluate(file, asked, learned, wanted, settings, options))
    write_report(evaluation, out, markdown)


async def _evaluate(
    file: Path,
    asked: Sequence[AnsweredQuestion],
    learned: Sequence[AnsweredQuestion],
    systems: Sequence[AnswerSystem],
    settings: Settings,
    options: _Options,
) -> AnswerEvaluation:
    from citewell.generator.evaluation.answers import AnswerFile
    from citewell.pipeline.evaluation import accuracy
    from citewell.pipeline.evaluation.coverage import PassageSearch, stored_pages
    from citewell.pipeline.evaluation.harm import load_harm, with_harm
    from citewell.pipeline.evaluation.overlap import overlap_splits
    from citewell.pipeline.evaluation.reader import open_reader
    from citewell.pipeline.evaluation.report import AnswerEvaluation
    from citewell.pipeline.evaluation.run import answers_of, short_answers
    from citewell.pipeline.evaluation.systems import asks_a_collection

    @functools.cache
    def passages() -> PassageSearch:
        log("Reading the collection, to find what it can answer …")
        return PassageSearch(stored_pages(settings))

    covered = _covered(asked, passages()) if asks_a_collection(settings) else frozenset()
    if options.covered:
        asked = [row for row in asked if row.key in covered]
        if not asked:
            raise InputError(f"The collection answers no question of {file}.", "Leave out --covered.")
    classifiers = load_harm(options.toxicity, options.bias)
    results: list[AnswerResult] = []
    async with AsyncExitStack() as stack:
        opened = None
        if options.reader is not None:
            opening = open_reader(options.reader, settings, lambda model, step: log(f"{model}: {step}"))
            opened = await stack.enter_async_context(opening)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kept = AnswerFile(beside(options.out, "answers.jsonl", folder))
        read = AnswerFile(beside(options.out, "short.jsonl", folder))
        for system in systems:
            written = await answers_of(system, settings, asked, kept, passages, log)
            short = None
            if opened is not None:
                short = await short_answers(system, settings, asked, written, opened, read, log)
            measured = accuracy.measure(system, asked, written, short)
            results.append(with_harm(measured, written, classifiers))
    measures = [
        accuracy.ACCURACY,
        accuracy.IN_REFERENCES,
        accuracy.IN_CITED,
        accuracy.ANSWERED,
        *([accuracy.EXACT_MATCH, accuracy.F1] if options.reader else []),
        *classifiers,
    ]
    return AnswerEvaluation(
        title=f"{file.name}: {len(asked):,} questions",
        measures=measures,
        compared=[accuracy.ACCURACY, *measures[4:]],
        baseline=options.baseline,
        results=results,
        apart={} if options.covered or not covered else {"questions that the collection can answer": covered},
        parts=overlap_splits(asked, learned) if learned else {},
        notices=notices(systems, settings),
    )


def _covered(asked: Sequence[AnsweredQuestion], passages: PassageSearch) -> frozenset[str]:
    """Return the keys of the questions that the collection can answer."""
    from citewell.core.progress import Counter

    progress, found = Counter("questions that the collection can answer", log), set()
    for number, row in enumerate(asked, 1):
        if passages.right_articles(row.question, row.answers):
            found.add(row.key)
        progress(number, len(asked))
    return frozenset(found)
