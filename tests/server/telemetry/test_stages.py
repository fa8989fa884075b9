"""The stages of questions that went all ways."""

from __future__ import annotations

from itertools import pairwise

from citewell.core.errors import ServiceError
from citewell.core.events import Done, Event, Failed, Fetched, Ranked, Scored, Searched, Token
from citewell.core.types import Answer, Failure
from citewell.server.telemetry.stages import StageSpan, stages
from citewell.server.work.history import QuestionHistory, Result

SEARCHED = Searched(())
FETCHED = Fetched("https://a.example", "A", 3, 0.1)
FAILED = Failed(Failure("https://b.example", "too late", "late"))
TOKEN = Token("Because.")
SCORED = Scored((), 0)


def history_of(*events: Event, result: Result, mode: str = "answer") -> QuestionHistory:
    history = QuestionHistory("an-id", mode)
    history.begin()
    for event in events:
        history.note(event)
    history.end(result, ServiceError("No.") if result == "failed" else None)
    return history


def done(**timings: float) -> Done:
    return Done(Answer("Why?", "answered", "", (), (), timings=timings))


def names(found: list[StageSpan]) -> list[str]:
    assert all(stage.start <= stage.end for stage in found)
    assert all(one.end == next_.start for one, next_ in pairwise(found))
    return [stage.name if stage.is_complete else f"{stage.name}!" for stage in found]


def test_an_answer_goes_through_all_stages() -> None:
    timings = dict.fromkeys(("search", "fetch", "rank", "generate", "check", "score"), 0.0)
    events = (SEARCHED, FETCHED, FAILED, Ranked((), relevant=True), TOKEN, SCORED, done(**timings))
    history = history_of(*events, result="answered")
    assert names(stages(history)) == ["queue", "search", "fetch", "rank", "generate", "check", "score"]
    assert [page.kind for page in history.pages] == ["", "late"]
    assert history.first_token == history.last_token
    assert history.pieces == 1


def test_without_evidence_and_without_writing_there_is_no_generation() -> None:
    weak = history_of(SEARCHED, Ranked((), relevant=False), done(rank=0.0), result="no_evidence")
    references = history_of(
        SEARCHED, Ranked((), relevant=True), done(rank=0.0), result="retrieved", mode="retrieve"
    )
    for history in (weak, references):
        assert names(stages(history)) == ["queue", "search", "fetch", "rank"]


def test_what_failed_or_was_given_up_ends_where_it_was() -> None:
    ranked = Ranked((), relevant=True)
    results: tuple[Result, Result] = ("failed", "cancelled")
    for result in results:
        for events, last in (
            ((), "search!"),
            ((SEARCHED, FETCHED), "fetch!"),
            ((SEARCHED, FETCHED, ranked), "generate!"),
            ((SEARCHED, FETCHED, ranked, TOKEN), "generate!"),
        ):
            assert names(stages(history_of(*events, result=result)))[-1] == last


def test_who_waits_in_vain_was_in_the_queue_alone() -> None:
    for result, expected in (("failed", ["queue!"]), ("refused", []), ("cached", []), ("answered", [])):
        history = QuestionHistory("an-id", "answer")
        history.end(result)  # type: ignore[arg-type]
        assert names(stages(history)) == expected
