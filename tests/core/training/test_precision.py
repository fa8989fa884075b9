"""The number format of a training."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from citewell.core.training.config import OptimizationConfig, PartedOptimizationConfig
from citewell.core.training.precision import uses_bfloat16
from citewell.core.training.trainer import planned_arguments


def test_float32_stays_unless_there_is_a_gpu() -> None:
    assert uses_bfloat16("float32") is torch.cuda.is_available()


@pytest.mark.parametrize("training", [OptimizationConfig(), PartedOptimizationConfig()])
def test_every_training_computes_in_bfloat16_on_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, training: OptimizationConfig
) -> None:
    for gpu in (True, False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda gpu=gpu: gpu)
        found = planned_arguments(training, tmp_path, None, steps=1, higher=True, resumed=False)
        assert (found["bf16"], found["use_cpu"]) == (gpu, not gpu)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU always computes in bfloat16")
@pytest.mark.skipif(uses_bfloat16("bfloat16"), reason="this processor has instructions for bfloat16")
def test_bfloat16_is_not_imitated() -> None:
    """Where it is turned down, it is slower."""

    def seconds(of: torch.dtype) -> float:
        one, other = torch.ones(256, 576, dtype=of), torch.ones(576, 1536, dtype=of)
        spent = []
        for _ in range(4):
            before = time.perf_counter()
            one @ other
            spent.append(time.perf_counter() - before)
        return min(spent)

    assert seconds(torch.bfloat16) > seconds(torch.float32)
