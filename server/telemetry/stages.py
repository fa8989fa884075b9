"""The stages of a question, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from citewell.server.work.history import NANOSECONDS, QuestionHistory


class StageSpan(NamedTuple):
    """The start and end of a stage, in nanoseconds since 1970, and a flag that the question completed it."""

    name: str
    start: int
    end: int
    is_complete: bool = True


def stages(history: QuestionHistory) -> list[StageSpan]:
    """Return the stages of a question that has ended, its waiting first.

    A question that failed or was cancelled ends in the stage that it was in. A question that shared the run
    of another one, was cached or was refused has none. Where candidates were written in several
    rounds, all but the last check and the last scoring are parts of `generate`.
    """
    assert history.ended is not None
    stopped = history.result in ("failed", "cancelled")
    if history.begun is None:
        return [StageSpan("queue", history.asked, history.ended, is_complete=False)] if stopped else []
    found = [StageSpan("queue", history.asked, history.begun)]
    start = history.begun
    for name, end in _ends(history):
        if end is None:
            if stopped:
                found.append(StageSpan(name, start, history.ended, is_complete=False))
            break
        found.append(StageSpan(name, start, max(start, end)))
        start = max(start, end)
    return found


def _ends(history: QuestionHistory) -> Iterator[tuple[str, int | None]]:
    """Yield the stages of the question and when they ended; None for the one that it did not complete."""
    took = {name: round(seconds * NANOSECONDS) for name, seconds in history.timings.items()}
    ranked, scored = history.ranked, history.scored
    if history.mode == "browse":
        yield "browse", history.browsed
    else:
        yield "search", history.searched
        if ranked is None or "rank" not in took:
            yield "fetch", ranked
        else:
            yield "fetch", ranked - took["rank"]
            yield "rank", ranked
    if history.mode == "retrieve" or not history.relevant:
        return
    if scored is None:
        yield "generate", None
        return
    yield "generate", scored - took.get("check", 0) - took.get("score", 0)
    yield "check", scored - took.get("score", 0)
    yield "score", scored
