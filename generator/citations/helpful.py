"""Which sentences of an answer help to answer the question? Small models go on to what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.types import Sentence
from citewell.generator.citations.correction import kept, running_on
from citewell.generator.prompt import Message
from citewell.generator.yes import YesModel, ask_all

# Chosen by reading the later sentences of 150 answers beside their probabilities.
_LEAST = 0.6
_INSTRUCTION = "You judge answers. Reply with one word: Yes or No."
_ASKED = """\
Question: {question}

Sentence: {text}

Does the sentence help to answer the question?"""


async def helpful(model: YesModel, question: str, sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return the sentences without later ones of running text that do not help to answer the question.

    The first one stays: whether it answers is another question (`relevance`). So do lists, tables and code,
    whose parts belong together. Raises the errors of the model.
    """
    asked = running_on(sentences)
    answers = await ask_all(model, [_prompt(question, sentences[place].text) for place in asked])
    beside = {place for place, answer in zip(asked, answers, strict=True) if answer.yes < _LEAST}
    return kept(sentences, set(range(len(sentences))) - beside)


def _prompt(question: str, text: str) -> list[Message]:
    asked = _ASKED.format(question=question, text=text)
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": asked}]
