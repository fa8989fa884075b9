"""The evaluation of systems on questions with known answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from citewell.browser.episode import Episode, episode_of
from citewell.browser.evaluation.success import succeeds
from citewell.browser.evaluation.systems import BEST_OF, CHOSEN, JUDGE, BrowsingSystem
from citewell.core.errors import CitewellError
from citewell.core.progress import Log
from citewell.core.questions import AnsweredQuestion
from citewell.core.row_log import RowLog

_MOST_FAILURES = 10  # one after another


class Result(NamedTuple):
    """The result of a system for one question: `found` by the chosen episode, the rest over all its episodes.

    `judge` names the judge that chose among several episodes; it is empty for a single one. `error` is the
    reason of a failure, which counts as not found.
    """

    found: bool = False
    quotes: int = 0
    actions: int = 0
    valid: int = 0
    tokens: int = 0
    seconds: float = 0.0
    judge: str = ""
    error: str = ""


async def evaluate(
    system: BrowsingSystem, asked: Sequence[AnsweredQuestion], file: Path, log: Log
) -> dict[str, Result]:
    """Ask a system all questions in turn, and write its episodes, with rewards, to a file.

    Questions that are in the file already are skipped, so that an interrupted evaluation continues. A
    question on which the system fails is asked again next time. Raises `InputError` for a file with other
    content, and `CitewellError` after ten failures in a row, or if all questions fail.
    """
    answers = {row.question: row.answers for row in asked}
    stored = RowLog(file)
    done = results(map(episode_of, stored.lines), answers)
    waiting = [row for row in asked if row.question not in done]
    failed = 0
    for number, row in enumerate(waiting, len(asked) - len(waiting) + 1):
        try:
            browsed = await system.browse(row.question)
        except CitewellError as error:
            failed += 1
            if failed == min(_MOST_FAILURES, len(asked)):
                raise CitewellError(
                    f"{system.name} failed on {failed} questions in a row, the last time because: {error}",
                    "Fix that, then run the same command again: with --episodes, it resumes.",
                ) from error
            done[row.question] = Result(error=str(error))
            log(f"{system.name}: {number:,} of {len(asked):,}, failed: {error}")
            continue
        failed = 0
        episodes = [
            replace(episode, question=row.question, reward=float(succeeds(episode, row.answers)))
            for episode in browsed
        ]
        stored.append(*map(msgspec.to_builtins, episodes))
        done |= results(episodes, answers)
        found = sum(result.found for result in done.values())
        log(f"{system.name}: {number:,} of {len(asked):,}, found {found:,}")
    return {row.question: done[row.question] for row in asked}


def results(episodes: Iterable[Episode], answers: Mapping[str, Sequence[str]]) -> dict[str, Result]:
    """Return the results of episodes by question, for questions with accepted `answers`.

    Episodes of one question must be adjacent. Their rewards play no part: the answers may have changed since.
    """
    return {
        question: _result(whole, answers[question])
        for question, some in itertools.groupby(episodes, key=lambda episode: episode.question)
        if question in answers and (whole := _whole(list(some)))
    }


def _whole(episodes: list[Episode]) -> list[Episode]:
    """Return the last episodes that belong together; none if the file was cut off between them."""
    n = int(episodes[-1].about.get(BEST_OF, len(episodes)))
    return episodes[-n:] if n <= len(episodes) else []


def _result(episodes: list[Episode], answers: Sequence[str]) -> Result:
    winner = next(_chosen(episodes))
    steps = [step for episode in episodes for step in episode.steps]
    return Result(
        found=succeeds(winner, answers),
        quotes=len(winner.quotes),
        actions=len(steps),
        valid=sum(step.kind != "invalid" for step in steps),
        tokens=sum(step.tokens for step in steps),
        seconds=sum(episode.seconds for episode in episodes),
        judge=winner.about.get(JUDGE, ""),
    )


def _chosen(episodes: list[Episode]) -> Iterator[Episode]:
    return (episode for episode in episodes if episode.about.get(CHOSEN) != "no")
