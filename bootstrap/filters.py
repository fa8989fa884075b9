"""The filters of answers: those of WebGLM §3.2.3, and those for unusable answers."""

from __future__ import annotations

import re

from citewell.bootstrap.config import BootstrapConfig
from citewell.bootstrap.types import FilterScores, Reason

# Tags of HTML with their attributes, control tokens of chat templates, and lines of the prompt itself.
_MARKUP = re.compile(
    r"</?(?:a|article|b|body|br|code|div|em|footer|h[1-6]|head|header|html|i|img|li|link|main|meta|nav|ol|p|pre"
    r"|script|section|span|strong|style|sub|sup|table|tbody|td|th|title|tr|u|ul)\b[^<>]{0,500}>"
    r"|<!doctype|<\|[a-z_]{2,40}\|>|\[/?INST\]|\bReference \[\d+\]:",
    re.IGNORECASE,
)


def reason_to_drop(
    answer: str, scores: FilterScores, config: BootstrapConfig, *, truncated: bool = False
) -> Reason | None:
    """Return the first filter that rejects an answer; None if all accept it.

    `answer` is the teacher's own text, and `truncated` says that the limit of tokens cut it.
    """
    filters = config.filters
    overlap = config.correction.least if filters.overlap is None else filters.overlap
    if scores.words == 0:
        return "empty"
    if filters.truncated and truncated:
        return "truncated"
    if filters.markup and _MARKUP.search(answer):
        return "markup"
    if scores.words < filters.words:
        return "short"
    if scores.overlap < overlap:
        return "hallucination"
    if scores.cited < filters.cited or scores.coverage < filters.coverage:
        return "few_citations"
    if scores.accuracy is not None and scores.accuracy < filters.accuracy:
        return "citation_accuracy"
    return None
