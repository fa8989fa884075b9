"""From the feedback of a service's users to a reward model, a better policy, and a gate before it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.redact import published_name
from citewell.core.training.card import RECORD
from citewell.core.training.run import Run, RunResult
from citewell.generator.evaluation.rows import read_rows
from citewell.generator.resolve import resolve
from citewell.generator.training.arrange import Example
from citewell.generator.training.model import DONE
from citewell.generator.training.sources import ExampleSource
from citewell.reinforcement.answers import QuestionStream
from citewell.reinforcement.config import AnswersRecipe
from citewell.reinforcement.feedback.amount import agreement, check_amount
from citewell.reinforcement.feedback.gate import (
    GateMeasure,
    add_gate,
    check_gate,
    gate_measures,
    gate_table,
)
from citewell.reinforcement.feedback.judgments import (
    JUDGMENTS,
    PINNED_JUDGMENTS,
    PINNED_QUESTIONS,
    QUESTIONS,
    FeedbackCounts,
    divide_judgments,
)
from citewell.reinforcement.feedback.recipe import FeedbackRun, feedback_recipe
from citewell.reinforcement.greedy import greedy_answers, load_policy
from citewell.reinforcement.networks import build_networks
from citewell.reinforcement.run import train_answers
from citewell.scorer.form import FORM
from citewell.scorer.load import load_scorer, scorer_folder
from citewell.scorer.training.feedback import retrain

FEEDBACK, REWARD, CANDIDATE = "feedback", "reward", "candidate"
"""The folders inside that of a run: the exported judgments, the reward model, the policy before the gate."""

_PARTIAL = f"{FEEDBACK}.partial"  # what an export that failed leaves
_DONE = DONE["lora"]


def learn_from_feedback(
    run: Run, options: FeedbackRun, export: Callable[[Path], None], tell: Log
) -> RunResult:
    """Train a reward model on what users judged, then the policy against it, and check it at the gate.

    `export` writes the service's judgments into a folder, once: an interrupted run resumes with the same
    ones. The adapter and its card are written to `run.out`, the reward model beside them; nothing else is
    changed, so that no service answers with them by itself. Raises `InputError` for too little feedback,
    `AnswersGateError` for a worse policy, and the errors of `retrain` and `train_answers`.
    """
    need_packages("Training", "train", "peft", "datasets", "matplotlib")
    out = run.out
    if (out / _DONE).exists():
        raise InputError(f"{out} holds a trained model already.", "Choose another folder with --out.")
    left = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if left - {_PARTIAL} and FEEDBACK not in left:
        raise InputError(f"{out} is not empty, and holds no run.", "Choose another folder with --out.")
    folder = out / FEEDBACK
    counts = _divided(folder, export, options, tell)
    reward = _rewarded(run, folder, options, tell)
    config = feedback_recipe(options, folder / QUESTIONS, out / REWARD, counts)
    candidate = out / CANDIDATE
    if not (candidate / _DONE).exists():
        policy = replace(run, recipe=run.recipe if options.recipe else folder / QUESTIONS, out=candidate)
        train_answers(policy, config, tell)
    measures = _gated(run, folder, config, options, tell)
    add_gate(candidate, run, measures, reward)
    check_gate(measures, candidate, force=options.force)
    result = _result(candidate)
    for path in sorted(candidate.iterdir(), key=lambda path: path.name == _DONE):
        shutil.copy2(path, out / path.name)
    shutil.rmtree(candidate)
    shutil.rmtree(folder)
    return result


def _divided(folder: Path, export: Callable[[Path], None], options: FeedbackRun, tell: Log) -> FeedbackCounts:
    """Export the judgments where that is not done yet; raises `InputError` if they are too few."""
    if not folder.is_dir():
        partial = folder.with_name(_PARTIAL)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        export(partial)
        counts = divide_judgments(partial, partial)
        try:
            check_amount(partial / JUDGMENTS, counts, tell, force=options.force)
        except InputError:
            shutil.rmtree(partial)
            if not any(folder.parent.iterdir()):
                folder.parent.rmdir()
            raise
        partial.rename(folder)
        return counts
    return divide_judgments(folder, folder)


def _rewarded(run: Run, folder: Path, options: FeedbackRun, tell: Log) -> dict[str, float]:
    """Train the reward model; return how often it and the one before agree with the pinned judgments."""
    reward = run.out / REWARD
    if not (reward / FORM).is_file():
        of = replace(run, recipe=folder / JUDGMENTS, out=reward)
        retrain(of, options.scorer, tell, threads=options.threads, force=options.force)
    agreed = {}
    for name, model in (("before", options.scorer), ("after", str(reward))):
        found = agreement(folder / PINNED_JUDGMENTS, load_scorer(model, run.cache, options.threads))
        if found is not None:
            agreed[name] = found
    if agreed:
        tell(
            f"accuracy on the pinned judgments: {agreed['after']:.3f}, the current scorer's "
            f"{agreed['before']:.3f}"
        )
    return agreed


def _gated(
    run: Run, folder: Path, config: AnswersRecipe, options: FeedbackRun, tell: Log
) -> list[GateMeasure]:
    """Write and measure both systems' answers to the pinned questions."""
    import torch

    torch.set_num_threads(config.training.threads)
    source = resolve(config.model.start)
    networks = build_networks(
        source, config.model.lora, run.cache, own_value=False, seed=config.training.seed
    )
    examples = tuple(
        Example(row.question, tuple(each.text for each in row.references), row.answer)
        for row in read_rows(folder / PINNED_QUESTIONS).rows
    )
    asked = QuestionStream(
        (),
        [ExampleSource("pinned", examples)],
        networks.model,
        networks.tokenizer,
        source,
        config.prompt,
        config.training.seed,
    ).dev
    answers: dict[str, Sequence[str]] = {}
    for name in ("before", "after"):
        if name == "after":
            load_policy(networks, run.out / CANDIDATE)
        answers[name] = greedy_answers(
            networks, asked, tokens=config.prompt.answer_tokens, precision=config.training.precision
        )
    judge = load_scorer(str(scorer_folder(options.scorer)), run.cache, options.threads)
    judge.name = published_name(options.scorer)
    measures = gate_measures(asked, answers, judge, run.cache, options.threads)
    tell(f"gate, {len(asked):,} pinned questions:\n{gate_table(measures)}")
    return measures


def _result(folder: Path) -> RunResult:
    facts = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    return RunResult(**{each.name: facts[each.name] for each in fields(RunResult)})
