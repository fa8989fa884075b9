"""The answer of a demonstration, to be read, compared and rated like others."""

from __future__ import annotations

from collections.abc import Mapping

from citewell.browser.episode import Episode
from citewell.core.types import Answer, Candidate, Reference, Sentence
from citewell.generator.citations.marks import MarkedSentence, read_marks
from citewell.generator.citations.support import ReferenceText
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.demonstrations import StoredDemonstration


def written_answer(demonstration: StoredDemonstration, episode: Episode) -> StoredAnswer:
    """Return the answer of a demonstration's episode, under the id of the demonstration.

    Its references are the quotes. Citations are the person's own, and a sentence with a citation counts as
    supported: people paraphrase, which `support`, the largest ROUGE-1 precision against the cited quotes,
    misses.
    """
    references = tuple(
        Reference(number, quote.url, quote.title, quote.text, 0.0)
        for number, quote in enumerate(episode.quotes, 1)
    )
    sources = {r.number: ReferenceText(r.text, r.title) for r in references}
    written = read_marks(episode.answer or "", markdown=True)
    sentences = tuple(_sentence(marked, sources) for marked in written)
    answer = Answer(
        question=demonstration.question,
        outcome="answered",
        answer=Candidate(sentences).text,
        sentences=sentences,
        references=references,
        timings={"total": episode.seconds},
        models={"generator": episode.policy, "policy": episode.policy},
    )
    return StoredAnswer(
        id=demonstration.id,
        key_id=demonstration.key_id,
        question=demonstration.question,
        mode="demonstration",
        status="done",
        created=demonstration.created,
        seconds=episode.seconds,
        body=answer.to_json(),
        problem=None,
        settings={},
    )


def _sentence(marked: MarkedSentence, sources: Mapping[int, ReferenceText]) -> Sentence:
    support = max((sources[number].precision(marked.text) for number in marked.marks), default=0.0)
    return Sentence(
        marked.text, marked.marks, round(support, 3), supported=bool(marked.marks), before=marked.before
    )
