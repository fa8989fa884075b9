"""Answers to many prompts at once, greedily, with the weights as they are while they are trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_TOGETHER = 8


def write_answers(
    model: Any, tokenizer: Any, prompts: Sequence[str], *, most: int, frequency_penalty: float
) -> list[str]:
    """Return the answer of at most `most` tokens to each of `n` prompts; n texts.

    The texts are those of `citewell.generator.transformers.TransformersModel`, which writes one after
    another; a batch takes little longer than one text, since a small model's weights are read once for all.
    """
    answers: list[str] = []
    for start in range(0, len(prompts), _TOGETHER):
        some = prompts[start : start + _TOGETHER]
        ids = [tokenizer.encode(prompt, add_special_tokens=False) for prompt in some]
        answers += _write(model, tokenizer, ids, most, frequency_penalty)
    return answers


def _write(model: Any, tokenizer: Any, prompts: Sequence[list[int]], most: int, penalty: float) -> list[str]:
    import torch
    from transformers import GenerationConfig, LogitsProcessorList

    longest = max(map(len, prompts))
    # Padded on the left, so that all answers begin at the same position.
    ids = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts], device=model.device)
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])

    def penalize(written: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        answer = written[:, longest:]
        counts = torch.zeros_like(logits)
        counts.scatter_add_(1, answer, torch.ones_like(answer, dtype=logits.dtype))
        return logits - penalty * counts

    end = tokenizer.eos_token_id
    config = GenerationConfig(  # type: ignore[no-untyped-call]
        max_new_tokens=most, do_sample=False, eos_token_id=end, pad_token_id=end
    )
    processors: Any = LogitsProcessorList([penalize])
    with torch.no_grad():
        written = model.generate(
            input_ids=ids,
            attention_mask=mask.to(model.device),
            generation_config=config,
            logits_processor=processors,
        )
    texts: list[str] = tokenizer.batch_decode(written[:, longest:], skip_special_tokens=True)
    return texts
