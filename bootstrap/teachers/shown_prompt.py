"""The prompt of a teacher as a data card shows it."""

from __future__ import annotations

from citewell.bootstrap.config import TeacherPromptConfig
from citewell.core.errors import ModelError, WeightsMissingError
from citewell.core.settings import GeneratorSettings
from citewell.generator.auto import AUTO, EXTRACTIVE, OPENAI, resolve_auto
from citewell.generator.prompt import WEBGLM, Message
from citewell.generator.resolve import resolve

_RECORDED, _SELF = "recorded", "self"
_QUESTION = "(the question)"
_REFERENCES = ((1, "(the first reference)"), (2, "(the second reference)"), (3, "…"))


def shown_prompt(name: str, prompt: TeacherPromptConfig, settings: GeneratorSettings) -> list[Message]:
    """Return the messages of the teacher `name`, as `--teacher` takes it, for any question.

    There are none for a teacher without a prompt, and for one whose weights are on other machines only.
    """
    kind, _, inner = name.partition(":")
    inner = (inner or settings.name) if kind == _SELF else name
    if inner == AUTO:
        inner = resolve_auto(settings).settings.name
    if inner in (_RECORDED, EXTRACTIVE):
        return []
    if inner.startswith(OPENAI):
        return prompt.form(WEBGLM).messages(_QUESTION, _REFERENCES)
    try:
        return prompt.form(resolve(inner).defaults.form).messages(_QUESTION, _REFERENCES)
    except (ModelError, WeightsMissingError):
        return []
