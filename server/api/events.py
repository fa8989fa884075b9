"""The events of a question as the API names them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from citewell.core.events import (
    Browsed,
    Failed,
    Fetched,
    Notice,
    Quoted,
    Ranked,
    Rewritten,
    Scored,
    Searched,
    Token,
)
from citewell.server.api.answer_reply import answer_response
from citewell.server.work.event_log import QuestionEnded, QuestionEvent, QuestionQueued, Started


def api_event(event: QuestionEvent) -> tuple[str, Any]:
    """Return the name and the data of an event."""
    match event:
        case QuestionQueued():
            return "queued", asdict(event)
        case Started():
            return "searching", {}
        case Rewritten():
            return "rewritten", asdict(event)
        case Searched():
            return "searched", asdict(event)
        case Browsed():
            return "browsed", asdict(event)
        case Fetched():
            return "fetched", asdict(event)
        case Failed(failure):
            return "failed", asdict(failure)
        case Ranked():
            return "ranked", asdict(event)
        case Notice(text):
            return "notice", {"text": text}
        case Quoted():
            return "quoted", asdict(event)
        case Token():
            return "token", asdict(event)
        case Scored(candidates, best):
            shown = [
                {
                    "answer": candidate.text,
                    "score": candidate.score,
                    "adjusted_score": candidate.adjusted_score,
                }
                for candidate in candidates
            ]
            return "scored", {"candidates": shown, "best": best}
        case QuestionEnded(answer):
            return ("done", answer_response(answer)) if answer.problem is None else ("error", answer.problem)
    raise AssertionError(f"{event} is not logged")
