"""How a model wants to be asked, and how it writes: kept beside its weights by whatever trained it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from citewell.core.errors import ModelError
from citewell.generator.causal import FREQUENCY_PENALTY
from citewell.generator.prompt import PromptForm

FILE = "citewell.json"
"""In the folder of a model or of an adapter: an object with the keys of `PromptForm` and of `Manner`."""


@dataclass(frozen=True, slots=True)
class Manner:
    """The form of a model's prompts, and the frequency penalty of its answers (see `Sampling`)."""

    form: PromptForm = field(default_factory=PromptForm)
    frequency_penalty: float = FREQUENCY_PENALTY


def read_manner(folder: Path) -> Manner:
    """What the file in `folder` says, or else the defaults; raises `ModelError` where it is damaged."""
    file = folder / FILE
    if not file.is_file():
        return Manner()
    try:
        given: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        penalty = float(given.pop("frequency_penalty", FREQUENCY_PENALTY))
        return Manner(PromptForm(**given), penalty)
    except (ValueError, TypeError, AttributeError) as error:
        known = ", ".join(one.name for one in fields(PromptForm))
        raise ModelError(
            f"{file} cannot be read: {error}", f"It may have the keys {known} and frequency_penalty."
        ) from error


def write_manner(manner: Manner, folder: Path) -> None:
    """Write the file that `read_manner` reads."""
    values = asdict(manner.form) | {"frequency_penalty": manner.frequency_penalty}
    (folder / FILE).write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
