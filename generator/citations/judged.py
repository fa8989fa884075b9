"""Citations judged by a language model: does a reference say what a sentence says?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from citewell.core.text import content_words, squeeze
from citewell.core.types import Reference, Sentence, SupportStatus
from citewell.core.windows import best_window
from citewell.generator.citations.asking import support_prompt
from citewell.generator.citations.support import ReferenceText
from citewell.generator.extractive import reference_sentences
from citewell.generator.yes import YesModel

# The least probability of yes of a supported sentence. Models say yes too easily where all words of a claim
# stand in the passage, also in another order or with another meaning.
_LEAST, _LEAST_VERBATIM = 0.5, 0.6
_VERBATIM = 0.99
# A sentence that is not supported is partly so above this probability or this share of its words …
_PARTLY, _PARTLY_WORDS = 0.35, 0.6
# … and contradicted where its words stand there and yes is as unlikely as this.
_CONTRADICTED = 0.2
# The best references of a sentence are asked about, if they have this share of its words.
_ASKED_ABOUT, _FEWEST_SHARED = 2, 0.15
# A sentence with fewer content words, such as "Yes.", says something only with its question.
_FEWEST_WORDS = 3


class _Judgment(NamedTuple):
    """What the check found of a sentence and one reference."""

    status: SupportStatus
    probability: float
    number: int


@dataclass(frozen=True)
class JudgedCitations:
    """A second check of citations, by a language model's probability of yes.

    `python -m benchmarks.citation_support` compares it with the check by words.
    """

    model: YesModel

    @property
    def name(self) -> str:
        """The name of the judge, for the answer."""
        return self.model.name

    async def check(
        self, question: str, sentences: Sequence[Sentence], references: Sequence[Reference]
    ) -> tuple[Sentence, ...]:
        """Return the sentences with new citations, support and status.

        A sentence of a reference that it cites is not asked about. Others are
        compared with up to two references that share most words with them, until one supports them. Numbers
        that a reference lacks rule it out. Raises the errors of the model.
        """
        texts = {r.number: f"{r.title}\n{r.text}" for r in references}
        compared = {number: ReferenceText(text) for number, text in texts.items()}
        return tuple([await self._sentence(question, each, texts, compared) for each in sentences])

    async def _sentence(
        self, question: str, sentence: Sentence, texts: dict[int, str], compared: dict[int, ReferenceText]
    ) -> Sentence:
        quoted = squeeze(sentence.text)
        verbatim = [n for n in sentence.citations if quoted in reference_sentences(texts[n])]
        if verbatim:
            return replace(sentence, citations=tuple(verbatim), support=1.0)
        short = len(content_words(sentence.text)) < _FEWEST_WORDS
        claim = f"{question} {sentence.text}" if short else sentence.text
        shares = {number: text.precision(claim) for number, text in compared.items()}
        ranked = sorted(shares, key=lambda number: (-shares[number], number))[:_ASKED_ABOUT]
        best = _Judgment("not_found", 0.0, 0)
        for number in ranked:
            if shares[number] < _FEWEST_SHARED:
                break
            title, _, text = texts[number].partition("\n")
            window = f"{title}: {best_window(text, claim)}" if title else best_window(text, claim)
            yes = (await self.model.ask(support_prompt(claim, window))).yes
            held = compared[number].holds_numbers(sentence.text)
            found = _Judgment(_status(yes, shares[number], held=held), round(yes, 3), number)
            if found.status == "supported":
                return Sentence(sentence.text, (number,), found.probability, supported=True)
            if number == ranked[0]:
                best = found
        return Sentence(sentence.text, (), best.probability, supported=False, status=best.status)


def _status(yes: float, share: float, *, held: bool) -> SupportStatus:
    """Return the status for a probability of yes, a share of words, and whether all numbers are `held`."""
    if held and yes >= (_LEAST_VERBATIM if share >= _VERBATIM else _LEAST):
        return "supported"
    if share >= _PARTLY_WORDS and yes < _CONTRADICTED:
        return "contradicted"
    return "partly" if yes >= _PARTLY or share >= _PARTLY_WORDS else "not_found"
