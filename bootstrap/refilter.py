"""Correct and filter the answers of a finished run again, by other rules, without asking the teacher."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path

from msgspec.structs import asdict

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.folder import RUN, FinishedRun
from citewell.bootstrap.journal import Journal
from citewell.bootstrap.recipe import Recipe
from citewell.bootstrap.row import filtered
from citewell.bootstrap.support import AnswerSupport
from citewell.bootstrap.types import Drop, Fault, Outcome, RawAnswer
from citewell.core.errors import CitewellError, InputError

_BATCH = 256


def refiltered(outcome: Outcome, config: BootstrapConfig, support: AnswerSupport | None = None) -> Outcome:
    """Return the outcome of a row by the correction and the filters of `config`, and by the reader.

    Failed rows, and those whose teacher was not asked, stay as they are.
    """
    if isinstance(outcome, Fault):
        return outcome
    if isinstance(outcome, Drop) and outcome.reason == "few_references":
        return outcome
    values = {name: value for name, value in asdict(outcome).items() if name in RawAnswer.__struct_fields__}
    if isinstance(outcome, Drop) and outcome.reason == "truncated":
        values["truncated"] = True  # which older runs tell by the reason alone
    return filtered(RawAnswer(**values), config, support)


def refilter(source: FinishedRun, out: Path, recipe: Recipe, support: AnswerSupport | None = None) -> None:
    """Write a run with the rows of `source`, corrected and filtered by `recipe`, to the new folder `out`.

    `support` is the open reader of the recipe, if it names one.
    Raises `InputError` if `out` exists, and `CitewellError` if it cannot be written.
    """
    if out.exists():
        raise InputError(f"{out} exists already.", "Give another folder with --out.")
    partial = out.with_name(f".{out.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        journal = Journal(partial, recipe.run.shard)
        outcomes = (refiltered(outcome, recipe, support) for outcome in source.outcomes())
        while batch := list(islice(outcomes, _BATCH)):
            journal.append(batch)
        started = source.started | {
            "started_with": source.started["started_with"] | {"recipe": recipe.decisive()}
        }
        text = json.dumps(started, indent=1, ensure_ascii=False) + "\n"
        (partial / RUN).write_text(text, encoding="utf-8")
        partial.rename(out)
    except OSError as error:
        raise CitewellError(
            f"{out} cannot be written: {error.strerror}.", "Give another folder with --out."
        ) from error
