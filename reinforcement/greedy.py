"""The answers that readers would get from a policy: greedy, as its start is prompted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citewell.core.training.precision import Precision
from citewell.generator.training.writing import write_answers
from citewell.reinforcement.networks import POLICY, PolicyNetworks, autocast
from citewell.reinforcement.rollout import PromptedQuestion


def load_policy(networks: PolicyNetworks, folder: Path) -> None:
    """Give the policy the weights of an adapter that a run from the same start wrote."""
    from peft import set_peft_model_state_dict
    from safetensors.torch import load_file

    weights = {name: value.float() for name, value in load_file(folder / "adapter_model.safetensors").items()}
    set_peft_model_state_dict(networks.model, weights, adapter_name=POLICY)


def greedy_answers(
    networks: PolicyNetworks, asked: Sequence[PromptedQuestion], *, tokens: int, precision: Precision
) -> list[str]:
    """Return the policy's answer of at most `tokens` tokens to each question."""
    networks.use(POLICY)
    with autocast(networks.model.device, precision):
        return write_answers(
            networks.model,
            networks.tokenizer,
            [networks.tokenizer.decode(each.prompt) for each in asked],
            most=tokens,
            frequency_penalty=networks.source.defaults.frequency_penalty,
        )
