"""Labels of a language model that said, for each passage alone, whether it answers the question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, read_lines
from citewell.core.logistic import fit_logistic
from citewell.retriever.training.labels.asked import read_asked
from citewell.retriever.training.rows import LabeledRow

_CLIP = 1e-4  # probabilities are kept this far from 0 and 1


class JudgedPassage(NamedTuple):
    """A line of the labels: ids, the probability of yes, and whether people say that the passage answers."""

    question: str
    passage: str
    yes: float
    gold: bool


def answer_rows(files: Sequence[Path], labels: Path, people: float) -> list[LabeledRow]:
    """Read the labels that `citewell train labels` wrote for the questions in `files`.

    The probabilities of yes are calibrated by two numbers, so that they predict people's labels, which have
    the share `people` of a target. Labels of other questions and passages are skipped; a question needs two.
    Raises `InputError` for a line of another form, and if no question remains.
    """
    asked = read_asked(files)
    judged = [
        each
        for each in map(_judged, read_lines(labels))
        if each.question in asked.questions and each.passage in asked.passages
    ]
    slope, shift = calibration([each.yes for each in judged], [each.gold for each in judged])
    found: dict[str, dict[str, float]] = {}
    for each in judged:
        taught = _sigmoid(slope * _logit(each.yes) + shift)
        target = people * each.gold + (1 - people) * taught
        found.setdefault(each.question, {})[asked.passages[each.passage].encoded] = target
    rows = [
        LabeledRow(asked.questions[name].question, tuple(targets), tuple(targets.values()))
        for name, targets in found.items()
        if len(targets) > 1
    ]
    if not rows:
        raise InputError(
            f"{labels} has no labels for these questions.", "Name the files that the labels were made for."
        )
    return rows


def calibration(yes: Sequence[float], gold: Sequence[bool]) -> tuple[float, float]:
    """Return the slope and the shift of the logits of `yes` that predict `gold` best (Platt scaling).

    1 and 0 if all are equal, or if no line separates them better than another.
    """
    logits = np.array([_logit(each) for each in yes], dtype=np.float64).reshape(-1, 1)
    slope, shift = fit_logistic(logits, np.asarray(gold, dtype=np.bool_))
    return float(slope), float(shift)


def _judged(line: Line) -> JudgedPassage:
    row = line.row()
    question, passage, yes = row.get("question"), row.get("passage"), row.get("yes")
    if not (isinstance(question, str) and isinstance(passage, str) and isinstance(yes, int | float)):
        raise line.error("not a label.", 'Write {"question": ID, "passage": ID, "yes": 0.7, "gold": true}.')
    if not 0 <= yes <= 1:
        raise line.error(f"the probability {yes} is not between 0 and 1.")
    return JudgedPassage(question, passage, float(yes), bool(row.get("gold")))


def _logit(probability: float) -> float:
    kept = min(max(probability, _CLIP), 1 - _CLIP)
    return math.log(kept / (1 - kept))


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-max(min(value, 50.0), -50.0)))
