"""The prompt: references first, the question after them, one demonstration where it fits.

The form is WebGLM's (§3.2.1, figure 5, appendix C): `Reference [i]: …` lines, `Question: …`, the concise
instruction, and one demonstration in which a useless reference is not cited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from citewell.core.types import Reference

INSTRUCTION = "Read the references provided and answer the corresponding question."

_DEMONSTRATION_QUESTION = "Why does bread dough rise?"
_DEMONSTRATION_REFERENCES = (
    "Baker's yeast feeds on the sugars in flour and gives off carbon dioxide and a little alcohol. "
    "The gas is caught in the dough as bubbles.",
    "When flour is wetted and kneaded, two of its proteins join into gluten, an elastic net that stretches "
    "around the bubbles instead of letting them burst.",
    "Sliced bread was first sold by machine in Chillicothe, Missouri, in 1928.",
)
_DEMONSTRATION_ANSWER = (
    "Bread dough rises because yeast feeds on the sugars in flour and gives off carbon dioxide, which is "
    "caught in the dough as bubbles[1]. Kneading joins proteins of the flour into gluten, an elastic net "
    "that stretches around the bubbles and keeps them from bursting[2]."
)
_FEWEST_REFERENCE_TOKENS = 48
# The ellipsis after a cut, and a character whose bytes the cut has parted.
_CUT_TOKENS = 4

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class PromptForm:
    """The parts of a prompt that are the same for every question; the defaults are WebGLM's."""

    instruction: str = INSTRUCTION
    demonstration: bool = True
    question_first: bool = False

    @property
    def hash(self) -> str:
        """Identify the prompts of this form: equal only for forms that give the same prompts."""
        text = repr(self.messages("", ()))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def messages(self, question: str, references: Sequence[str]) -> list[Message]:
        """Return the chat messages of a question and the texts of its references."""
        return [
            {"role": "system", "content": self.instruction},
            *self.shown(),
            {"role": "user", "content": self.ask(question, references)},
        ]

    def shown(self) -> list[Message]:
        """Return the messages of the demonstration, if the form has one."""
        if not self.demonstration:
            return []
        ask = self.ask(_DEMONSTRATION_QUESTION, _DEMONSTRATION_REFERENCES)
        return [{"role": "user", "content": ask}, {"role": "assistant", "content": _DEMONSTRATION_ANSWER}]

    def ask(self, question: str, references: Sequence[str]) -> str:
        """Return the lines of the references, with the question after or before them."""
        lines = [f"Reference [{number}]: {text}" for number, text in enumerate(references, start=1)]
        asked = f"Question: {question}"
        return "\n".join([asked, *lines] if self.question_first else [*lines, asked])


CountTokens = Callable[[str], int]
CutTokens = Callable[[str, int], str]


def build_messages(
    question: str,
    references: Sequence[Reference],
    *,
    budget: int,
    count: CountTokens,
    cut: CutTokens,
    form: PromptForm = PromptForm(),
) -> list[Message]:
    """Return the chat messages of a prompt of at most `budget` tokens.

    `count` counts the tokens of a text with the model's own tokenizer, and `cut(text, n)` gives its first n
    tokens and an ellipsis. The demonstration is dropped if it leaves too little for the references. Then
    references are cut to equal shares; the unused shares of short ones go to the others. A question is cut
    only if it takes more than half of the budget and leaves the references too little.
    """
    # Roles and separators cost a few tokens per message, which `count` does not include.
    overhead = 8
    fewest = _FEWEST_REFERENCE_TOKENS * len(references)
    room = budget - count(form.instruction) - 3 * overhead - count(form.ask("", [""] * len(references)))
    question = _shorten(question, max(room - fewest, room // 2), count, cut)
    room -= count(question)
    demonstration_tokens = sum(count(message["content"]) + overhead for message in form.shown())
    if room - demonstration_tokens < fewest:
        form = replace(form, demonstration=False)
    else:
        room -= demonstration_tokens
    texts = _share([reference.text for reference in references], room, count, cut)
    return form.messages(question, texts)


def _share(texts: Sequence[str], available: int, count: CountTokens, cut: CutTokens) -> list[str]:
    """Cut texts to fit into `available` tokens; shortest first, each gets its share of the rest."""
    shared = list(texts)
    lengths = [count(text) for text in texts]
    left = max(available, 0)
    for done, index in enumerate(sorted(range(len(texts)), key=lengths.__getitem__)):
        share = left // (len(texts) - done)
        shared[index] = _shorten(texts[index], share, count, cut)
        left -= min(lengths[index], share)
    return shared


def _shorten(text: str, tokens: int, count: CountTokens, cut: CutTokens) -> str:
    """Return the text in at most `tokens` tokens; empty if they are too few to be useful."""
    if count(text) <= tokens:
        return text
    return cut(text, tokens - _CUT_TOKENS) if tokens > _CUT_TOKENS else ""
