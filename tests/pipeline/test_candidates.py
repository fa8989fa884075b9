"""What a generator writes is checked: with generators that say what the test wants them to."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.core.errors import FetchError
from citewell.core.events import Done, Event, Quoted, Ranked, Scored, Token, final_answer
from citewell.core.types import Answer, Reference
from citewell.generator.causal import YesAnswer
from citewell.generator.citations.judged import JudgedCitations
from citewell.generator.extractive import ExtractiveGenerator
from citewell.generator.prompt import Message
from citewell.generator.refusal import REFUSAL
from citewell.pipeline.pipeline import NO_EVIDENCE, NO_SURE_ANSWER, Limits, Pipeline
from citewell.pipeline.providers import OpenedSearch
from citewell.retriever.collection.collection import Collection
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.parts import parts
from citewell.retriever.rank import Ranker
from citewell.retriever.search.metasearch import Metasearch
from citewell.retriever.stage import WaitPolicy
from citewell.scorer.scorer import SupportScorer

QUESTION = "How do bats find their way in the dark?"
TRUE = "Bats find their way in the dark by echolocation."
ALSO_TRUE = "A bat sends out short calls that are too high for human ears."
INVENTED = "Bats wear small lanterns that they buy from penguins."


class _Scripted:
    """Writes the same answers, word by word, whatever is asked."""

    name = "scripted"
    refuses = True

    def __init__(self, *answers: str) -> None:
        self._answers = answers
        self.likely: float | None = None

    async def generate(
        self,
        question: str,
        references: Sequence[Reference],
        n: int,
        *,
        first: int = 0,
        likely: float | None = None,
    ) -> AsyncGenerator[Token, None]:
        self.likely = likely
        for index, answer in enumerate(self._answers[first : first + n], first):
            for piece in re.split(r"(?<= )", answer):
                yield Token(piece, index)


class _Judge:
    """Finds that sentences with one of the words answer, with its probability."""

    name = "judge"
    concurrency = 1

    def __init__(self, **words: float) -> None:
        self._words = words
        self.asked: list[str] = []

    async def ask(self, messages: Sequence[Message]) -> YesAnswer:
        text = messages[-1]["content"]
        self.asked.append(text)
        return YesAnswer(next((yes for word, yes in self._words.items() if word in text), 0.3), 10)


async def _no_network(request: PageRequest) -> Download:
    raise FetchError(f"{request.url} is on no collection")


class Ask:
    def __init__(self, data_dir: Path, ranker: Ranker) -> None:
        self._collection = Collection(EmbeddedCatalog(data_dir).open("notes"))
        self._ranker = ranker

    async def events(
        self, *answers: str, drop: bool = False, best_of: int = 1, quotes: bool = False
    ) -> list[Event]:
        pipeline = self.pipeline(_Scripted(*answers), drop=drop, best_of=best_of, quotes=quotes)
        async with aclosing(pipeline.ask(QUESTION)) as stream:
            return [event async for event in stream]

    def pipeline(
        self, generator: _Scripted, *, drop: bool = False, best_of: int = 1, quotes: bool = False
    ) -> Pipeline:
        return Pipeline(
            quoter=ExtractiveGenerator(self._ranker.scores, sentences=2, split=parts) if quotes else None,
            search=OpenedSearch(Metasearch([self._collection]), self._collection),
            fetch=_no_network,
            extractor=Sandbox(),
            ranker=self._ranker,
            generator=generator,
            scorer=SupportScorer(),
            limits=Limits(
                hits=10,
                k=5,
                wait=WaitPolicy(),
                min_relevance=0.5,
                threshold=0.5,
                drop_unsupported=drop,
                best_of=best_of,
                question_characters=4000,
            ),
        )

    async def __call__(
        self, *answers: str, drop: bool = False, best_of: int = 1, quotes: bool = False
    ) -> Answer:
        last = (await self.events(*answers, drop=drop, best_of=best_of, quotes=quotes))[-1]
        assert isinstance(last, Done)
        return last.answer


@pytest.fixture
def ask(shared_data: Path, ranker: Ranker) -> Ask:
    return Ask(shared_data, ranker)


@pytest.mark.parametrize(
    ("judge", "likely", "asked"),
    [(_Judge(echolocation=0.9), 0.9, 1), (_Judge(echolocation=0.6), 0.6, 2), (_Judge(ears=0.8), 0.8, 2)],
)
async def test_a_writer_learns_how_likely_the_best_quotation_answers(
    ask: Ask, judge: _Judge, likely: float, asked: int
) -> None:
    writer = _Scripted(REFUSAL)
    pipeline = replace(ask.pipeline(writer, quotes=True), judge=JudgedCitations(judge))
    assert (await final_answer(pipeline.ask(QUESTION))).fallback == "refused"
    assert writer.likely == likely
    assert len(judge.asked) == asked, "one that surely answers is enough"
    assert all(QUESTION in each for each in judge.asked)


async def test_what_belongs_to_the_references_is_left_out(ask: Ask) -> None:
    title = next(r for r in (await ask(TRUE)).references if "echolocation" in r.text).title_path
    answer = await ask(f"{title}: {TRUE[:-1]}, as mentioned in the references [1].")
    assert [sentence.text for sentence in answer.sentences] == [TRUE]


async def test_unsupported_sentence_is_marked_and_loses_its_marks(ask: Ask) -> None:
    answer = await ask(f"{TRUE} [7] {INVENTED} [1][2]")
    assert answer.outcome == "answered"
    assert [(s.text, s.supported) for s in answer.sentences] == [(TRUE, True), (INVENTED, False)]
    assert answer.sentences[0].citations
    assert answer.sentences[1].citations == ()
    marks = {int(number) for number in re.findall(r"\[(\d+)\]", answer.answer)}
    assert marks <= {reference.number for reference in answer.references}
    for number in answer.sentences[0].citations:
        assert "echolocation" in answer.references[number - 1].text


async def test_unsupported_sentence_is_left_out_on_request(ask: Ask) -> None:
    answer = await ask(f"{INVENTED} [1] {TRUE} [7]", drop=True)
    assert [sentence.text for sentence in answer.sentences] == [TRUE]
    assert "lanterns" not in answer.answer


@pytest.mark.parametrize("drop", [False, True])
async def test_answer_without_a_supported_sentence_is_no_evidence(ask: Ask, drop: bool) -> None:
    answer = await ask(f"{INVENTED} [1]", drop=drop)
    assert (answer.outcome, answer.answer, answer.sentences) == ("no_evidence", NO_EVIDENCE, ())
    assert answer.references


@pytest.mark.parametrize("text", ["", "   ", "[1][2]"])
async def test_empty_answer_is_no_evidence(ask: Ask, text: str) -> None:
    assert (await ask(text)).outcome == "no_evidence"


async def test_a_last_sentence_that_breaks_off_is_left_out(ask: Ask) -> None:
    answer = await ask(f"{TRUE} [1] A bat sends out short calls that are too hi")
    assert [sentence.text for sentence in answer.sentences] == [TRUE]


async def test_better_supported_candidate_wins(ask: Ask) -> None:
    answer = await ask(f"{INVENTED} {TRUE}", f"{TRUE} {ALSO_TRUE}", INVENTED, best_of=3)
    assert [sentence.text for sentence in answer.sentences] == [TRUE, ALSO_TRUE]
    scores = [candidate.score for candidate in answer.candidates]
    assert scores[1] == max(scores)
    assert scores[2] == 0.0
    assert answer.answer == answer.candidates[1].text


async def test_leaving_sentences_out_does_not_make_a_candidate_win(ask: Ask) -> None:
    answer = await ask(f"{TRUE} {INVENTED}", f"{TRUE} {ALSO_TRUE}", drop=True, best_of=2)
    assert [sentence.text for sentence in answer.sentences] == [TRUE, ALSO_TRUE]
    assert answer.candidates[0].text.startswith(TRUE)
    assert INVENTED not in answer.candidates[0].text
    assert answer.candidates[0].score < answer.candidates[1].score


async def test_equal_candidates_are_scored_once(ask: Ask) -> None:
    events = await ask.events(INVENTED, TRUE, f" {TRUE}", INVENTED, best_of=4)
    scored = next(event for event in events if isinstance(event, Scored))
    assert len(scored.candidates) == 2
    assert scored.best == 1


async def test_tokens_are_streamed_as_they_are_written(ask: Ask) -> None:
    events = await ask.events(f"{TRUE} [7]", f"{ALSO_TRUE}", best_of=2)
    tokens = [event for event in events if isinstance(event, Token)]
    assert len(tokens) > 10
    assert "".join(token.text for token in tokens if token.candidate == 0) == f"{TRUE} [7]"
    assert "".join(token.text for token in tokens if token.candidate == 1) == ALSO_TRUE


async def test_quotations_come_before_the_first_written_word(ask: Ask) -> None:
    events = await ask.events(f"{TRUE} [1]", quotes=True)
    kinds = [type(event) for event in events if not isinstance(event, Token)]
    assert kinds[-4:] == [Ranked, Quoted, Scored, Done]
    assert kinds.index(Quoted) < next(n for n, event in enumerate(events) if isinstance(event, Token))
    (quoted,) = [event for event in events if isinstance(event, Quoted)]
    assert TRUE in [sentence.text for sentence in quoted.sentences]
    assert all(sentence.supported and sentence.citations for sentence in quoted.sentences)
    done = events[-1]
    assert isinstance(done, Done)
    assert (done.answer.quotations, done.answer.fallback) == (quoted.sentences, None)
    assert [sentence.text for sentence in done.answer.sentences] == [TRUE]
    assert done.answer.timings["quote"] > 0


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("text", [f"{INVENTED} [1]", ""])
async def test_quotations_stand_where_nothing_written_is_supported(ask: Ask, text: str, drop: bool) -> None:
    answer = await ask(text, drop=drop, quotes=True)
    assert (answer.outcome, answer.fallback) == ("answered", "unsupported")
    assert answer.sentences == answer.quotations != ()
    assert "lanterns" not in answer.answer
    assert answer.answer.startswith(answer.quotations[0].text)
    shown = answer.to_json()
    assert shown["fallback"] == "unsupported"
    assert not any(candidate["won"] for candidate in shown["candidates"])


async def test_a_refusal_of_the_writer_is_no_evidence(ask: Ask) -> None:
    answer = await ask(REFUSAL, quotes=True)
    assert (answer.outcome, answer.fallback, answer.answer) == ("no_evidence", "refused", NO_SURE_ANSWER)
    assert (answer.sentences, bool(answer.quotations)) == ((), True)


async def test_a_later_sentence_does_not_refuse_what_an_earlier_one_answers(ask: Ask) -> None:
    answer = await ask(f"{TRUE} [1] {REFUSAL}")
    assert [sentence.text for sentence in answer.sentences] == [TRUE]
    assert answer.outcome == "answered"
