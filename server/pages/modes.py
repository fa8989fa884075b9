"""The ways to answer a question: the choices of the form, and the one that an answer was made with."""

from __future__ import annotations

from citewell.generator.auto import EXTRACTIVE
from citewell.server.api.schemas import AnswerResponse
from citewell.server.services import Services
from citewell.server.work.errors import NotReadyError
from citewell.server.work.generator_names import generator_names

WRITER = "writer:"
"""What the value of a choice begins with that names a writer."""

_QUOTED, _BROWSED = ("quote", "Quote only"), ("browse", "Browse step by step")


def modes(services: Services) -> tuple[tuple[str, str], ...]:
    """Return the values and the words of the choices, the usual one first."""
    names = generator_names(services.settings)
    listed = map(names.shown, services.settings.server.generators)
    others = [(WRITER + name, f"Write with {name}") for name in dict.fromkeys(listed)]
    usual = (("", "Write"), *others, _QUOTED) if writes(services) else (("", "Quote"), *others)
    return (*usual, _BROWSED)


def writes(services: Services) -> bool:
    """Return whether a language model writes answers, as far as is known before it is loaded."""
    try:
        return services.pipelines.get().writes
    except NotReadyError:
        return services.settings.generator.name != EXTRACTIVE


def writer_of(answer: AnswerResponse) -> str:
    """Return the name of the language model that wrote an answer; empty if it was quoted."""
    name = answer.models.get("generator", "")
    return "" if name == EXTRACTIVE else name


def mode_of(answer: AnswerResponse) -> str:
    """Return the value of the choice that stands for the options of a question."""
    if answer.mode == "browse":
        return "browse"
    generator = str(answer.options.get("generator") or "")
    return "quote" if generator == EXTRACTIVE else WRITER + generator if generator else ""
