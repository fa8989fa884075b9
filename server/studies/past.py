"""Answers of the history, for a study."""

from __future__ import annotations

from citewell.core.text import squeeze
from citewell.generator.citations.marks import MarkedSentence
from citewell.server.api.visibility import generator_of
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore
from citewell.server.studies.answers import SystemAnswer, known_marks, numbered_references
from citewell.server.studies.report.study_report import HUMAN

_MOST = 2_000  # answers that are looked at


async def answers_of_history(store: ServiceStore, key_id: str | None) -> list[SystemAnswer]:
    """Return the answers to questions that were asked several times, newest last; raises `StoreError`.

    They are those of one key or, with None, of all. A system is a generator with its options; the system
    `human` wrote demonstrations.
    """
    asked = await store.answers.repeated(key_id, _MOST)
    return [_answer(each) for answers in asked for each in reversed(answers) if _is_answered(each)]


def _is_answered(answer: StoredAnswer) -> bool:
    return answer.body is not None and answer.body["outcome"] == "answered"


def _answer(answer: StoredAnswer) -> SystemAnswer:
    assert answer.body is not None
    system = HUMAN if answer.mode == "demonstration" else _system(answer)
    references = numbered_references(answer.body["references"])
    sentences = [
        MarkedSentence(each["text"], tuple(each["citations"]), each.get("before"))
        for each in answer.body["sentences"]
    ]
    return SystemAnswer(
        question=squeeze(answer.question),
        system=system,
        text=answer.body["answer"].strip(),
        sentences=tuple(known_marks(sentences, len(references))),
        references=references,
    )


def _system(answer: StoredAnswer) -> str:
    options = [f"{name}={value}" for name, value in sorted(answer.settings.items()) if name != "cached"]
    return ", ".join([generator_of(answer) or "unknown", *options])
