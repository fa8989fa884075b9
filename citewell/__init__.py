"""Answers questions in long form, with every sentence cited and every citation checked.

>>> import citewell
>>> citewell.ask("What is a collection in Citewell?").outcome
'answered'

What is here is loaded at its first use, so importing Citewell is quick. docs/python.md shows all of it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from citewell.api import ask, load_encoder, load_ranker, load_scorer, retrieve
    from citewell.core import events
    from citewell.core.errors import CitewellError
    from citewell.core.events import final_answer
    from citewell.core.settings import Settings, load_settings
    from citewell.core.types import Answer, Candidate, Failure, Page, Passage, Reference, Sentence
    from citewell.generator.citations.correction import check_citations
    from citewell.pipeline.build import open_pipeline
    from citewell.pipeline.pipeline import Pipeline
    from citewell.retriever.extract.page import extract

# OpenVINO reports its use to a web service unless this package of its own is missing.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

__all__ = [
    "Answer",
    "Candidate",
    "CitewellError",
    "Failure",
    "Page",
    "Passage",
    "Pipeline",
    "Reference",
    "Sentence",
    "Settings",
    "ask",
    "check_citations",
    "events",
    "extract",
    "final_answer",
    "load_encoder",
    "load_ranker",
    "load_scorer",
    "load_settings",
    "open_pipeline",
    "retrieve",
]

_MODULES = {
    "api": ("ask", "load_encoder", "load_ranker", "load_scorer", "retrieve"),
    "core.errors": ("CitewellError",),
    "core.events": ("final_answer",),
    "core.settings": ("Settings", "load_settings"),
    "core.types": ("Answer", "Candidate", "Failure", "Page", "Passage", "Reference", "Sentence"),
    "generator.citations.correction": ("check_citations",),
    "pipeline.build": ("open_pipeline",),
    "pipeline.pipeline": ("Pipeline",),
    "retriever.extract.page": ("extract",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "events":
        return import_module("citewell.core.events")
    if name not in _HOMES:
        raise AttributeError(f"module 'citewell' has no attribute {name!r}")
    return getattr(import_module(f"citewell.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
