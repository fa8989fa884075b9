"""Does what is supported answer the question? It may be true, and beside the point."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.types import Reference, Sentence
from citewell.generator.prompt import Message
from citewell.generator.yes import YesModel

LEAST_RELEVANCE = 0.7
"""Of an answer that is shown: `python -m benchmarks.refusals` shows what other values let pass."""
# The relevance and the reader's logit that suffice together for quotations that stand for an answer of which
# nothing is supported.
_QUOTABLE = ((0.7, 1.0), (0.9, -2.0))
_INSTRUCTION = "You judge answers. Reply with one word: Yes or No."
_ASKED = """\
Page: {title}
Sentence: {text}

Question: {question}

Can the question be answered with what the sentence says?"""


async def relevance(
    model: YesModel, question: str, sentences: Sequence[Sentence], references: Sequence[Reference]
) -> float | None:
    """Return the probability (0 to 1) that the supported sentences answer the question; None without any.

    Raises the errors of the model.
    """
    supported = [sentence for sentence in sentences if sentence.supported and sentence.citations]
    if not supported:
        return None
    titles = {reference.number: reference.title_path for reference in references}
    text = " ".join(sentence.text for sentence in supported)
    return (await model.ask(_prompt(question, titles[supported[0].citations[0]], text))).yes


def are_quotable(relevance: float | None, logit: float | None) -> bool:
    """Return whether quotations surely answer: by their relevance, and the logit of the best one.

    `logit` is the reader's (`citewell.retriever.answer_reader`); without one (None), the relevance decides.
    """
    if relevance is None:
        return False
    if logit is None:
        return relevance >= max(least for least, _ in _QUOTABLE)
    return any(relevance >= least and logit >= lowest for least, lowest in _QUOTABLE)


def _prompt(question: str, title: str, text: str) -> list[Message]:
    asked = _ASKED.format(title=title, text=text, question=question)
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": asked}]
