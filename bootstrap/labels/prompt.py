"""The prompt that asks a language model whether a passage answers a question."""

from __future__ import annotations

from citewell.generator.prompt import Message

_INSTRUCTION = "You judge whether a passage answers a question. Reply with one word: Yes or No."
_ASKED = """\
Passage: {title}. {text}

Question: {question}?

Does the passage contain the answer to the question?"""
_WORDS = 190  # of a passage


def answers_prompt(question: str, title: str, text: str) -> list[Message]:
    """Return the messages of a judgment; long passages are cut."""
    shown = " ".join(text.split()[:_WORDS])
    asked = _ASKED.format(title=title, text=shown, question=question.strip().rstrip("?"))
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": asked}]
