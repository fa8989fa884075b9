"""Does the passage answer the question, and is that its answer? A model that rejects a claim may know it."""

from __future__ import annotations

from citewell.generator.prompt import Message

_INSTRUCTION = "You judge answers. Reply with one word: Yes or No."
_ANSWERED = """\
Passage: {passage}

Question: {question}

Does the passage answer the question?"""
_RIGHT = """\
Passage: {passage}

Question: {question}
Answer: {answer}

Is the answer right by the passage?"""


def answered_prompt(question: str, passage: str) -> list[Message]:
    """Return the messages that ask whether a passage answers a question."""
    return _messages(_ANSWERED.format(passage=passage, question=question))


def right_prompt(question: str, answer: str, passage: str) -> list[Message]:
    """Return the messages that ask whether a passage gives this answer."""
    return _messages(_RIGHT.format(passage=passage, question=question, answer=answer))


def _messages(asked: str) -> list[Message]:
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": asked}]
