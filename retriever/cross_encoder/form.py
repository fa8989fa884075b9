"""The file beside a cross-encoder's weights: its base, and how its input and output are made."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from citewell.core.errors import ModelError
from citewell.core.section import Section
from citewell.retriever.encoder.resolve import PoolingMode

FORM = "cross_encoder.json"
ADAPTER = "adapter"
LAYERS = "layers.safetensors"
HEAD = "head.safetensors"


class CrossEncoderForm(Section):
    """The `cross_encoder.json` of a cross-encoder that `citewell train reranker` wrote.

    Beside it are a LoRA adapter of the weights `base` or, with `tuning` full, all layers in its place, and
    the head, a linear layer from the pooled states to one number. With `calibration`, a slope and a shift of
    this number, it was trained on claims.
    """

    version: Literal[1] = 1
    base: str = Field(min_length=1)
    tuning: Literal["lora", "full"] = "lora"
    pooling: PoolingMode
    max_tokens: int = Field(ge=16)
    question_tokens: int = Field(ge=4)
    calibration: tuple[float, float] | None = None


def read_cross_encoder_form(folder: Path) -> CrossEncoderForm:
    """Return the form in a folder; raises `ModelError` if it is damaged."""
    try:
        return CrossEncoderForm.model_validate_json((folder / FORM).read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise ModelError(
            f"The cross-encoder in {folder} cannot be read: {error}", "Copy or train it again."
        ) from error
