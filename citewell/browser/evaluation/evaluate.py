"""The evaluation of systems on questions with known answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from citewell.browser.episode import Episode, read_episodes
from citewell.browser.evaluation.success import succeeds
from citewell.browser.evaluation.systems import CHOSEN, JUDGE, BrowsingSystem
from citewell.core.progress import Log
from citewell.core.questions import AnsweredQuestion


class Result(NamedTuple):
    """The result of a system for one question: `found` by the chosen episode, the rest over all its episodes.

    `judge` names the judge that chose among several episodes; it is empty for a single one.
    """

    found: bool
    quotes: int
    actions: int
    valid: int
    tokens: int
    seconds: float
    judge: str = ""


async def evaluate(
    system: BrowsingSystem, asked: Sequence[AnsweredQuestion], file: Path, log: Log
) -> dict[str, Result]:
    """Ask a system all questions in turn, and write its episodes, with rewards, to a file.

    Questions that are in the file already are skipped, so that an interrupted evaluation continues. Raises
    `InputError` for a file with other content, and the errors of the system.
    """
    answers = {row.question: row.answers for row in asked}
    done = _done(file, answers)
    waiting = [row for row in asked if row.question not in done]
    with file.open("ab") as out:
        for number, row in enumerate(waiting, len(asked) - len(waiting) + 1):
            episodes = [
                replace(episode, question=row.question, reward=float(succeeds(episode, row.answers)))
                for episode in await system.browse(row.question)
            ]
            # Write all episodes of a question at once, so that the file has all of them or none.
            out.write(b"".join(msgspec.json.encode(episode) + b"\n" for episode in episodes))
            out.flush()
            done |= results(episodes, answers)
            found = sum(result.found for result in done.values())
            log(f"{system.name}: {number:,} of {len(asked):,}, found {found:,}")
    return {row.question: done[row.question] for row in asked}


def _done(file: Path, answers: Mapping[str, Sequence[str]]) -> dict[str, Result]:
    return results(read_episodes(file), answers) if file.is_file() else {}


def results(episodes: Iterable[Episode], answers: Mapping[str, Sequence[str]]) -> dict[str, Result]:
    """Return the results of episodes by question, for questions with accepted `answers`.

    Episodes of one question must be adjacent. Their rewards play no part: the answers may have changed since.
    """
    return {
        question: _result(list(some), answers[question])
        for question, some in itertools.groupby(episodes, key=lambda episode: episode.question)
        if question in answers
    }


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
