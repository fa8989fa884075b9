"""LoRA adapters of the models that are trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from citewell.core.errors import ModelError
from citewell.core.section import Section


class LoraConfig(Section):
    """The adapters, as PEFT names their parts (https://arxiv.org/abs/2106.09685)."""

    rank: int = Field(16, ge=1, le=512, description="Rank of the two small matrices.")
    alpha: int = Field(32, ge=1, description="The adapter's output is scaled by alpha / rank.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Share of the adapter's input that is dropped.")


def with_adapters(model: Any, config: LoraConfig, targets: Sequence[str], task: str, base: str) -> Any:
    """The model with frozen weights and new adapters in the layers `targets`, by PEFT.

    `task` is PEFT's name of what the model is for. Raises `ModelError` for layers that the model, which
    `base` names, does not have.
    """
    from peft import LoraConfig as PeftConfig
    from peft import get_peft_model

    try:
        return get_peft_model(
            model,
            PeftConfig(
                task_type=task,
                r=config.rank,
                lora_alpha=config.alpha,
                lora_dropout=config.dropout,
                target_modules=list(targets),
            ),
        )
    except ValueError as error:
        raise ModelError(
            f"The model {base} takes no adapters in the layers {', '.join(targets)}: {error}",
            "Name linear layers of this model under model.lora.targets.",
        ) from error
