"""The cross-encoder to train, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citewell.core.errors import ModelError
from citewell.core.training.adapters import save_adapters, with_adapters
from citewell.core.training.checkpoints import trained
from citewell.core.weights import verify
from citewell.retriever.cross_encoder.form import (
    ADAPTER,
    FORM,
    HEAD,
    LAYERS,
    CrossEncoderForm,
    read_cross_encoder_form,
)
from citewell.retriever.cross_encoder.resolve import base_tower, trained_folder
from citewell.retriever.cross_encoder.training.collate import padded_pairs
from citewell.retriever.cross_encoder.training.config import RerankerModelConfig
from citewell.retriever.encoder.batches import plan
from citewell.retriever.encoder.engines.torch import load_model
from citewell.retriever.encoder.int8 import read_int8, write_int8
from citewell.retriever.encoder.resolve import PoolingMode

DONE = FORM
"""A file that only the folder of a trained cross-encoder has."""
_HEAD_DEVIATION = 0.02
_BATCH_TOKENS = 2048


def build_model(config: RerankerModelConfig, seed: int) -> Any:
    """Return a module with the parts `body` and `head`; the body is the base, frozen, with new adapters.

    With the tuning `full`, it has no adapters, and its layers are not frozen. With `start`, training begins
    from the weights of that cross-encoder. Raises `ModelError` for a base that cannot be loaded, for LoRA
    targets that it does not have, and for a start of another form.
    """
    import torch
    from torch import nn

    verify(config.base)
    body = load_model(base_tower(config.base))
    for module in body.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    torch.manual_seed(seed)
    if config.tuning == "full":
        body.requires_grad_(False)
        body.encoder.requires_grad_(True)
    else:
        # A pooler after the layers is not used, and would be adapted in vain.
        body = with_adapters(body, config.lora, "FEATURE_EXTRACTION", config.base, under=["encoder."])
    head = nn.Linear(body.config.hidden_size, 1)
    nn.init.normal_(head.weight, std=_HEAD_DEVIATION)
    nn.init.zeros_(head.bias)
    model = nn.ModuleDict({"body": body, "head": head})
    if config.start is not None:
        _begin(model, config)
    return model


def pair_scores(model: Any, inputs: dict[str, Any], pooling: PoolingMode) -> Any:
    """Return the scores of padded pairs, an (n,) tensor."""
    states = model["body"](**inputs).last_hidden_state.float()
    if pooling == "cls":
        pooled = states[:, 0]
    else:
        mask = inputs["attention_mask"].unsqueeze(-1)
        pooled = (states * mask).sum(dim=1) / mask.sum(dim=1)
    return model["head"](pooled)[:, 0].float()


def all_scores(
    model: Any, pairs: Sequence[Sequence[int]], pooling: PoolingMode, *, bfloat16: bool
) -> list[float]:
    """Return the scores of pairs of token ids, in batches of similar length."""
    import torch

    found = [0.0] * len(pairs)
    model.eval()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        for batch in plan([len(pair) for pair in pairs], _BATCH_TOKENS) if pairs else ():
            inputs = padded_pairs([pairs[place] for place in batch])
            inputs = {name: value.to(model["head"].weight.device) for name, value in inputs.items()}
            for place, score in zip(batch, pair_scores(model, inputs, pooling).tolist(), strict=True):
                found[place] = score
    return found


def save_model(
    model: Any, folder: Path, config: RerankerModelConfig, calibration: tuple[float, float] | None
) -> None:
    """Write the adapter in PEFT's format or the layers as int8, the head and the form."""
    from safetensors.torch import save_file

    if config.tuning == "full":
        layers = {name: value.detach().cpu().numpy() for name, value in trained(model["body"]).items()}
        write_int8(folder / LAYERS, layers)
    else:
        save_adapters(model["body"], folder / ADAPTER, config.base)
    head = {name: value.detach().contiguous() for name, value in model["head"].state_dict().items()}
    save_file(head, folder / HEAD)
    form = CrossEncoderForm(
        base=config.base,
        tuning=config.tuning,
        pooling=config.pooling,
        max_tokens=config.max_tokens,
        question_tokens=config.question_tokens,
        calibration=calibration,
    )
    (folder / FORM).write_text(form.shown() + "\n", encoding="utf-8")


def _begin(model: Any, config: RerankerModelConfig) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    name = config.start or ""
    folder = trained_folder(name)
    problem = "it is not a cross-encoder that Citewell trained"
    if folder is not None:
        form = read_cross_encoder_form(folder)
        try:
            problem = _load_body(model["body"], folder, config)
            model["head"].load_state_dict(load_file(folder / HEAD))
        except (OSError, SafetensorError, RuntimeError) as error:
            problem = str(error)
        if (form.base, form.tuning, form.pooling) != (config.base, config.tuning, config.pooling):
            problem = f"its base is {form.base}, its tuning {form.tuning}, its pooling {form.pooling}"
    if problem:
        raise ModelError(
            f"The cross-encoder {name} cannot be the start: {problem}.",
            "Give the model section that it was trained with; its run.json has it.",
        )


def _load_body(body: Any, folder: Path, config: RerankerModelConfig) -> str:
    """Load the trained weights of the body; return what does not fit, or nothing."""
    if config.tuning == "full":
        import torch

        tensors = read_int8(folder / LAYERS)
        found: Any = body.load_state_dict(
            {name: torch.from_numpy(value) for name, value in tensors.items()}, strict=False
        )
        alone = [name for name in trained(body) if name not in tensors] + found.unexpected_keys
    else:
        from peft import set_peft_model_state_dict
        from safetensors.torch import load_file

        found = set_peft_model_state_dict(body, load_file(folder / ADAPTER / "adapter_model.safetensors"))
        alone = [each for each in found.missing_keys if ".lora_" in each] + found.unexpected_keys
    return f"{alone[0]} is in one of them only" if alone else ""
