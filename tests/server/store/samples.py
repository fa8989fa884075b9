"""What is stored in these tests, with any field changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from citewell.server.store.answers import StoredAnswer
from citewell.server.store.comparisons import StoredComparison
from citewell.server.store.demonstrations import StoredDemonstration
from citewell.server.store.feedback import StoredFeedback
from citewell.server.store.ids import new_id
from citewell.server.store.jobs import StoredJob
from citewell.server.store.rankings import StoredRanking
from citewell.server.store.ratings import StoredRating

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)


def answer(**changes: Any) -> StoredAnswer:
    values: dict[str, Any] = {
        "id": new_id(),
        "key_id": None,
        "question": "How do bats find their way?",
        "mode": "answer",
        "status": "running",
        "created": datetime.now(UTC),
        "seconds": None,
        "body": None,
        "problem": None,
        "settings": {"k": 5},
        "digest": "d1",
    }
    return StoredAnswer(**values | changes)


def feedback(**changes: Any) -> StoredFeedback:
    values: dict[str, Any] = {
        "id": new_id(),
        "answer_id": "an-answer",
        "key_id": None,
        "thumb": 1,
        "comment": "",
        "sentence": None,
        "created": NOON,
        "question": "How do bats find their way?",
        "answer": "By echolocation [1].",
        "references": ("Bats find their way by echolocation.",),
    }
    return StoredFeedback(**values | changes)


def comparison(**changes: Any) -> StoredComparison:
    values: dict[str, Any] = {
        "id": new_id(),
        "key_id": None,
        "question": "How do bats find their way?",
        "answers": (
            {"text": "By echolocation [1].", "references": ["Bats use echolocation."], "answer_id": "a"},
            {"text": "By sight.", "references": [], "answer_id": None},
        ),
        "ratings": {"usefulness": -2, "coherence": 0, "unsupported": 1, "overall": -1},
        "comment": "",
        "created": NOON,
    }
    return StoredComparison(**values | changes)


def ranking(**changes: Any) -> StoredRanking:
    values: dict[str, Any] = {
        "id": new_id(),
        "key_id": None,
        "question": "How do bats find their way?",
        "answers": (
            {"text": "By sight.", "references": [], "answer_id": None},
            {"text": "By echolocation [1].", "references": ["Bats use echolocation."], "answer_id": "a"},
            {"text": "By calls [2].", "references": ["Bats use echolocation.", "Calls."], "answer_id": "b"},
        ),
        "ranks": (3, 1, 1),
        "comment": "",
        "created": NOON,
    }
    return StoredRanking(**values | changes)


def demonstration(**changes: Any) -> StoredDemonstration:
    values: dict[str, Any] = {
        "id": new_id(),
        "key_id": None,
        "question": "What do crows give?",
        "options": {"limits": {"actions": 100}, "collection": None, "reference": ""},
        "status": "browsing",
        "count": 0,
        "actions": (),
        "created": NOON,
        "updated": NOON,
    }
    return StoredDemonstration(**values | changes)


def rating(**changes: Any) -> StoredRating:
    values: dict[str, Any] = {
        "id": new_id(),
        "rater": "ada",
        "kind": "answer",
        "item": "an-answer",
        "scores": {"fluency": 3, "correctness": 2},
        "created": NOON,
    }
    return StoredRating(**values | changes)


def job(**changes: Any) -> StoredJob:
    values: dict[str, Any] = {
        "id": new_id(),
        "kind": "index",
        "status": "running",
        "done": 0,
        "total": None,
        "message": "",
        "created": NOON,
        "updated": datetime.now(UTC),
        "arguments": {"collection": "shelf"},
    }
    return StoredJob(**values | changes)
