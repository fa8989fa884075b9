"""The first weights of the value function: the reward model's, if it has the same base (InstructGPT §3.5)."""

from __future__ import annotations

from typing import Any

from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.reinforcement.networks import VALUE, PolicyNetworks
from citewell.scorer.load import PreferenceScorer, scorer_folder
from citewell.scorer.model import ADAPTER, HEAD


def start_value(networks: PolicyNetworks, scorer: PreferenceScorer, bias: float) -> str:
    """Load the reward model into the value function if it fits, and return a line that says so or why not.

    Its scores, less `bias`, are what the first values predict.
    """
    form = scorer.form
    reasons = {
        "the value function has no adapter of its own": not networks.own_value,
        f"its base is {form.base}": form.base not in (networks.source.name, networks.source.base),
        f"its pooling is {form.pooling}": form.pooling != "last",
        "all of its weights were trained": form.tuning != "lora",
        f"it has only {form.depth} layers": form.depth is not None,
    }
    if reason := next((each for each, holds in reasons.items() if holds), ""):
        return f"The value function does not begin as the reward model: {reason}."
    _load(networks, scorer, bias)
    return "The value function begins as the reward model."


def _load(networks: PolicyNetworks, scorer: PreferenceScorer, bias: float) -> None:
    import torch
    from peft import PeftConfig, set_peft_model_state_dict
    from safetensors.torch import load_file

    folder = scorer_folder(scorer.name)
    model: Any = networks.model
    model.delete_adapter(VALUE)
    config = PeftConfig.from_pretrained(str(folder / ADAPTER), trust_remote_code=TRUST_REMOTE_CODE)
    model.add_adapter(VALUE, _for_causal(config))
    weights = load_file(folder / ADAPTER / "adapter_model.safetensors")
    # The reward model's paths begin at its backbone, which is `model` in a causal language model.
    inner = next(
        name for name, module in model.get_base_model().named_modules() if module is networks.backbone
    )
    before, after = "base_model.model.", f"base_model.model.{inner}."
    renamed = {name.replace(before, after, 1): value.float() for name, value in weights.items()}
    set_peft_model_state_dict(model, renamed, adapter_name=VALUE)
    head = load_file(folder / HEAD)
    with torch.no_grad():
        networks.head.weight.copy_(head["weight"].float() / scorer.form.std)
        networks.head.bias.copy_((head["bias"].float() - scorer.form.mean) / scorer.form.std - bias)
    networks.find_trained()


def _for_causal(config: Any) -> Any:
    config.task_type = "CAUSAL_LM"
    return config
