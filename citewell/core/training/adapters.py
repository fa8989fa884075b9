"""LoRA adapters of the models that are trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citewell.core.errors import ModelError
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.core.training.config import AdapterConfig
from citewell.core.weights import hub_id


def with_adapters(
    model: Any, config: AdapterConfig, task: str, base: str, *, under: Sequence[str] = ()
) -> Any:
    """Return the model with frozen weights and new adapters, by PEFT.

    `task` is PEFT's name of what the model is for. With `under`, only layers whose paths start with one of
    these are adapted. Raises `ModelError` for layers that the model, which `base` names, does not have.
    """
    from peft import LoraConfig, get_peft_model

    layers = [path for path in _linear_layers(model) if path.startswith(tuple(under) or "")]
    targets = [path for path in layers if not config.targets or path.split(".")[-1] in config.targets]
    if not targets:
        known = ", ".join(dict.fromkeys(path.split(".")[-1] for path in layers))
        raise ModelError(
            f"The model {base} has no layers {', '.join(config.targets)} to adapt.",
            f"Name some of {known} under model.lora.targets.",
        )
    return get_peft_model(
        model,
        LoraConfig(
            task_type=task,
            r=config.rank,
            lora_alpha=config.alpha,
            lora_dropout=config.dropout,
            target_modules=targets if under else sorted({path.split(".")[-1] for path in targets}),
        ),
    )


def with_trained_adapters(model: Any, folder: Path) -> Any:
    """Return the model with the adapters of a folder in PEFT's format, which are trained further."""
    from peft import PeftModel

    return PeftModel.from_pretrained(
        model, str(folder), is_trainable=True, trust_remote_code=TRUST_REMOTE_CODE
    )


def save_adapters(model: Any, folder: Path, base: str, *, half: bool = True) -> None:
    """Write the adapters in PEFT's format, by default in float16.

    The base is named by its hub id if it has one, so that PEFT finds it without Citewell.
    """
    for config in model.peft_config.values():
        config.base_model_name_or_path = hub_id(base)
    weights = {name: value.detach() for name, value in model.state_dict().items() if ".lora_" in name}
    kept = {name: (value.half() if half else value).contiguous() for name, value in weights.items()}
    # Embeddings are never adapted; to find that out, PEFT would ask the hub for the base.
    model.save_pretrained(str(folder), state_dict=kept, save_embedding_layers=False)
    # PEFT writes an empty form of a model card.
    (folder / "README.md").unlink(missing_ok=True)


def _linear_layers(model: Any) -> list[str]:
    from torch.nn import Linear
    from transformers.pytorch_utils import Conv1D

    output = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    return [
        path
        for path, module in model.named_modules()
        if isinstance(module, (Linear, Conv1D)) and module is not output
    ]
