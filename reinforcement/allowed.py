"""The tokens that a grammar allowed when a completion was drawn, a bit each.

What is drawn among allowed tokens has the probability of its token divided by that of all of them. The policy
and the start are both read so, else their ratios would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def packed(allowed: torch.Tensor) -> torch.Tensor:
    """Return booleans of shape (rows, vocabulary) as bits, (rows, ⌈vocabulary / 8⌉) bytes on the CPU."""
    import numpy as np
    import torch

    return torch.from_numpy(np.packbits(allowed.numpy(force=True), axis=-1))


def unpacked(bits: torch.Tensor, vocabulary: int) -> torch.Tensor:
    """Return the booleans that `packed` packed, on the device of the bits."""
    import torch

    places = torch.arange(7, -1, -1, device=bits.device, dtype=torch.uint8)
    return ((bits[..., None] >> places) & 1).bool().flatten(-2)[..., :vocabulary]


def joined(allowed: Sequence[torch.Tensor | None], lengths: Sequence[int]) -> torch.Tensor | None:
    """Return the bits of completions of these lengths, one after the other; None if no grammar held any."""
    import torch

    width = next((each.shape[-1] for each in allowed if each is not None), None)
    if width is None:
        return None
    free = torch.full((1, width), 255, dtype=torch.uint8)
    return torch.cat(
        [
            free.expand(length, -1) if each is None else each
            for each, length in zip(allowed, lengths, strict=True)
        ]
    )
