"""`citewell eval truthfulqa`: how true and how informative answers to misleading questions are."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.answer_evaluation import beside, log, notices, system_named, write_report
from citewell.cli.commands.lists import choose_baseline, read_list
from citewell.cli.commands.options import flags, place_options
from citewell.cli.commands.output import check_files, replace
from citewell.core import running
from citewell.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.settings import Settings
    from citewell.pipeline.evaluation.report import AnswerEvaluation
    from citewell.pipeline.evaluation.systems import AnswerSystem
    from citewell.pipeline.evaluation.truthful_questions import TruthfulQuestion
    from citewell.pipeline.evaluation.truthful_run import TruthfulAnswers

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("truthfulqa", short_help="Evaluate how truthful answers are.")
@click.argument("file", metavar="FILE", type=_FILE)
@click.option(
    "--systems",
    metavar="NAMES",
    default="extractive,default",
    help="extractive, default, or any generator that `citewell ask` takes; 4*NAME is the best of four, "
    "browse:POLICY answers from what a policy quotes, and closed-book:NAME without references; separate "
    "several by commas [extractive,default].",
)
@click.option(
    "--prompts",
    metavar="NAMES",
    default="none",
    help="Prompts of closed-book systems: none (the question alone), qa (TruthfulQA's examples) or helpful "
    '(InstructGPT\'s instruction, which allows "I have no comment", and the examples); separate several by '
    "commas [none].",
)
@click.option(
    "--judges",
    metavar="NAMES",
    default="embedding",
    help="rouge, embedding, writer, writer:NAME with a language model, or nli:MODEL with a hub id or folder; "
    "separate several by commas [embedding].",
)
@click.option(
    "--choices/--no-choices",
    default=True,
    help="Measure MC1 and MC2 of language models on this machine [yes].",
)
@click.option("--baseline", metavar="NAME", help="System to compare the others with [the first].")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Use only the first N questions.")
@click.option("--study", metavar="FILE", type=_FILE, help="Write the judged answers to FILE, for a study.")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write all metrics to FILE as JSON.")
@click.option("--markdown", metavar="FILE", type=_FILE, help="Write the tables to FILE.")
@place_options
def truthfulqa(
    file: Path,
    systems: str,
    prompts: str,
    judges: str,
    choices: bool,
    baseline: str | None,
    limit: int | None,
    study: Path | None,
    out: Path | None,
    markdown: Path | None,
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Evaluate answers on FILE, JSON Lines of {question, correct_answers, incorrect_answers}.

    docs/evaluating-answers.md explains formats and measures.
    """
    from citewell.core.settings import load_settings
    from citewell.generator.evaluation.judges.names import check_judges
    from citewell.pipeline.evaluation.prompts import check_prompts
    from citewell.pipeline.evaluation.truthful_questions import read_truthful

    names = read_list(judges, "judge")
    check_judges(names, corrected=False)
    asked_with = read_list(prompts, "prompt")
    check_prompts(asked_with)
    wanted = [each for label in read_list(systems, "system") for each in _systems(label, asked_with)]
    first = choose_baseline(baseline, [system.label for system in wanted], "system")
    settings = load_settings(flags(named, (), assignments))
    check_files(out, markdown, study)
    rows = read_truthful(file, limit)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        journals = beside(out, "answers.jsonl", folder), beside(out, "choices.jsonl", folder)
        answers = running.run(_answers(rows, wanted, settings, *journals, choices=choices))
    if study is not None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for each in answers for row in each.for_study())
        replace(study, "".join(lines))
    write_report(_judged(file, rows, answers, settings, first, names), out, markdown)


def _systems(label: str, prompts: Sequence[str]) -> list[AnswerSystem]:
    """Return the system of a label, a closed-book one for each prompt."""
    from citewell.pipeline.evaluation.systems import Arm

    system = system_named(label, Arm.ON)
    if system.arm is Arm.ORACLE:
        raise InputError("TruthfulQA has no oracle: no passage holds its answers.", "Leave it out.")
    if system.arm is not Arm.CLOSED_BOOK:
        return [system]
    return [changed(system, label=f"{label}, {prompt}", prompt=prompt) for prompt in prompts]


async def _answers(
    rows: Sequence[TruthfulQuestion],
    systems: Sequence[AnswerSystem],
    settings: Settings,
    answer_file: Path,
    choice_file: Path,
    *,
    choices: bool,
) -> list[TruthfulAnswers]:
    from citewell.generator.evaluation.answers import AnswerFile
    from citewell.pipeline.evaluation.coverage import PassageSearch
    from citewell.pipeline.evaluation.run import answers_of
    from citewell.pipeline.evaluation.truthful_run import TruthfulAnswers, choices_of, holds_question

    kept, likely = AnswerFile(answer_file), AnswerFile(choice_file)
    asked = [row.asked for row in rows]
    by_question = {row.question: row for row in rows}
    found = []
    for system in systems:
        written = await answers_of(
            system, settings, asked, kept, lambda: PassageSearch(()), log, hides=holds_question
        )
        chosen = {}
        if choices:
            chosen = await choices_of(system, settings, by_question, written, likely, log)
        found.append(TruthfulAnswers(system, written, chosen))
    return found


def _judged(
    file: Path,
    rows: Sequence[TruthfulQuestion],
    answers: Sequence[TruthfulAnswers],
    settings: Settings,
    baseline: str,
    judges: Sequence[str],
) -> AnswerEvaluation:
    from citewell.generator.evaluation.judges.names import open_judges
    from citewell.pipeline.evaluation.embedding import embedding_of
    from citewell.pipeline.evaluation.multiple_choice import MEASURES
    from citewell.pipeline.evaluation.report import AnswerEvaluation
    from citewell.pipeline.evaluation.truthful_run import EMPTY, measure_truth
    from citewell.pipeline.evaluation.truthfulness import BOTH, INFORMATIVE, TRUTHFUL

    log(f"Judging with {', '.join(judges)} …")
    with open_judges(judges, settings, lambda: embedding_of(settings), log) as opened:
        results = [measure_truth(each, rows, opened) for each in answers]
        judged = [f"{name} ({judge.name})" for judge in opened for name in (TRUTHFUL, INFORMATIVE, BOTH)]
    adversarial = frozenset(row.question for row in rows if row.is_adversarial)
    others = frozenset(row.question for row in rows if not row.is_adversarial)
    measured = {measure for result in results for measure in result.values}
    return AnswerEvaluation(
        title=f"{file.name}: {len(rows):,} questions",
        measures=[*judged, EMPTY, *(measure for measure in MEASURES if measure in measured)],
        compared=[name for name in judged if not name.startswith(INFORMATIVE)],
        baseline=baseline,
        results=results,
        apart={"adversarial questions": adversarial, "other questions": others} if adversarial else {},
        notices=[
            *notices([each.system for each in answers], settings),
            "Models judged the answers; WebGPT and InstructGPT asked people.",
        ],
    )
