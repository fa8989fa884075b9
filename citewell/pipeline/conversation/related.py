"""Questions to ask next, written by the language model that writes the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citewell.core.text import content_words, shorten, squeeze
from citewell.core.types import Reference, Sentence, shown_references
from citewell.generator.causal import Sampling
from citewell.generator.completer import Completer
from citewell.generator.orders.marking import evidence_of
from citewell.generator.prompt import Message

_INSTRUCTION = (
    "Write three questions that a reader of the answer would ask next. Each is about something that "
    "the passages say and the answer leaves out. A question names what it is about, and has at most twelve "
    "words. Use the language of the question. Write one question per line and nothing else."
)
MOST_RELATED = 3
_PASSAGES = 3
_PASSAGE = 600  # characters of a passage that are shown
_ANSWER = 500
_TOKENS = 72
_LONGEST = 140  # characters of a question
_NUMBER = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s*")
_MARK = re.compile(r"\s*\[\d+\]")


async def write_related(
    completer: Completer, question: str, sentences: Sequence[Sentence], references: Sequence[Reference]
) -> tuple[str, ...]:
    """Return up to three questions about what the cited references say besides the answer.

    None if the model writes no usable one. Raises the errors of the model.
    """
    messages = _messages(question, sentences, references)
    done = await completer.complete(messages, most=_TOKENS, sampling=Sampling(0.0, 0))
    lines = done.text.split("\n")
    return tuple(_usable(question, lines[:-1] if done.cut else lines))[:MOST_RELATED]


def _messages(question: str, sentences: Sequence[Sentence], references: Sequence[Reference]) -> list[Message]:
    cited = evidence_of(shown_references(sentences, references)[:_PASSAGES])
    passages = "\n\n".join(f"{each.title_path}: {shorten(squeeze(each.text), _PASSAGE)}" for each in cited)
    answer = shorten(" ".join(squeeze(each.text) for each in sentences), _ANSWER)
    given = f"Passages:\n{passages}\n\nQuestion: {squeeze(question)}\nAnswer: {answer}"
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": given}]


def _usable(question: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield the questions among some lines that ask something new."""
    known = [set(content_words(question))]
    for line in lines:
        written = squeeze(_MARK.sub("", _NUMBER.sub("", line)))
        words = set(content_words(written))
        if (
            written.endswith("?")
            and len(written) <= _LONGEST
            and words
            and not any(words <= each for each in known)
        ):
            known.append(words)
            yield written
