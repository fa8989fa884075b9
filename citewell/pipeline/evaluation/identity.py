"""The settings of a generator under evaluation, and what identifies the answers that it gives by them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from citewell.core.errors import CitewellError
from citewell.core.settings import Settings
from citewell.core.weights import locate
from citewell.generator.auto import resolve_auto
from citewell.generator.resolve import ADAPTERS, is_shipped

DEFAULT = "default"
"""The name of the generator of the settings."""


def with_generator(settings: Settings, name: str) -> Settings:
    """Return settings with the generator `name`; `auto` is replaced by what it stands for."""
    wanted = settings.generator if name == DEFAULT else settings.generator.model_copy(update={"name": name})
    return settings.model_copy(update={"generator": resolve_auto(wanted).settings})


def identity_of(settings: Settings, **more: Any) -> str:
    """Return a digest of what an answer depends on besides its question: settings and weights.

    `more` are plain values that it depends on too.
    """
    generator = settings.generator.model_dump(mode="json")
    parts: dict[str, Any] = {
        "generator": generator | {"weights": _weights(settings.generator.name)},
        "citations": settings.citations.model_dump(mode="json"),
        "encoder": [settings.retriever.encoder, _weights(settings.retriever.encoder)],
        "reader": settings.retriever.reader,
    }
    return hashlib.sha256(json.dumps(parts | more, sort_keys=True).encode()).hexdigest()[:16]


def _weights(name: str) -> str:
    try:
        return locate(str(ADAPTERS / name) if is_shipped(name) else name).fingerprint
    except CitewellError:
        return ""  # a service, or a name that `open_pipeline` resolves or rejects
