"""The folder of a run: what it was started with, the lines that gave no task, outcomes and the data set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from filelock import FileLock, Timeout

from citewell.bootstrap.journal import FOLDER, Journal
from citewell.bootstrap.questions import LineProblem, Questions
from citewell.bootstrap.types import BootstrapTask
from citewell.core.errors import CitewellError, InputError
from citewell.core.training.folder import difference

RUN = "run.json"
PROBLEMS = "problems.jsonl"
DATASET = "dataset"
_LOCK = "lock"
# What a run may leave that ended before its first outcome; such a run may be started with anything else.
_BEGUN = {RUN, PROBLEMS, FOLDER, _LOCK, f".{RUN}.partial", f".{PROBLEMS}.partial"}


class Survey(NamedTuple):
    """What a questions file holds: its tasks, the lines that give none, and how many tasks are done.

    `digest` stands for the tasks in their order.
    """

    tasks: int
    problems: tuple[LineProblem, ...]
    done: int
    digest: str


class RunFolder:
    """A folder in which a run keeps what it did, so that the same command goes on where it ended."""

    def __init__(self, folder: Path, shard: int) -> None:
        """`shard` is the number of outcomes of a shard; nothing is written yet."""
        self.path = folder
        self.journal = Journal(folder, shard)
        self._run = folder / RUN

    def survey(self, questions: Questions, started_with: dict[str, Any]) -> Survey:
        """Compare the questions, and `started_with` (plain values), with those of the folder's run.

        Questions may have been added at the end of the file since. Raises `InputError` for other questions,
        other values, a folder of something else, and a file that gives no task at all.
        """
        stored = [outcome.key for outcome in self.journal.outcomes()]
        kept = self._kept(started_with) if stored else None
        if not stored and self.path.is_dir() and {each.name for each in self.path.iterdir()} - _BEGUN:
            raise InputError(
                f"{self.path} is not empty, and holds no bootstrap.", "Give another folder with --out."
            )
        problems: list[LineProblem] = []
        digest = hashlib.sha256()
        count, changed = 0, False
        for count, task in enumerate(questions.tasks(problems.append), 1):
            digest.update(_essence(task))
            if count <= len(stored) and stored[count - 1] != task.key:
                changed = True
            if kept and count == kept["tasks"] and digest.hexdigest() != kept["digest"]:
                changed = True
        if changed or count < max(len(stored), kept["tasks"] if kept else 0):
            raise InputError(
                f"{questions.file} does not begin with the questions of the run in {self.path}.",
                "Give that file, with lines added at its end at most, or another folder with --out.",
            )
        if not count:
            first = f" Line {problems[0].line:,}: {problems[0].problem}." if problems else ""
            raise InputError(
                f"{questions.file} has no question that can be used.{first}",
                "Write a question a line, or JSON objects with `question`.",
            )
        return Survey(count, tuple(problems), len(stored), digest.hexdigest())

    @contextmanager
    def writing(self, survey: Survey, started_with: dict[str, Any]) -> Iterator[None]:
        """Hold the folder for this process, keep what the run is started with, and mend the journal.

        Raises `InputError` if another process holds it, and `CitewellError` if it cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / _LOCK)
            with lock.acquire(timeout=0):
                self.journal.mend()
                _write(
                    self._run, {"tasks": survey.tasks, "digest": survey.digest, "started_with": started_with}
                )
                lines = [json.dumps(p._asdict(), ensure_ascii=False) + "\n" for p in survey.problems]
                if lines or (self.path / PROBLEMS).exists():
                    _replace(self.path / PROBLEMS, "".join(lines))
                yield
        except Timeout as error:
            raise InputError(
                f"Another process is at work on {self.path}.",
                "Wait for it, or give another folder with --out.",
            ) from error
        except OSError as error:
            raise CitewellError(
                f"{self.path} cannot be written: {error.strerror}.", "Give another folder with --out."
            ) from error

    def left(self, questions: Questions) -> Iterator[BootstrapTask]:
        """The tasks that have no outcome yet."""
        done = sum(1 for _ in self.journal.outcomes())
        return islice(questions.tasks(), done, None)

    def _kept(self, started_with: dict[str, Any]) -> dict[str, Any]:
        try:
            kept: dict[str, Any] = json.loads(self._run.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self._run}, which says what the run was started with, cannot be read: {error}.",
                "Restore the file, or give another folder with --out.",
            ) from error
        if changed := difference(kept["started_with"], started_with):
            raise InputError(
                f"The run in {self.path} was started with other settings: {changed} was different.",
                "Change it back, or give another folder with --out.",
            )
        return kept


def _essence(task: BootstrapTask) -> bytes:
    # The line is left out: a blank line that was added changes nothing.
    return msgspec.json.encode((task.key, task.question, task.references, task.answer)) + b"\n"


def _write(file: Path, value: dict[str, Any]) -> None:
    _replace(file, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def _replace(file: Path, text: str) -> None:
    """Write a file as a whole or not at all, and not where it says so already."""
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return
    partial = file.with_name(f".{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
