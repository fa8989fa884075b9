"""Self-bootstrapping: the best of several samples of a language model, by its citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.correction import correct
from citewell.bootstrap.filters import reason_to_drop
from citewell.bootstrap.teacher import SamplingTeacher, TeacherAnswer
from citewell.bootstrap.types import BootstrapTask
from citewell.core.types import Reference


class SelfTeacher:
    """The teacher `self`.

    The best sample passes the filters, then has the highest coverage, then the highest overlap with the
    references.
    """

    def __init__(self, teacher: SamplingTeacher, config: BootstrapConfig) -> None:
        """`config` is the recipe of the run, whose filters rank the samples."""
        self.name = f"self:{teacher.name}"
        self.prompt_hash = teacher.prompt_hash
        self._teacher = teacher
        self._config = config

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        """Return the best sample with the usage of all; raises the teacher's errors."""
        samples = await self._teacher.sample(task, references, self._config.teacher.samples)
        best = max(samples, key=lambda sample: self._worth(sample, references))
        return replace(best, usage=reduce(add, (sample.usage for sample in samples)))

    def _worth(self, sample: TeacherAnswer, references: Sequence[Reference]) -> tuple[bool, float, float]:
        scores = correct(sample.text, references, self._config.correction).scores
        reason = reason_to_drop(sample.text, scores, self._config, truncated=sample.truncated)
        return reason is None, scores.coverage, scores.overlap
