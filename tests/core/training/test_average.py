"""The moving average of weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from citewell.core.training.average import Average


def weight(model: torch.nn.Module) -> float:
    return float(next(model.parameters()).detach()[0, 0])


def test_it_follows_the_weights_and_lends_itself(tmp_path: Path) -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(1.0)
    average = Average(model, 0.5)
    with torch.no_grad():
        model.weight.fill_(2.0)
    average.update()  # the first step counts nine tenths
    with average.used():
        assert weight(model) == pytest.approx(1.9)
    assert weight(model) == 2.0
    for _ in range(20):
        average.update()
    average.save(tmp_path)
    other = Average(model, 0.5)
    other.load(tmp_path)
    other.apply()
    assert weight(model) == pytest.approx(2.0, abs=1e-3)
