"""What a model wrote, as readers get it: the sentences that help and are supported, if they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from citewell.core.types import Reference, Sentence
from citewell.generator.citations.correction import check_citations, kept
from citewell.generator.citations.ending import finished
from citewell.generator.citations.helpful import helpful
from citewell.generator.citations.judged import JudgedCitations
from citewell.generator.citations.mentions import without_mentions, without_titles
from citewell.generator.citations.relevance import is_relevant, relevance
from citewell.generator.refusal import is_refusal


class JudgedSentences(NamedTuple):
    """The sentences of an answer after the judge's check, and what it thinks of those that are supported."""

    sentences: tuple[Sentence, ...]
    relevance: float | None
    """The probability that the supported sentences answer the question; None if there is none."""

    @property
    def first_supported(self) -> bool:
        """Whether the first sentence is supported."""
        return bool(self.sentences) and self.sentences[0].supported

    @property
    def irrelevant(self) -> bool:
        """Whether something is supported, and does not answer the question."""
        return self.relevance is not None and not is_relevant(
            self.relevance, first_supported=self.first_supported
        )


def written_sentences(text: str, references: Sequence[Reference], threshold: float) -> tuple[Sentence, ...]:
    """Return the sentences of what a model wrote, with citations by shared words (`check_citations`).

    What breaks off is left out, and so are titles and mentions of references, and later sentences that say
    that the references do not answer.
    """
    titles = {of.title_path for of in references}
    text = without_titles(without_mentions(text), titles)
    return answering(check_citations(finished(text), references, threshold, markdown=True))


def answering(sentences: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Return the sentences without those that refuse to answer, unless all do."""
    places = [place for place, each in enumerate(sentences) if not is_refusal(each.text)]
    return kept(sentences, places) or sentences


async def judged_answer(
    judge: JudgedCitations,
    question: str,
    sentences: Sequence[Sentence],
    references: Sequence[Reference],
    *,
    searched: str | None = None,
) -> JudgedSentences:
    """Return an answer as the judge finds it, without later sentences that do not help.

    `searched` is the question as it was searched for, with what it left to the conversation. Raises the
    errors of the model.
    """
    asked = question if searched is None else searched
    found = await helpful(judge.model, asked, sentences)
    found = await judge.check(question, found, references)
    return JudgedSentences(found, await relevance(judge.model, asked, found, references))
