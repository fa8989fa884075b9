"""Pairs of a chosen and a rejected answer: {prompt, chosen, rejected}, and Anthropic's dialogues (HH)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from citewell.scorer.data.source_line import SourceLine, group_of
from citewell.scorer.data.types import Comparison

_PROMPTS = ("prompt", "question", "instruction", "title")
_SPEAKERS = {"user": "Human", "assistant": "Assistant", "system": "System"}
_ANSWER = "\n\nAssistant:"
_FIRST = re.compile(r"^\s*Human:\s*")
_LAST = re.compile(r"\s*Assistant:\s*$")


class _Said(NamedTuple):
    """The dialogue before an answer, and the answer."""

    before: str
    answer: object  # whatever stands there


def read_preference(row: Mapping[str, Any], place: SourceLine) -> Iterator[Comparison]:
    """Yield the comparison of a row, if it has a question and two answers.

    Rows of hh-rlhf hold two whole dialogues, which differ in their last answer
    (https://arxiv.org/abs/2204.05862); rows of TRL may hold lists of messages. The question is the dialogue
    up to that answer, without the `Human:` at its start and the `Assistant:` at its end.
    """
    prompt = next((row[key] for key in _PROMPTS if row.get(key)), None)
    if not (prompt is None or isinstance(prompt, str | list)):
        place.problem("no_text", "the prompt is neither a text nor a list of messages.")
        return
    chosen, rejected = (_said(row[key], alone=prompt is None) for key in ("chosen", "rejected"))
    if chosen is None or rejected is None:
        place.problem("no_text", "chosen or rejected is neither a text with a prompt nor a dialogue.")
        return
    if chosen.before != rejected.before:
        place.problem("two_questions", "chosen and rejected differ before their last answer.")
        return
    asked = _dialogue(prompt) if isinstance(prompt, list) else prompt or ""
    repeats = asked and chosen.before.endswith(asked)  # UltraFeedback's messages begin with the prompt
    before = f"{asked}\n\n{chosen.before}" if asked and chosen.before and not repeats else ""
    before = before or chosen.before or asked
    question = place.text(_LAST.sub("", _FIRST.sub("", before)), "the question")
    references = place.references(row)
    first = place.answer(chosen.answer, "chosen", references)
    second = place.answer(rejected.answer, "rejected", references)
    if question and first and second:
        yield Comparison(
            question,
            first,
            second,
            1.0,
            references=references,
            group=group_of(question),
            source=place.source,
        )


def _said(value: object, *, alone: bool) -> _Said | None:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return _Said(_dialogue(value[:-1]), value[-1].get("content"))
    if not isinstance(value, str):
        return None
    if not alone:
        return _Said("", value)
    before, mark, answer = value.rpartition(_ANSWER)
    return _Said(before, answer) if mark else None


def _dialogue(messages: list[Any]) -> str:
    turns = (message for message in messages if isinstance(message, dict))
    return "\n\n".join(
        f"{_SPEAKERS.get(str(turn.get('role')), 'Human')}: {turn.get('content', '')}" for turn in turns
    )
