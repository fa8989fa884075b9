"""What a rater may see of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.core.markdown import laid_out
from citewell.server.api.study_schemas import BlindAnswer, StudyReference


def blind(answer: Mapping[str, Any], *, cited: bool) -> BlindAnswer:
    """Return an answer without its system and, unless it is `cited`, without marks and references."""
    if not cited:
        sentences = answer["sentences"]
        return BlindAnswer(laid_out((each.get("before"), each["text"]) for each in sentences), [])
    references = [
        StudyReference(text=each["text"], title=each["title"] or None, url=each["url"] or None)
        for each in answer["references"]
    ]
    return BlindAnswer(answer["text"], references)
