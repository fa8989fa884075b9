"""The prompt: references first, the question after them, one demonstration where it fits.

The form is WebGLM's (§3.2.1, figure 5, appendix C): `Reference [i]: …` lines, `Question: …`, the concise
instruction, and one demonstration in which a useless reference is not cited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.types import Reference

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
CountTokens = Callable[[str], int]
CutTokens = Callable[[str, int], str]


def build_messages(
    question: str,
    references: Sequence[Reference],
    *,
    budget: int,
    count: CountTokens,
    cut: CutTokens,
) -> list[Message]:
    """The chat messages of a prompt of at most `budget` tokens.

    `count` counts the tokens of a text with the model's own tokenizer, and `cut(text, n)` gives its first
    n tokens and an ellipsis. The demonstration is left out where the references would get too little; then
    references are cut to equal shares, of which short ones pass on what they do not need; a question is cut
    only where it would take more than half of the room and leave the references too little.
    """
    system = {"role": "system", "content": INSTRUCTION}
    demonstration = [
        {"role": "user", "content": _ask(_DEMONSTRATION_QUESTION, _DEMONSTRATION_REFERENCES)},
        {"role": "assistant", "content": _DEMONSTRATION_ANSWER},
    ]
    # Roles and separators cost a few tokens a message that `count` of the contents does not see.
    overhead = 8
    fewest = _FEWEST_REFERENCE_TOKENS * len(references)
    room = budget - count(INSTRUCTION) - 3 * overhead - count(_ask("", [""] * len(references)))
    question = _shorten(question, max(room - fewest, room // 2), count, cut)
    room -= count(question)
    demonstration_tokens = sum(count(message["content"]) + overhead for message in demonstration)
    if room - demonstration_tokens < fewest:
        demonstration = []
    else:
        room -= demonstration_tokens
    texts = _share([reference.text for reference in references], room, count, cut)
    return [system, *demonstration, {"role": "user", "content": _ask(question, texts)}]


def _ask(question: str, references: Sequence[str]) -> str:
    lines = [f"Reference [{number}]: {text}" for number, text in enumerate(references, start=1)]
    return "\n".join([*lines, f"Question: {question}"])


def _share(texts: Sequence[str], room: int, count: CountTokens, cut: CutTokens) -> list[str]:
    """Cut texts to fit into `room` tokens; shortest first, each gets its share of what is left."""
    shared = list(texts)
    lengths = [count(text) for text in texts]
    left = max(room, 0)
    for done, index in enumerate(sorted(range(len(texts)), key=lengths.__getitem__)):
        share = left // (len(texts) - done)
        shared[index] = _shorten(texts[index], share, count, cut)
        left -= min(lengths[index], share)
    return shared


def _shorten(text: str, tokens: int, count: CountTokens, cut: CutTokens) -> str:
    """The text in at most `tokens` tokens; nothing where so few are left that they would say nothing."""
    if count(text) <= tokens:
        return text
    return cut(text, tokens - _CUT_TOKENS) if tokens > _CUT_TOKENS else ""
