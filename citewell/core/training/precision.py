"""Which number format a training computes in."""

from __future__ import annotations

from typing import Any, Literal

Precision = Literal["float32", "bfloat16"]


def uses_bfloat16(precision: Precision) -> bool:
    """Return whether to compute in bfloat16: on a GPU, and on a CPU that has instructions for it if asked.

    Other processors only imitate it, many times as slowly as float32.
    """
    import torch

    return torch.cuda.is_available() or (precision == "bfloat16" and _has_instructions())


def _has_instructions() -> bool:
    import torch

    mkldnn: Any = torch.backends.mkldnn
    return bool(mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported())
