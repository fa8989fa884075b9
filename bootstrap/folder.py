"""The folder of a run: its recipe, the invalid lines of the questions file, outcomes and the data set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from filelock import FileLock, Timeout
from pydantic import ValidationError

from citewell.bootstrap.ahead import Ahead
from citewell.bootstrap.config import BootstrapConfig, DatasetConfig
from citewell.bootstrap.journal import FOLDER, Journal
from citewell.bootstrap.questions import LineProblem, Questions
from citewell.bootstrap.types import BootstrapTask, Outcome
from citewell.core.errors import CitewellError, InputError
from citewell.core.training.folder import difference
from citewell.generator.prompt import Message

RUN = "run.json"
PROBLEMS = "problems.jsonl"
PROMPT = "prompt.json"
"""The messages of the teacher's prompt, for the data card."""
DATASET = "dataset"
_LOCK = "lock"
# Files of a run that ended before its first outcome; it may be restarted with another recipe.
_SECTIONS = ("references", "prompt", "teacher", "correction", "filters")
_BEGUN = {RUN, PROBLEMS, PROMPT, FOLDER, _LOCK, *(f".{name}.partial" for name in (RUN, PROBLEMS, PROMPT))}


class Survey(NamedTuple):
    """The contents of a questions file: the numbers of tasks and of done ones, and the invalid lines.

    `digest` is a hash of the tasks in their order.
    """

    tasks: int
    problems: tuple[LineProblem, ...]
    done: int
    digest: str


class RunFolder:
    """A folder that stores the state of a run, so that the same command resumes it."""

    def __init__(self, folder: Path, shard: int) -> None:
        """`shard` is the number of outcomes of a shard; nothing is written yet."""
        self.path = folder
        self.journal = Journal(folder, shard)
        self.ahead = Ahead(self.journal)
        self._run = folder / RUN

    def survey(self, questions: Questions, started_with: dict[str, Any]) -> Survey:
        """Compare the questions, and `started_with` (plain values), with those of the folder's run.

        Questions may have been appended since. Raises `InputError` for other questions, other values, a
        folder of something else, and a file without any valid task.
        """
        stored = self.stored_keys(started_with)
        before = self._started(started_with) if stored or self.ahead.exists() else None
        problems: list[LineProblem] = []
        digest = hashlib.sha256()
        count, changed = 0, False
        for count, task in enumerate(questions.tasks(problems.append), 1):
            digest.update(_identity(task))
            if count <= len(stored) and stored[count - 1] != task.key:
                changed = True
            if before and count == before["tasks"] and digest.hexdigest() != before["digest"]:
                changed = True
        if changed or count < max(len(stored), before["tasks"] if before else 0):
            raise InputError(
                f"{questions.file} does not begin with the questions of the run in {self.path}.",
                "Give that file, possibly with more lines at its end, or another folder with --out.",
            )
        if not count:
            first = f" Line {problems[0].line:,}: {problems[0].problem}." if problems else ""
            raise InputError(
                f"{questions.file} has no question that can be used.{first}",
                "Write one question per line, or JSON objects with `question`.",
            )
        return Survey(count, tuple(problems), len(stored), digest.hexdigest())

    def stored_keys(self, started_with: dict[str, Any]) -> list[str]:
        """Return the keys of the stored outcomes, in order.

        Raises `InputError` if they were started with other values, and for a folder of something else.
        """
        stored = [outcome.key for outcome in self.journal.outcomes()]
        if stored or self.ahead.exists():
            self._started(started_with)
        elif self.path.is_dir() and {each.name for each in self.path.iterdir()} - _BEGUN:
            raise InputError(
                f"{self.path} is not empty, and is not the folder of a bootstrap.",
                "Give another folder with --out.",
            )
        return stored

    @contextmanager
    def writing(
        self, survey: Survey, started_with: dict[str, Any], dataset: DatasetConfig | None = None
    ) -> Iterator[None]:
        """Lock the folder for this process, store `started_with` and `dataset`, and repair the journal.

        Raises `InputError` if another process has locked it, and `CitewellError` if it cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / _LOCK)
            with lock.acquire(timeout=0):
                self.journal.repair()
                self.ahead.open({outcome.key for outcome in self.journal.outcomes()})
                run = {"tasks": survey.tasks, "digest": survey.digest, "started_with": started_with}
                _write(self._run, run | ({"dataset": dataset.model_dump(mode="json")} if dataset else {}))
                lines = [json.dumps(p._asdict(), ensure_ascii=False) + "\n" for p in survey.problems]
                if lines or (self.path / PROBLEMS).exists():
                    _replace(self.path / PROBLEMS, "".join(lines))
                yield
        except Timeout as error:
            raise InputError(
                f"Another process is working on {self.path}.",
                "Wait for it, or give another folder with --out.",
            ) from error
        except OSError as error:
            raise CitewellError(
                f"{self.path} cannot be written: {error.strerror}.", "Give another folder with --out."
            ) from error

    def write_prompt(self, messages: Sequence[Message]) -> None:
        """Store the teacher's prompt, if there is one; raises `CitewellError` if it cannot be written."""
        if not messages:
            return
        try:
            _replace(self.path / PROMPT, json.dumps(messages, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise CitewellError(
                f"{self.path} cannot be written: {error.strerror}.",
                "Free some space, or check its permissions.",
            ) from error

    def left(self, questions: Questions) -> Iterator[BootstrapTask]:
        """Return the tasks without an outcome."""
        done = sum(1 for _ in self.journal.outcomes())
        return islice(questions.tasks(), done, None)

    def _started(self, started_with: dict[str, Any]) -> dict[str, Any]:
        try:
            before: dict[str, Any] = json.loads(self._run.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self._run}, which says what the run was started with, cannot be read: {error}.",
                "Restore the file, or give another folder with --out.",
            ) from error
        if changed := difference(before["started_with"], started_with):
            raise InputError(
                f"The run in {self.path} was started with a different value of {changed}.",
                "Change it back, or give another folder with --out.",
            )
        return before


class FinishedRun:
    """A run that is read after its end, or while it is running; raises `InputError` if there is none."""

    def __init__(self, folder: Path) -> None:
        file = folder / RUN
        try:
            self.started: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            # The command's recipe may have more sections, such as its engine's.
            recipe = {name: self.started["started_with"]["recipe"][name] for name in _SECTIONS}
            self.config = BootstrapConfig(**recipe)
        except FileNotFoundError as error:
            raise InputError(
                f"{folder} is not the folder of a bootstrap.", "Name a folder that --out named."
            ) from error
        except (OSError, ValueError, KeyError, ValidationError) as error:
            raise InputError(
                f"{file} cannot be read: {error}.", "Was the run made by another version of Citewell?"
            ) from error
        self.folder = folder
        self._journal = Journal(folder, 1)

    def outcomes(self) -> Iterator[Outcome]:
        """Return the outcomes in the order of the tasks."""
        return self._journal.outcomes()


def read_prompt(folder: Path) -> list[Message]:
    """Return the messages of the teacher's prompt of the run in `folder`; none if it has none."""
    file = folder / PROMPT
    messages: list[Message] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return messages


def _identity(task: BootstrapTask) -> bytes:
    # Without the line number: an added blank line changes nothing.
    return msgspec.json.encode((task.key, task.question, task.references, task.answer)) + b"\n"


def _write(file: Path, value: dict[str, Any]) -> None:
    _replace(file, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def _replace(file: Path, text: str) -> None:
    """Write a file atomically, unless it has this content already."""
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return
    partial = file.with_name(f".{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
