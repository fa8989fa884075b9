"""Small studies, made as they are in the service."""

from __future__ import annotations

from citewell.server.store.studies import StoredStudy, StoredStudyItem
from citewell.server.studies.answers import SystemAnswer, answer_of_text, numbered_references
from citewell.server.studies.forms.catalog import form_named
from citewell.server.studies.making import StudyPlan, drafted, planned

QUESTIONS = ("Why is the sky blue?", "Why is the sea salty?")
SYSTEMS = ("alpha", "beta", "gamma", "human")


def written(question: str, system: str) -> SystemAnswer:
    """An answer that does not say who wrote it."""
    number = SYSTEMS.index(system) + 1
    text = f"Some say reason {number} [1]. See https://example.org/{number} [2]."
    references = [f"Passage {number}.", {"text": "More.", "title": "T"}]
    return answer_of_text(question, system, text, numbered_references(references))


def study_of(
    form: str, systems: tuple[str, ...] = SYSTEMS, questions: tuple[str, ...] = QUESTIONS, **plan: object
) -> tuple[StoredStudy, list[StoredStudyItem]]:
    """A study of these systems' answers, with the seed `seed`."""
    answers = [written(question, system) for question in questions for system in systems]
    found = form_named(form)
    values = {"name": "A study", "form": found, "seed": "seed"} | plan
    return planned(StudyPlan(**values), drafted(answers, found))  # type: ignore[arg-type]
