"""Does what is supported answer the question? It may be true, and beside the point."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.dates import days
from citewell.core.pointing_back import points_back
from citewell.core.types import Reference, Sentence
from citewell.generator.prompt import Message
from citewell.generator.yes import YesModel, ask_all

LEAST_RELEVANCE = 0.65
"""Of a written answer that is shown: `python -m benchmarks.refusals` shows what other values let pass."""
# Of a quotation, which nobody wrote for the question.
_LEAST_QUOTED = 0.7
# How much more it must be where the first sentence is not supported, since the others seldom answer alone.
_WITHOUT_FIRST = 0.05
# How much more quotations must have than such others to stand for them.
_BETTER = 0.08
# How much less a quotation may have than the best one that it is shown with.
_BEHIND = 0.1
# The relevance and the reader's logit that suffice together for quotations that stand for what is written.
_QUOTABLE = ((0.7, 1.0), (0.8, 0.25), (0.9, -2.0))
# From here on, another quotation that answers changes nothing.
_SURELY = 0.85
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
    return (await model.ask(relevance_prompt(question, titles[supported[0].citations[0]], text))).yes


def is_relevant(relevance: float, *, first_supported: bool, least: float = LEAST_RELEVANCE) -> bool:
    """Return whether an answer of that relevance is shown, if its first sentence is supported or not."""
    return relevance >= (least if first_supported else least + _WITHOUT_FIRST)


def is_better(quotations: float, without_first: float) -> bool:
    """Return whether quotations of that relevance stand for an answer whose first sentence is not supported.

    `without_first` is the relevance of its other sentences.
    """
    return quotations >= without_first + _BETTER


async def relevant(
    model: YesModel, question: str, quotations: Sequence[Sentence], references: Sequence[Reference]
) -> tuple[tuple[Sentence, ...], float]:
    """Return the quotations that answer the question each by itself, and the highest probability of them.

    Those that are much less likely to answer than the best one are left out. One that points back to the
    quotation before it keeps it. Raises the errors of the model.
    """
    # A sentence of nothing but function words is quoted without a citation.
    cited = [each for each in quotations if each.supported and each.citations]
    titles = {reference.number: reference.title_path for reference in references}
    asked = [relevance_prompt(question, titles[each.citations[0]], each.text) for each in cited]
    likely = [answer.yes for answer in await ask_all(model, asked)]
    best = max(likely, default=0.0)
    least = max(_LEAST_QUOTED, best - _BEHIND)
    kept = {place for place, yes in enumerate(likely) if yes >= least}
    kept |= {place - 1 for place in kept if place and points_back(cited[place].text)}
    return tuple(cited[place] for place in sorted(kept)), best


async def likely_answered(
    model: YesModel, question: str, quotations: Sequence[Sentence], references: Sequence[Reference]
) -> float | None:
    """Return the highest probability that one of the quotations answers the question; None without any.

    The quotations are asked about in their order, until one surely answers. Raises the errors of the model.
    """
    titles = {reference.number: reference.title_path for reference in references}
    best: float | None = None
    for each in quotations:
        if not (each.supported and each.citations):
            continue
        asked = relevance_prompt(question, titles[each.citations[0]], each.text)
        best = max(best or 0.0, (await model.ask(asked)).yes)
        if best >= _SURELY:
            break
    return best


def are_quotable(relevance: float, logit: float | None) -> bool:
    """Return whether quotations surely answer: by their relevance, and the logit of the best one.

    `logit` is the reader's (`citewell.retriever.answer_reader`); without one (None), the relevance decides.
    """
    if logit is None:
        return relevance >= max(least for least, _ in _QUOTABLE)
    return any(relevance >= least and logit >= lowest for least, lowest in _QUOTABLE)


def relevance_prompt(question: str, title: str, text: str) -> list[Message]:
    """Return the messages that ask whether a sentence of a page with this title answers a question."""
    asked = _ASKED.format(title=_undated(title, question), text=text, question=question)
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": asked}]


def _undated(title: str, question: str) -> str:
    """Return a title without the parts that have a date, unless the question has it too.

    A model takes the date of a meeting for that of which its minutes tell.
    """
    asked = days(question)
    return ", ".join(part for part in title.split(", ") if not days(part) - asked)
