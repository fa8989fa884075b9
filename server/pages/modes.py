"""The ways to answer a question: the choices of the form, and the one that an answer was made with."""

from __future__ import annotations

from citewell.server.api.schemas import AnswerResponse
from citewell.server.services import Services
from citewell.server.work.errors import NotReadyError

_QUOTED, _BROWSED = ("quote", "Quote only"), ("browse", "Browse step by step")


def modes(services: Services) -> tuple[tuple[str, str], ...]:
    """Return the values and the words of the choices, the usual one first."""
    try:
        writes = services.pipelines.get().writes
    except NotReadyError:
        writes = services.settings.generator.name != "extractive"
    return (("", "Write"), _QUOTED, _BROWSED) if writes else (("", "Quote"), _BROWSED)


def mode_of(answer: AnswerResponse) -> str:
    """Return the value of the choice that stands for the options of a question."""
    if answer.mode == "browse":
        return "browse"
    return "quote" if answer.options.get("extractive") else ""
