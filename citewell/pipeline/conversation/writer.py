"""A follow-up question rewritten by the language model that writes the answers."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.text import content_words, shorten, squeeze
from citewell.core.types import Turn
from citewell.generator.causal import Sampling
from citewell.generator.completer import Completer
from citewell.generator.prompt import Message

_INSTRUCTION = (
    "Rewrite the last question of a conversation so that a search engine can answer it without the "
    "conversation: put names in the place of pronouns, and add what it leaves out. Keep its words and its "
    "language. Do not answer it. Write the question alone."
)
_SHOWN = (
    (
        "Q: Who wrote Hamlet?\nA: William Shakespeare wrote Hamlet.\nLast question: When was he born?",
        "When was William Shakespeare born?",
    ),
    (
        "Q: How long is the Nile?\nA: The Nile is about 6,650 km long.\nLast question: And the Amazon?",
        "How long is the Amazon?",
    ),
    (
        "Q: How do I renew a passport?\nA: Send the form DS-82 by mail.\nLast question: any fees?",
        "Are there any fees to renew a passport?",
    ),
)
_TURNS = 3  # of the conversation that are shown
_ANSWER = 240  # characters of an answer that are shown
_QUESTION = 400
_TOKENS = 64  # of a rewritten question
_LONGEST = 200  # characters that may be added
_KEPT = 0.5  # of the words of the question that must be left


async def write_question(completer: Completer, question: str, turns: Sequence[Turn]) -> str:
    """Return a follow-up question as a question of its own, empty if what the model writes is none.

    Raises the errors of the model.
    """
    done = await completer.complete(_messages(question, turns), most=_TOKENS, sampling=Sampling(0.0, 0))
    written = squeeze(done.text.strip().partition("\n")[0])
    return written if not done.cut and _is_rewritten(question, written) else ""


def _messages(question: str, turns: Sequence[Turn]) -> list[Message]:
    messages: list[Message] = [{"role": "system", "content": _INSTRUCTION}]
    for asked, written in _SHOWN:
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": written}]
    said = [
        f"Q: {shorten(squeeze(turn.question), _QUESTION)}\nA: {shorten(squeeze(turn.answer), _ANSWER) or '-'}"
        for turn in turns[-_TURNS:]
    ]
    asked = "\n".join([*said, f"Last question: {squeeze(question)}"])
    return [*messages, {"role": "user", "content": asked}]


def _is_rewritten(question: str, written: str) -> bool:
    """Return whether a text can be the question: it has most of its words, and not many more."""
    words = set(content_words(question))
    kept = words & set(content_words(written))
    return (
        bool(content_words(written))
        and len(kept) >= _KEPT * len(words)
        and (len(written) <= len(question) + _LONGEST)
    )
