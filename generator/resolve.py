"""Resolve the name of a local language model to its weights, its adapter and its runtime."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from citewell.core.errors import ModelError
from citewell.core.lora import CONFIG
from citewell.core.weights import local_name, locate
from citewell.generator.defaults import GenerationDefaults, read_defaults

ADAPTERS = Path(__file__).parent / "adapters"
"""The adapters that come with Citewell: one folder each, named like the generator."""

_SHIPPED_BASE = "SmolLM2-135M-Instruct"


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A language model. `base` is a GGUF file, a packaged model, a folder or a hub id.

    `adapter` is the folder of a LoRA adapter for it; `is_gguf` says whether it runs on OpenVINO, as GGUF
    files do, or on transformers. `judge` is the folder of an adapter that only its judgments use.
    """

    name: str
    base: str
    is_gguf: bool
    adapter: Path | None = None
    judge: Path | None = None
    defaults: GenerationDefaults = field(default_factory=GenerationDefaults)


def resolve(name: str, judge_adapter: str = "") -> ModelSource:
    """Resolve `name` without loading the model.

    A name is a packaged model, a shipped adapter, a GGUF file, a folder with a model in the Hugging Face
    layout, a folder with an adapter in the PEFT format, or a hub id. `judge_adapter` is the setting of that
    name. Raises `WeightsMissingError` if a packaged model is not installed, and `ModelError` for anything
    else, such as a packaged encoder, and for a judge's adapter that the model cannot use.
    """
    source = _resolve(name)
    if not judge_adapter:
        return source
    if not source.is_gguf:
        raise ModelError(
            f"{name} is not a GGUF model, and cannot judge with the adapter {judge_adapter}.",
            "Remove generator.judge_adapter, or name a GGUF file as the generator.",
        )
    return replace(source, judge=Path(judge_adapter))


def _resolve(name: str) -> ModelSource:
    if is_shipped(name):
        return _adapted(name, ADAPTERS / name, _SHIPPED_BASE)
    weights = locate(name, role="writer")
    folder = weights.path
    if folder is None or weights.is_gguf:
        return ModelSource(name, name, weights.is_gguf)
    if (folder / CONFIG).is_file() and not (folder / "config.json").is_file():
        return _adapted(name, folder, _base(folder))
    return ModelSource(name, str(folder), is_gguf=False, defaults=read_defaults(folder))


def is_shipped(name: str) -> bool:
    """Return whether `name` is an adapter that comes with Citewell."""
    return name.isprintable() and Path(name).name == name != "" and (ADAPTERS / name / CONFIG).is_file()


def shipped() -> list[str]:
    """Return the names of the adapters that come with Citewell."""
    return sorted(file.parent.name for file in ADAPTERS.glob(f"*/{CONFIG}"))


def packaged_base(name: str) -> str:
    """Return the packaged base model of the generator `name`; `name` itself if it has none."""
    return _SHIPPED_BASE if is_shipped(name) else name


def _adapted(name: str, adapter: Path, base: str) -> ModelSource:
    base = local_name(base)
    weights = locate(base, role="writer")
    path = base if weights.is_gguf or weights.path is None else str(weights.path)
    return ModelSource(name, path, weights.is_gguf, adapter, defaults=read_defaults(adapter))


def _base(adapter: Path) -> str:
    file = adapter / CONFIG
    try:
        base = json.loads(file.read_text(encoding="utf-8")).get("base_model_name_or_path")
    except (ValueError, AttributeError) as error:
        raise ModelError(f"{file} cannot be read: {error}", "Copy or train the adapter again.") from error
    if not isinstance(base, str) or not base:
        raise ModelError(
            f"The adapter {adapter} does not say what its base model is.",
            f"Write the model's name into {file}, as base_model_name_or_path.",
        )
    return base
