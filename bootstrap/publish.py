"""Pack a run to publish it: raw answers and questions are gzipped, and the run can go on from them."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec

from citewell.bootstrap.folder import RUN, FinishedRun, RunFolder
from citewell.bootstrap.journal import FOLDER
from citewell.bootstrap.questions import Questions
from citewell.core.errors import CitewellError, InputError
from citewell.generator.prompt import Message

QUESTIONS = "questions.jsonl.gz"
_SHARD = 1000  # outcomes of a gzipped shard: a few megabytes


def publish(run: FinishedRun, questions: Questions, out: Path, prompt: Sequence[Message]) -> None:
    """Write the questions, the outcomes and the prompt of `run` to the folder `out`, or renew them there.

    A copy of `out` is a folder of the run that `citewell bootstrap` resumes, and `refilter` reads it. The
    same run gives the same bytes. Raises `InputError` if the run has other questions, or `out` other files,
    another run or more answers, and `CitewellError` if it cannot be written.
    """
    survey = RunFolder(run.folder, 1).survey(questions, run.started["started_with"])
    if out.absolute() == run.folder.absolute():
        raise InputError(f"{out} is the run that is published.", "Give another folder with --out.")
    if out.is_dir() and any(out.iterdir()) and not (out / QUESTIONS).is_file():
        raise InputError(
            f"{out} is not empty, and holds no published run.", "Give another folder with --out."
        )
    if (out / QUESTIONS).is_file():
        _check_renewed(FinishedRun(out), run)
    try:
        (out / FOLDER).mkdir(parents=True, exist_ok=True)
        lines = [msgspec.json.encode(outcome) + b"\n" for outcome in run.outcomes()]
        names = []
        for first in range(0, len(lines), _SHARD):
            names.append(f"{first // _SHARD:05}.jsonl.gz")
            _write(out / FOLDER / names[-1], b"".join(lines[first : first + _SHARD]))
        for old in (out / FOLDER).iterdir():
            if old.name not in names:
                old.unlink()
        _write(out / QUESTIONS, questions.content())
        started = run.started | {"tasks": survey.tasks, "digest": survey.digest}
        (out / RUN).write_bytes(msgspec.json.format(msgspec.json.encode(started), indent=1) + b"\n")
    except OSError as error:
        raise CitewellError(
            f"{out} cannot be written: {error.strerror}.", "Free some space, or check its permissions."
        ) from error
    RunFolder(out, _SHARD).write_prompt(prompt)


def _check_renewed(published: FinishedRun, run: FinishedRun) -> None:
    """Raise `InputError` unless `run` is what was published, gone on."""
    before = [outcome.key for outcome in published.outcomes()]
    same = published.started["started_with"] == run.started["started_with"]
    if not same or before != [outcome.key for outcome in islice(run.outcomes(), len(before))]:
        raise InputError(
            f"{published.folder} holds another run, or more answers than {run.folder}.",
            "Give another folder with --out.",
        )


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(gzip.compress(content, mtime=0))
