"""Instruction induction: a model proposes instructions from demonstrations, and trials find the best.

WebGLM §3.2.1 chose its instruction this way, after Honovich et al. 2022, "Instruction induction: from few
examples to natural language task descriptions" (https://arxiv.org/abs/2205.10782).
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from typing import Any

from citewell.bootstrap.engine import local_outcomes
from citewell.bootstrap.row import RowParts
from citewell.bootstrap.types import BootstrapTask, Drop, Fault, Outcome, Sample
from citewell.core.errors import InputError
from citewell.core.significance import PairedComparison, compare_all
from citewell.core.tables import markdown_table
from citewell.core.text import shorten, squeeze
from citewell.generator.prompt import INSTRUCTION, Message, PromptForm

Propose = Callable[[Sequence[Message], int], Awaitable[str]]
"""A function that asks a model to answer messages; the number, from 0, is the seed."""

OpenParts = Callable[[str], AbstractAsyncContextManager[RowParts]]
"""A function that opens the parts of rows, with a teacher that reads this instruction."""

_SHOWN = 3  # demonstrations in a prompt
_EXCERPT = 400  # characters of a reference that are shown
_LONGEST = 600  # characters of an instruction
_PREFIX = re.compile(r"^(?:the\s+)?instructions?(?:\s+(?:was|were|is))?\s*:\s*", re.IGNORECASE)
_AROUND = " \"'“”‘’`*"
_DEMONSTRATION = "A demonstration is a question with references, and an answer that cites them as [1]."


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The outcomes of the test questions with an instruction.

    `kept` is 1 for each question whose answer passed the filters, else 0. `coverage`, `accuracy` and `words`
    are means over all written answers, None if there is none.
    """

    instruction: str
    kept: dict[str, float]
    faults: int
    coverage: float | None
    accuracy: float | None
    words: float | None

    @property
    def share(self) -> float:
        """The share of the questions whose answers passed the filters."""
        return sum(self.kept.values()) / len(self.kept)


@dataclass(frozen=True)
class Induction:
    """Trials of several instructions on the same questions, best first, each compared with `baseline`."""

    trials: tuple[Trial, ...]
    baseline: str
    comparisons: dict[str, PairedComparison]

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return {
            "baseline": self.baseline,
            "best": self.trials[0].instruction if self.trials[0].share else None,
            "trials": [
                {
                    "instruction": trial.instruction,
                    "questions": len(trial.kept),
                    "kept": trial.share,
                    "faults": trial.faults,
                    "coverage": trial.coverage,
                    "accuracy": trial.accuracy,
                    "words": trial.words,
                    "p_holm": self._p(trial),
                }
                for trial in self.trials
            ],
        }

    def table(self) -> str:
        """Return one line per trial, best first, as a Markdown table."""
        header = ["instruction", "kept", "coverage", "accuracy", "words", "failed", "p (Holm)"]
        rows = [
            [
                trial.instruction + (" (baseline)" if trial.instruction == self.baseline else ""),
                f"{trial.share:.1%}",
                _number(trial.coverage, ".3f"),
                _number(trial.accuracy, ".3f"),
                _number(trial.words, ".0f"),
                str(trial.faults),
                _number(self._p(trial), ".3f"),
            ]
            for trial in self.trials
        ]
        return markdown_table(header, rows)

    def _p(self, trial: Trial) -> float | None:
        found = self.comparisons.get(trial.instruction)
        return found.p_holm if found else None


async def propose(demonstrations: Sequence[BootstrapTask], ask: Propose, number: int) -> tuple[str, ...]:
    """Return at most `number` different instructions that a model infers from the demonstrations.

    Each request shows other demonstrations, if there are more than three. Raises `InputError` for
    demonstrations without references or an answer.
    """
    _check(demonstrations)
    found: dict[str, None] = {}
    for index in range(number):
        shown = [
            demonstrations[(index + other) % len(demonstrations)]
            for other in range(min(_SHOWN, len(demonstrations)))
        ]
        answer = await ask([{"role": "user", "content": _prompt(shown)}], index)
        if instruction := clean(answer):
            found[instruction] = None
    return tuple(found)


def clean(answer: str) -> str:
    """Return the instruction in a model's answer, on one line, without quotes or introduction.

    The text is empty if there is none.
    """
    for part in answer.split("\n\n"):
        line = squeeze(part).strip(_AROUND)
        if instruction := _PREFIX.sub("", line).strip(_AROUND):
            return instruction if len(instruction) <= _LONGEST else ""
    return ""


async def compare_instructions(
    instructions: Sequence[str],
    tasks: Sequence[BootstrapTask],
    open_parts: OpenParts,
    concurrency: int,
    on_step: Callable[[str], None],
) -> Induction:
    """Bootstrap the same questions with each instruction; the first is the baseline.

    Trials are ordered by the share of kept answers, then by coverage.
    """
    trials = []
    for instruction in instructions:
        on_step(f"trying: {shorten(instruction, 90)}")
        async with (
            open_parts(instruction) as parts,
            aclosing(local_outcomes(tasks, parts, concurrency)) as outcomes,
        ):
            trials.append(await _trial(instruction, outcomes))
    comparisons = compare_all({trial.instruction: trial.kept for trial in trials[1:]}, trials[0].kept)
    best = sorted(trials, key=lambda trial: (-trial.share, -(trial.coverage or 0.0)))
    return Induction(tuple(best), instructions[0], comparisons)


def candidates(proposed: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    """Return the different instructions to compare: WebGLM's, then given ones, then proposed ones."""
    return tuple(dict.fromkeys((INSTRUCTION, *given, *proposed)))


def _check(demonstrations: Sequence[BootstrapTask]) -> None:
    if not demonstrations:
        raise InputError("There is no demonstration.", _DEMONSTRATION)
    for each in demonstrations:
        if not each.references or not each.answer:
            raise InputError(
                f"The demonstration in line {each.line:,} has no references or no answer.",
                _DEMONSTRATION,
            )


def _prompt(shown: Sequence[BootstrapTask]) -> str:
    form = PromptForm(demonstration=False)
    pairs = []
    for task in shown:
        texts = [shorten(each.text, _EXCERPT) for each in task.references or ()]
        asked = form.ask(task.question, list(enumerate(texts, start=1)))
        pairs.append(f"Input:\n{asked}\nOutput: {task.answer}")
    return (
        f"Somebody was given one instruction and {len(shown)} inputs, each of which is some numbered "
        "references and a question. For each input they wrote an output, exactly as the instruction said. "
        "These are the inputs and outputs:\n\n"
        + "\n\n".join(pairs)
        + "\n\nWhat was the instruction? Write it down, in one or two sentences, and nothing else."
    )


async def _trial(instruction: str, outcomes: AsyncGenerator[Outcome, None]) -> Trial:
    kept: dict[str, float] = {}
    faults = 0
    coverage: list[float] = []
    accuracy: list[float] = []
    words: list[float] = []
    async for outcome in outcomes:
        kept[outcome.key] = float(isinstance(outcome, Sample))
        if isinstance(outcome, Fault):
            faults += 1
        elif isinstance(outcome, Sample | Drop) and (scores := outcome.scores):
            coverage.append(scores.coverage)
            words.append(scores.words)
            if scores.accuracy is not None:
                accuracy.append(scores.accuracy)
    return Trial(
        instruction=instruction,
        kept=kept,
        faults=faults,
        coverage=_mean(coverage),
        accuracy=_mean(accuracy),
        words=_mean(words),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
