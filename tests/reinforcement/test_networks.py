"""Log-probabilities, gradients and values of a tiny model's answers, whichever way they are computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

import torch

from citewell.core.training.config import AdapterConfig
from citewell.core.types import Reference
from citewell.generator.resolve import resolve
from citewell.generator.training.encode import TokenizedExample
from citewell.reinforcement.collect import rate_episodes
from citewell.reinforcement.config import AnswersRecipe, PtxConfig
from citewell.reinforcement.losses import policy_loss
from citewell.reinforcement.networks import POLICY, REFERENCE, PolicyNetworks, build_networks, collated
from citewell.reinforcement.pretraining import PretrainingTexts
from citewell.reinforcement.reward import CenteredReward
from citewell.reinforcement.rollout import PromptedQuestion, RatedEpisode, Rollout
from citewell.reinforcement.sampler import TorchSampler
from citewell.reinforcement.update import PpoUpdate, policy_gradient
from tests.generator.training.made_up import write_llama
from tests.reinforcement.made_up import share_of_letter

PROMPTS = [[0, 40, 41, 42, 43], [0, 50], [0, 60, 61, 62, 63, 64, 65, 66]]
END = 1
DATA = {"name": "a", "files": ["a.jsonl"], "license": "CC0", "held_out": 1}


@pytest.fixture
def networks(tmp_path: Path) -> PolicyNetworks:
    folder = write_llama(tmp_path / "llama")
    made = build_networks(
        resolve(str(folder)), AdapterConfig(rank=4, dropout=0.5), tmp_path, own_value=True, seed=0
    )
    # As if it were fine-tuned: the adapters change something, and all do the same.
    torch.manual_seed(1)
    for name, value in made.model.named_parameters():
        if ".lora_B.default." in name:
            value.data.normal_(std=0.3)
            for other in ("reference", "value"):
                dict(made.model.named_parameters())[name.replace("default", other)].data.copy_(value.data)
    return made


def recipe(**training: Any) -> AnswersRecipe:
    return AnswersRecipe.model_validate({"data": [DATA], "training": training})


def rollouts(networks: PolicyNetworks) -> list[Rollout]:
    written = TorchSampler(networks.model, {END}, 6).sample(PROMPTS, 7)
    return [
        Rollout(
            asked=PromptedQuestion("why?", (), tuple(prompt)),
            completion=each.tokens,
            text="",
            score=float(place),
            parts={},
            logp=torch.tensor(each.logp),
            logp_reference=torch.tensor(each.logp),
            values=torch.zeros(len(each.tokens)),
        )
        for place, (prompt, each) in enumerate(zip(PROMPTS, written, strict=True))
    ]


def weights(networks: PolicyNetworks) -> Any:
    return torch.cat([value.grad.flatten() for value in networks.policy_weights if value.grad is not None])


def cleared(networks: PolicyNetworks) -> None:
    for value in networks.module.parameters():
        value.grad = None


def test_the_sampler_draws_from_what_the_policy_says(networks: PolicyNetworks) -> None:
    found = TorchSampler(networks.model, {END}, 6).sample(PROMPTS, 7)
    assert any(len(each.tokens) == 6 for each in found)
    for prompt, each in zip(PROMPTS, found, strict=True):
        read = networks.read(collated([TokenizedExample(tuple(prompt), each.tokens)], [0]), POLICY)
        assert torch.allclose(read.logp, torch.tensor(each.logp), atol=1e-4)
        # Any other temperature would show.
        ids = torch.tensor([[*prompt, *each.tokens]])
        logits = networks.model(input_ids=ids).logits[0, len(prompt) - 1 : -1]
        other = (logits / 0.8).log_softmax(-1).gather(-1, ids[0, len(prompt) :, None])[:, 0]
        assert not torch.allclose(other, torch.tensor(each.logp), atol=1e-4)


def test_the_sampler_is_repeatable_and_ends_answers(networks: PolicyNetworks) -> None:
    sampler = TorchSampler(networks.model, set(range(2, 256, 2)), 20)
    found = sampler.sample(PROMPTS, 3)
    assert found == sampler.sample(PROMPTS, 3)
    assert found != sampler.sample(PROMPTS, 4)
    assert all(each.ended and each.tokens[-1] % 2 == 0 for each in found)
    assert all(token % 2 for each in found for token in each.tokens[:-1])


def test_the_sampler_draws_each_token_as_often_as_it_is_likely(networks: PolicyNetworks) -> None:
    logits = networks.model(input_ids=torch.tensor([PROMPTS[0]])).logits[0, -1].detach()
    expected = logits.softmax(-1)
    sampler = TorchSampler(networks.model, set(range(300)), 1)
    drawn = [each.tokens[0] for each in sampler.sample([PROMPTS[0]] * 1000, 0)]
    often = torch.bincount(torch.tensor(drawn), minlength=len(expected)) / len(drawn)
    # Nothing is cut off: the unlikely half of the tokens is drawn as often as it should be.
    rare = expected < expected.median()
    assert float(often[rare].sum()) == pytest.approx(float(expected[rare].sum()), abs=0.05)


def test_padding_changes_nothing(networks: PolicyNetworks) -> None:
    rows = [each.row for each in rollouts(networks)]
    together = networks.read(collated(rows, [0, 1, 2]), POLICY).logp
    alone = torch.cat([networks.read(collated(rows, [place]), POLICY).logp for place in range(3)])
    assert torch.allclose(together, alone, atol=1e-5)
    values = networks.values(collated(rows, [0, 1, 2]))
    assert len(values) == sum(len(row.answer) for row in rows)


def test_the_policy_is_its_reference_until_it_is_trained(networks: PolicyNetworks) -> None:
    part = collated([each.row for each in rollouts(networks)], [0, 1, 2])
    policy, reference = networks.read(part, POLICY), networks.read(part, REFERENCE)
    assert torch.equal(policy.logp, reference.logp)
    before = reference.logp.detach().clone()
    for value in networks.policy_weights:
        value.data += 0.05
    assert not torch.allclose(networks.read(part, POLICY).logp, before)
    assert torch.equal(networks.read(part, REFERENCE).logp, before)


def test_the_first_gradient_is_that_of_reinforce_with_a_baseline(networks: PolicyNetworks) -> None:
    config = recipe(part_tokens=64)
    episodes = rate_episodes(rollouts(networks), config)
    before = policy_gradient(networks, episodes, config)
    assert before.clipped == 0
    found = weights(networks)
    cleared(networks)
    rows = [each.rollout.row for each in episodes]
    logp = networks.read(collated(rows, [0, 1, 2]), POLICY).logp
    (-(logp * torch.cat([each.advantages for each in episodes])).mean()).backward()
    assert torch.allclose(found, weights(networks), atol=1e-6)


def test_the_parts_of_a_step_add_up(networks: PolicyNetworks) -> None:
    found = {}
    for tokens in (64, 10_000):
        config = recipe(part_tokens=tokens)
        cleared(networks)
        # Rows of more than half of 64 tokens are computed alone.
        episodes = [
            each._replace(rollout=_longer(each.rollout)) for each in rate_episodes(rollouts(networks), config)
        ]
        policy_gradient(networks, episodes, config)
        found[tokens] = weights(networks)
    assert torch.allclose(found[64], found[10_000], atol=1e-5)


def _longer(rollout: Rollout) -> Rollout:
    from dataclasses import replace

    return replace(rollout, asked=replace(rollout.asked, prompt=(5,) * 40 + rollout.asked.prompt))


@pytest.mark.parametrize("weight", [0.5, 27.8])
def test_ptx_adds_its_weight_times_the_gradient_of_the_texts(networks: PolicyNetworks, weight: float) -> None:
    texts = ["amber and birch and cedar " * 10]
    config = PtxConfig(name="t", files=("t.jsonl",), license="CC0", weight=weight, ratio=2.0, tokens=32)
    source = PretrainingTexts(texts, networks.tokenizer, config, 0)
    rows = source.draw(2, "0 0")
    assert len(rows) == 4
    found = {}
    for tokens in (64, 10_000):
        cleared(networks)
        source.backward(networks, rows, tokens)
        found[tokens] = weights(networks)
    assert torch.allclose(found[64], found[10_000], atol=1e-4)
    cleared(networks)
    logp = networks.read(collated(rows, range(4)), POLICY).logp
    (-logp.mean()).backward()
    assert torch.allclose(found[64], weight * weights(networks), atol=1e-4)


def test_ptx_of_weight_0_is_plain_ppo(networks: PolicyNetworks) -> None:
    config = recipe(part_tokens=64)
    episodes = rate_episodes(rollouts(networks), config)
    policy_gradient(networks, episodes, config)
    plain = weights(networks)
    ptx = PtxConfig(name="t", files=("t.jsonl",), license="CC0", weight=0.0, tokens=32)
    texts = PretrainingTexts(["amber and birch " * 10], networks.tokenizer, ptx, 0)
    texts.backward(networks, texts.draw(1, "0"), 64)
    assert torch.equal(plain, weights(networks))


def test_a_step_lowers_the_loss_of_policy_and_values(networks: PolicyNetworks) -> None:
    config = AnswersRecipe.model_validate(
        {
            "data": [DATA],
            "ppo": {"learning_rate": 1e-3, "warmup": 0, "minibatch": 3, "batch": 3, "episodes": 3},
            "value": {"learning_rate": 1e-2, "warmup": 0},
            "training": {"part_tokens": 64},
        }
    )
    episodes = rate_episodes(rollouts(networks), config)

    def losses() -> tuple[float, float]:
        part = collated([each.rollout.row for each in episodes], [0, 1, 2])
        before, advantages = (
            torch.cat([each.rollout.logp for each in episodes]),
            torch.cat([each.advantages for each in episodes]),
        )
        policy = policy_loss(networks.read(part, POLICY).logp, before, advantages, 0.2).total
        apart = networks.values(part).detach() - torch.cat([each.returns for each in episodes])
        return float(policy.detach()), float(apart.square().sum())

    start = losses()
    stepped: list[int] = []
    measures = PpoUpdate(networks, config, None).improve(episodes, 0, lambda: stepped.append(1))
    assert len(stepped) == 1
    assert measures.keys() == {"value_explained", "entropy", "clipped"}
    after = losses()
    assert after[0] < start[0]
    assert after[1] < start[1]


def test_advantages_are_normalized_over_the_tokens_of_all_answers(networks: PolicyNetworks) -> None:
    episodes: list[RatedEpisode] = rate_episodes(rollouts(networks), recipe())
    whole = torch.cat([each.advantages for each in episodes])
    assert float(whole.mean()) == pytest.approx(0, abs=1e-6)
    assert float(whole.std(correction=0)) == pytest.approx(1, abs=1e-5)


def test_demonstrations_are_worth_0_and_unfinished_answers_as_much_as_the_worst() -> None:
    reference = (Reference(1, "", "", "e", 0.0),)
    given = [PromptedQuestion("why?", reference, (), answer) for answer in ("eeae", "aaaa", "eaaa")]
    reward = CenteredReward(share_of_letter, given)
    rated = [reward.rate(each, each.answer, ended=True).score for each in given]
    assert sum(rated) == pytest.approx(0, abs=1e-6)
    assert reward.rate(given[0], "eeee", ended=False).score == pytest.approx(min(rated))
    assert reward.rate(given[0], " ", ended=True).score == pytest.approx(min(rated))
    assert json.dumps(reward.rate(given[0], "eeee", ended=True).parts)
