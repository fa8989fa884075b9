"""Citations judged by a language model: does a reference say what a sentence says?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from citewell.core.pointing_back import points_back
from citewell.core.quotable import named_rows
from citewell.core.text import content_words, squeeze
from citewell.core.types import Reference, Sentence, SupportStatus
from citewell.core.windows import best_window
from citewell.generator.citations.answering import answered_prompt, right_prompt
from citewell.generator.citations.asking import support_prompt
from citewell.generator.citations.correction import introduces, running_on
from citewell.generator.citations.covering import covering
from citewell.generator.citations.grounding import (
    adds_nothing,
    affirms_another_number,
    affirms_untold,
    grounding,
    says_the_opposite,
)
from citewell.generator.citations.support import ReferenceText
from citewell.generator.extractive import reference_sentences
from citewell.generator.prompt import Message
from citewell.generator.yes import YesModel, ask_all

# The least probability of yes of a supported sentence, chosen on the dev part of `benchmarks.false_edits`.
# Models say yes too easily where all words of a claim stand in the passage, also in another order or with
# another meaning.
_LEAST, _LEAST_VERBATIM = 0.55, 0.67
_VERBATIM = 0.99
# After the first sentence, small models often twist a reference. In 40 answers of Citewell-QA, a blind reader
# found 1 of 12 later sentences supported where yes was less likely than this, and 9 of 16 above.
_LEAST_LATER = 0.85
# A sentence that is not supported is partly so above this probability or this share of its words …
_PARTLY, _PARTLY_WORDS = 0.42, 0.6
# … and contradicted where its words stand there and yes is as unlikely as this.
_CONTRADICTED = 0.25
# The best references of a sentence are asked about, if they have this share of its words.
_ASKED_ABOUT, _FEWEST_SHARED = 2, 0.15
# A first sentence below this probability is supported only if a sentence of the references grounds it, that
# passage answers with the second probability, and the answer is right with the third: notes and tables do not
# say in whole words what an answer says, and a small model takes the next row for the right one. Chosen on
# the dev half of `python -m benchmarks.own_documents` and, the first one, on notes of `benchmarks.refusals`,
# then raised as the packaged writer's answers rose when its weights were rounded less.
_SURE, _LEAST_ANSWERED, _LEAST_RIGHT = 0.71, 0.67, 0.8
# A sentence with fewer content words, such as "Yes.", says something only with its question.
_FEWEST_WORDS = 3
WINDOW = 200
"""Words of a reference that are shown at most."""


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

        A sentence of a reference that it cites is not asked about. Others are compared with up to two
        references that share most words with them, until one supports them; the model is asked about all at
        once. A number that a reference lacks, or has of something else, rules it out. The first sentence,
        unless surely supported, is then looked at as an answer to the question, if there is one; it is not
        supported as one if it only repeats the question, says the opposite of its reference, or says yes to
        what no sentence of it tells or to another number. A sentence that refers to one before that is not
        supported is not supported either, since nobody knows what it speaks of. One that introduces others is
        supported only if one of them is. Raises the errors of the model.
        """
        texts = {of: ReferenceText(of.text, of.title_path) for of in references}
        running = set(running_on(sentences))
        claims = [
            _Claim.of(question, sentence, texts, running=place in running)
            for place, sentence in enumerate(sentences)
        ]
        judged = [claim.unasked for claim in claims]
        for turn in range(_ASKED_ABOUT):
            asked = [
                place
                for place, claim in enumerate(claims)
                if not claim.quoted and not judged[place].supported and turn < len(claim.closest)
            ]
            # Claims on one reference follow one another: what they share is then read once.
            asked.sort(key=lambda place: claims[place].closest[turn].number)
            answers = await ask_all(self.model, [claims[place].prompt(turn) for place in asked])
            for place, answer in zip(asked, answers, strict=True):
                judged[place] = claims[place].judged(turn, answer.yes, judged[place])
        if claims and question:
            judged[0] = await self._first(question, claims[0], judged[0], references)
        found: list[Sentence] = []
        for place, sentence in enumerate(sentences):
            lost = found and not found[-1].supported and points_back(sentence.text)
            found.append(_lost(judged[place]) if lost else judged[place])
        for place in reversed(range(len(found))):
            if introduces(found[place].text) and not any(later.supported for later in found[place + 1 :]):
                found[place] = _lost(found[place])
        return tuple(found)

    async def _first(
        self, question: str, claim: _Claim, before: Sentence, references: Sequence[Reference]
    ) -> Sentence:
        """Return the first sentence, which has to answer the question, after its own check."""
        found = before
        if claim.closest and before.support < _SURE:
            found = await self._as_answer(question, claim, before, references)
        cited = [reference for reference in references if reference.number in found.citations]
        text = found.text
        wrong = (
            adds_nothing(question, text, cited)
            or affirms_untold(question, text, cited)
            or says_the_opposite(text, cited)
            or affirms_another_number(text, cited)
        )
        return _lost(found) if wrong else found

    async def _as_answer(
        self, question: str, claim: _Claim, before: Sentence, references: Sequence[Reference]
    ) -> Sentence:
        """Return a first sentence that is not surely supported, looked at as an answer to the question."""
        reference = grounding(question, claim.sentence.text, references)
        if reference is None or not claim.holds_facts(reference):
            return _lost(before)
        passage = claim.passage(reference)
        asked = [answered_prompt(question, passage), right_prompt(question, claim.sentence.text, passage)]
        answered, right = [answer.yes for answer in await ask_all(self.model, asked)]
        if answered < _LEAST_ANSWERED or right < _LEAST_RIGHT:
            return _lost(before)
        return claim.supported(reference, right)


