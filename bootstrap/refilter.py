"""Correct and filter the answers of a run again, by other rules, without asking the teacher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from msgspec.structs import asdict

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.folder import FinishedRun, RunFolder, Survey, read_prompt
from citewell.bootstrap.judging import AnswerJudge
from citewell.bootstrap.recipe import Recipe
from citewell.bootstrap.row import filtered
from citewell.bootstrap.support import AnswerSupport
from citewell.bootstrap.types import Drop, Fault, Outcome, RawAnswer
from citewell.core.errors import InputError

_BATCH, _READ = 256, 4  # outcomes that are stored together, without a model and with one


def refiltered(
    outcome: Outcome,
    config: BootstrapConfig,
    support: AnswerSupport | None = None,
    judge: AnswerJudge | None = None,
) -> Outcome:
    """Return the outcome of a row by the correction and the filters of `config`, the reader and the judge.

    Failed rows, and those whose teacher was not asked, stay as they are.
    """
    if isinstance(outcome, Fault):
        return outcome
    if isinstance(outcome, Drop) and outcome.reason == "few_references":
        return outcome
    values = {name: value for name, value in asdict(outcome).items() if name in RawAnswer.__struct_fields__}
    if isinstance(outcome, Drop) and outcome.reason == "truncated":
        values["truncated"] = True  # which older runs tell by the reason alone
    return filtered(RawAnswer(**values), config, support, judge)


def refilter(
    source: FinishedRun,
    out: Path,
    recipe: Recipe,
    support: AnswerSupport | None = None,
    judge: AnswerJudge | None = None,
    seen: Callable[[Sequence[Outcome]], None] = lambda outcomes: None,
) -> None:
    """Write a run with the rows of `source`, corrected and filtered by `recipe`, to the folder `out`.

    It goes on after the rows that `out` has already, and does those again that had failed in `source` and no
    longer have. `support` and `judge` are those of the recipe, opened, if it names them; `seen` receives what
    is stored. Raises `InputError` if `out` is the run itself, or holds something else or a run by other
    rules, and `CitewellError` if it cannot be written.
    """
    if out.absolute() == source.folder.absolute():
        raise InputError(f"{out} is the run that is filtered.", "Give another folder with --out.")
    started_with = source.started["started_with"] | {"recipe": recipe.decisive()}
    folder = RunFolder(out, recipe.run.shard)
    done = folder.stored_keys(started_with)
    if done != [outcome.key for outcome in islice(source.outcomes(), len(done))]:
        raise InputError(f"{out} has the rows of another run.", "Give another folder with --out.")
    survey = Survey(source.started["tasks"], (), len(done), source.started["digest"])
    with folder.writing(survey, started_with, recipe.dataset):
        folder.write_prompt(read_prompt(source.folder))
        again = {
            new.key: refiltered(new, recipe, support, judge)
            for old, new in zip(folder.journal.outcomes(), source.outcomes(), strict=False)
            if isinstance(old, Fault) and not isinstance(new, Fault)
        }
        folder.journal.replace(again)
        outcomes = (
            refiltered(each, recipe, support, judge) for each in islice(source.outcomes(), len(done), None)
        )
        while batch := list(islice(outcomes, _READ if support or judge else _BATCH)):
            folder.journal.append(batch)
            seen(batch)
