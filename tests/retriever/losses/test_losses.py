"""The objectives: their values against plain arithmetic, and finite gradients whatever a batch lacks."""

from __future__ import annotations

import doctest
import importlib
import math

import pytest
import torch
from torch import Tensor, nn

from citewell.retriever.losses.contrastive import Contrastive
from citewell.retriever.losses.encoder_kl import BEFORE, EncoderKl
from citewell.retriever.losses.inner_product_mse import InnerProductMse
from citewell.retriever.losses.lists import RankedLists
from citewell.retriever.losses.listwise_kl import ListwiseKl
from citewell.retriever.losses.margin_mse import MarginMse
from citewell.retriever.losses.mixture import Mixture, WeightedObjective

NAN = math.nan
OBJECTIVES = [InnerProductMse(), Contrastive(), ListwiseKl(), MarginMse(), EncoderKl()]
MODULES = ["contrastive", "encoder_kl", "inner_product_mse", "listwise_kl", "margin_mse"]


def lists(
    targets: list[list[float]],
    negatives: list[list[bool]] | None = None,
    weights: list[float] | None = None,
    before: Tensor | None = None,
    source: str = "",
) -> RankedLists:
    labels = torch.tensor(targets)
    return RankedLists(
        labels,
        labels.isnan() if negatives is None else torch.tensor(negatives),
        torch.tensor(weights) if weights is not None else torch.ones(len(targets)),
        {} if before is None else {BEFORE: before},
        source,
    )


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_documentation_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"citewell.retriever.losses.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_inner_products_are_compared_with_labels_list_by_list() -> None:
    scores = torch.tensor([[0.5, 0.1, 0.9], [0.2, 0.4, 0.3]])
    loss = InnerProductMse()(scores, lists([[1.0, 0.0, NAN], [NAN, NAN, 0.1]]))
    first = ((0.5 - 1.0) ** 2 + 0.1**2) / 2
    assert loss.item() == pytest.approx((first + (0.3 - 0.1) ** 2) / 2)


def test_a_question_counts_its_weight() -> None:
    scores = torch.tensor([[0.5], [0.5]])
    loss = InnerProductMse()(scores, lists([[1.0], [0.0]], weights=[2.0, 4.0]))
    assert loss.item() == pytest.approx((2 * 0.25 + 4 * 0.25) / 2)


def test_contrastive_sets_each_positive_against_explicit_and_in_batch_negatives() -> None:
    scores = torch.tensor([[0.9, 0.8, 0.3, 0.5]])
    loss = Contrastive(temperature=0.1)(scores, lists([[1.0, 1.0, 0.0, NAN]]))
    below = math.exp(3) + math.exp(5)
    first = -math.log(math.exp(9) / (math.exp(9) + below))
    second = -math.log(math.exp(8) / (math.exp(8) + below))
    assert loss.item() == pytest.approx((first + second) / 2, rel=1e-5)


def test_a_passage_that_also_answers_the_question_is_no_negative() -> None:
    scores = torch.tensor([[0.9, 0.9, 0.1]], requires_grad=True)
    loss = Contrastive()(scores, lists([[1.0, NAN, NAN]], negatives=[[False, False, True]]))
    loss.backward()
    assert scores.grad is not None
    assert scores.grad[0, 1].item() == 0
    assert loss.item() < 1e-6


def test_labels_just_below_the_best_one_are_left_out_of_the_contrast() -> None:
    scores = torch.tensor([[0.5, 0.5, 0.5]], requires_grad=True)
    Contrastive(margin=0.2)(scores, lists([[0.9, 0.8, 0.1]])).backward()
    assert scores.grad is not None
    assert scores.grad[0, 1].item() == 0
    assert scores.grad[0, 0].item() < 0 < scores.grad[0, 2].item()


def test_listwise_kl_is_the_divergence_of_two_softmaxes() -> None:
    scores, labels = torch.tensor([[0.3, 0.1, 0.7]]), torch.tensor([1.0, 3.0, 2.0])
    loss = ListwiseKl(temperature=0.5, teacher_temperature=2.0)(scores, lists([labels.tolist()]))
    teacher, student = (labels / 2).softmax(0), (scores[0] / 0.5).softmax(0)
    assert loss.item() == pytest.approx(float((teacher * (teacher / student).log()).sum()), rel=1e-5)