class _Claim(NamedTuple):
    """A sentence, what is asked about it, and the references to ask about with their shares of its words."""

    question: str
    sentence: Sentence
    text: str
    quoted: tuple[int, ...]
    """The references that it cites of which it is a whole sentence."""
    closest: tuple[Reference, ...]
    shares: tuple[float, ...]
    texts: Mapping[Reference, ReferenceText]
    running: bool
    """Whether it is a later sentence of running text."""

    @classmethod
    def of(
        cls, question: str, sentence: Sentence, texts: Mapping[Reference, ReferenceText], *, running: bool
    ) -> _Claim:
        """Return the claim of a sentence of the answer to a question."""
        short = len(content_words(sentence.text)) < _FEWEST_WORDS
        text = f"{question} {sentence.text}" if short else sentence.text
        shares = {reference: of.precision(text) for reference, of in texts.items()}
        ranked = sorted(texts, key=lambda reference: (-shares[reference], reference.number))
        closest = tuple(r for r in ranked[:_ASKED_ABOUT] if shares[r] >= _FEWEST_SHARED)
        squeezed = squeeze(sentence.text)
        cited = [reference for reference in texts if reference.number in sentence.citations]
        quoted = tuple(r.number for r in cited if squeezed in reference_sentences(r.text))
        return cls(
            question, sentence, text, quoted, closest, tuple(shares[r] for r in closest), texts, running
        )

    @property
    def unasked(self) -> Sentence:
        """The sentence as it is without a question to the model."""
        if self.quoted:
            return replace(self.sentence, citations=self.quoted, support=1.0)
        return Sentence(self.sentence.text, (), 0.0, False, "not_found", self.sentence.before)

    def holds_facts(self, reference: Reference) -> bool:
        """Return whether a reference has the numbers of the claim, of the same things, and its names."""
        text, said = self.texts[reference], (self.sentence.text, self.question)
        return text.holds_numbers(*said) and text.holds_names(*said)

    def prompt(self, turn: int) -> list[Message]:
        """Return the question whether the reference of a turn supports the claim."""
        reference = self.closest[turn]
        passage = covering(reference.text, self.text, WINDOW, self.question)
        return support_prompt(self.text, _titled(reference, passage))

    def passage(self, reference: Reference) -> str:
        """Return what is shown of a reference where more than the words of the claim count."""
        return _titled(reference, best_window(named_rows(reference.text), self.text, WINDOW))

    def supported(self, reference: Reference, yes: float) -> Sentence:
        """Return the sentence as supported by a reference with that probability."""
        cited = (reference.number,)
        return Sentence(self.sentence.text, cited, round(yes, 3), True, before=self.sentence.before)

    def judged(self, turn: int, yes: float, before: Sentence) -> Sentence:
        """Return the sentence after a turn's probability of yes; `before` is that of the turn before."""
        reference = self.closest[turn]
        status = self._status(yes, self.shares[turn], held=self.holds_facts(reference))
        if status == "supported":
            return self.supported(reference, yes)
        if turn:
            return before
        return Sentence(self.sentence.text, (), round(yes, 3), False, status, self.sentence.before)

    def _status(self, yes: float, share: float, *, held: bool) -> SupportStatus:
        """Return the status for a probability of yes, a share of words, and whether the facts are `held`."""
        least = _LEAST_VERBATIM if share >= _VERBATIM else _LEAST
        if held and yes >= max(least, _LEAST_LATER if self.running else 0):
            return "supported"
        if share >= _PARTLY_WORDS and yes < _CONTRADICTED:
            return "contradicted"
        return "partly" if yes >= _PARTLY or share >= _PARTLY_WORDS else "not_found"


def _titled(reference: Reference, text: str) -> str:
    path = reference.title_path
    return f"{path}: {text}" if path else text


def _lost(sentence: Sentence) -> Sentence:
    return (
        replace(sentence, citations=(), supported=False, status="partly") if sentence.supported else sentence
    )
