"""A model's own prompt form and sampling defaults, which its training stores beside its weights."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from citewell.core.errors import ModelError
from citewell.generator.causal import FREQUENCY_PENALTY
from citewell.generator.prompt import PromptForm

FILE = "citewell.json"
"""In the folder of a model or an adapter: an object with the keys of `PromptForm` and `frequency_penalty`."""


@dataclass(frozen=True, slots=True)
class GenerationDefaults:
    """The form of a model's prompts, and the frequency penalty of its answers (see `Sampling`)."""

    form: PromptForm = field(default_factory=PromptForm)
    frequency_penalty: float = FREQUENCY_PENALTY


def read_defaults(folder: Path) -> GenerationDefaults:
    """Read the file in `folder`, if it exists; raises `ModelError` if it is damaged."""
    file = folder / FILE
    if not file.is_file():
        return GenerationDefaults()
    try:
        given: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        penalty = float(given.pop("frequency_penalty", FREQUENCY_PENALTY))
        given |= {"examples": tuple(given["examples"])} if "examples" in given else {}
        return GenerationDefaults(PromptForm(**given), penalty)
    except (ValueError, TypeError, AttributeError) as error:
        known = ", ".join(one.name for one in fields(PromptForm))
        raise ModelError(
            f"{file} cannot be read: {error}", f"It may have the keys {known} and frequency_penalty."
        ) from error


def write_defaults(defaults: GenerationDefaults, folder: Path) -> None:
    """Write the file that `read_defaults` reads."""
    values = asdict(defaults.form) | {"frequency_penalty": defaults.frequency_penalty}
    (folder / FILE).write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
