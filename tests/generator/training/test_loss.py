"""The loss is that of the answers' tokens, however rows are laid out."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from citewell.generator.training.collate import IGNORED, packed, padded
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.training.loss import answer_loss, answer_tokens
from tests.generator.training.made_up import write_llama

ROWS = (
    TokenizedExample(tuple(range(10, 40)), (50, 51, 52, 1)),
    TokenizedExample(tuple(range(60, 72)), (80, 81, 1)),
    TokenizedExample(tuple(range(90, 121)), (99, 1)),
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(write_llama(tmp_path_factory.mktemp("llama"))).eval()


def by_hand(model: Any, row: TokenizedExample) -> float:
    ids = torch.tensor([[*row.prompt, *row.answer]])
    logits = model(ids).logits[0].log_softmax(-1)
    start = len(row.prompt)
    return -sum(logits[start + n - 1, token].item() for n, token in enumerate(row.answer))


@pytest.mark.parametrize("lay", [padded, packed])
def test_it_is_the_sum_over_all_answers(model: Any, lay: Any) -> None:
    part = lay(ROWS)
    with torch.no_grad():
        loss = float(answer_loss(model, part))
    assert loss == pytest.approx(sum(by_hand(model, row) for row in ROWS), rel=1e-4)
    assert answer_tokens(part) == 9


def test_its_gradient_is_that_of_the_model_s_own_loss(model: Any) -> None:
    part = padded(ROWS)
    own = model(**part, use_cache=False).loss * answer_tokens(part)
    (expected,) = torch.autograd.grad(own, model.model.layers[0].mlp.up_proj.weight)
    (found,) = torch.autograd.grad(answer_loss(model, part), model.model.layers[0].mlp.up_proj.weight)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_only_answers_have_labels() -> None:
    labels = padded(ROWS)["labels"]
    assert labels.shape == (3, 34)
    assert [row[row != IGNORED].tolist() for row in labels] == [list(each.answer) for each in ROWS]