def test_listwise_kl_reads_only_the_passages_of_the_list() -> None:
    whole = lists([[1.0, 3.0]])
    part = lists([[1.0, NAN, 3.0]])
    loss = ListwiseKl()
    expected = loss(torch.tensor([[0.3, 0.1]]), whole)
    assert loss(torch.tensor([[0.3, 5.0, 0.1]]), part).item() == pytest.approx(expected.item(), rel=1e-5)


def test_margin_mse_is_the_mean_over_all_pairs() -> None:
    scores, labels = [0.2, 0.5, 0.9], [1.0, 4.0, 2.0]
    loss = MarginMse(scale=3.0)(torch.tensor([scores]), lists([labels]))
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    expected = [(3 * (scores[i] - scores[j]) - (labels[i] - labels[j])) ** 2 for i, j in pairs]
    assert loss.item() == pytest.approx(sum(expected) / len(pairs), rel=1e-5)


def test_the_anchor_pulls_towards_the_scores_from_before() -> None:
    before = torch.tensor([[0.6, 0.5, 0.1]])
    scores = torch.tensor([[0.5, 0.6, 0.1]], requires_grad=True)
    loss = EncoderKl()(scores, lists([[NAN, NAN, NAN]], before=before))
    loss.backward()
    assert loss.item() > 0
    assert scores.grad is not None
    assert scores.grad[0, 0].item() < 0 < scores.grad[0, 1].item()


@pytest.mark.parametrize(("encoder", "named"), [(BEFORE, "the model before training"), ("e5", "e5")])
def test_scores_of_another_encoder_that_are_not_there_are_named(encoder: str, named: str) -> None:
    with pytest.raises(ValueError, match=f"no inner products of {named}"):
        EncoderKl(encoder)(torch.zeros(1, 1), lists([[1.0]]))


def test_another_encoder_is_followed_on_its_own_scale() -> None:
    teacher = torch.tensor([[0.85, 0.83, 0.75]])
    labels = lists([[NAN, NAN, NAN]])._replace(encoders={"e5": teacher})
    followed = (teacher - 0.5) * 5
    objective = EncoderKl("e5", temperature=0.05, teacher_temperature=0.01)
    assert objective(followed, labels).item() == pytest.approx(0, abs=1e-6)
    other = objective(followed.flip(1), labels)
    expected, found = (teacher / 0.01).softmax(1), (followed.flip(1) / 0.05).softmax(1)
    assert other.item() == pytest.approx(float((expected * (expected / found).log()).sum()), rel=1e-4)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: type(objective).__name__)
@pytest.mark.parametrize(
    "targets",
    [
        [[NAN, NAN], [NAN, NAN]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[1.0, NAN], [NAN, NAN]],
        [[1.0, 1.0], [-2.0, -3.0]],
    ],
    ids=["no lists", "nothing relevant", "one list of one", "all alike, and below 0"],
)
def test_loss_and_gradient_are_finite_whatever_is_missing(
    objective: nn.Module, targets: list[list[float]]
) -> None:
    scores = torch.tensor([[0.5, 0.1], [0.3, 0.2]], requires_grad=True)
    nothing = [[False, False], [False, False]]
    loss = objective(scores, lists(targets, negatives=nothing, before=torch.zeros(2, 2)))
    loss.backward()
    assert loss.isfinite()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


def test_a_mixture_weighs_its_objectives_and_knows_what_each_is_for() -> None:
    parts = [
        WeightedObjective("mse", InnerProductMse(), 2.0),
        WeightedObjective("kl", ListwiseKl(), 1.0, frozenset({"teacher"})),
    ]
    mixture = Mixture(nn.Identity(), parts)  # type: ignore[arg-type]
    scores = torch.tensor([[0.5, 0.1]])
    plain = mixture.losses(scores, lists([[1.0, 0.0]], source="plain"))
    assert plain.keys() == {"mse"}
    assert plain["mse"].item() == pytest.approx(2 * InnerProductMse()(scores, lists([[1.0, 0.0]])).item())
    assert mixture.losses(scores, lists([[1.0, 0.0]], source="teacher")).keys() == {"mse", "kl"}
