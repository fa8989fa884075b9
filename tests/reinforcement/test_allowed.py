"""Log-probabilities of what a grammar held: the policy, the start and the sampler agree on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

import torch

from citewell.core.training.config import AdapterConfig
from citewell.generator.resolve import resolve
from citewell.generator.training.encode import TokenizedExample
from citewell.reinforcement.allowed import joined, packed, unpacked
from citewell.reinforcement.networks import POLICY, REFERENCE, PolicyNetworks, build_networks, collated
from citewell.reinforcement.sampler import TorchSampler
from tests.generator.training.made_up import write_llama

PROMPTS = [[0, 40, 41, 42, 43], [0, 50], [0, 60, 61, 62]]
END = 1


class Multiples:
    """Allows the end, and tokens that are multiples of a number: a grammar is the number."""

    def __init__(self, grammars: Sequence[str]) -> None:
        self.accepted: list[list[int]] = [[] for _ in grammars]
        self._rows = list(range(len(grammars)))
        self._numbers = [int(each) for each in grammars]

    def masked(self, logits: torch.Tensor) -> torch.Tensor:
        """Leave a row's multiples."""
        places = torch.arange(logits.shape[-1])
        allowed = torch.stack([places % self._numbers[row] == 0 for row in self._rows])
        allowed[:, END] = True
        return logits.masked_fill(~allowed, float("-inf"))

    def accept(self, tokens: Sequence[int]) -> None:
        """Remember the tokens of each row."""
        for row, token in zip(self._rows, tokens, strict=True):
            self.accepted[row].append(token)

    def keep(self, rows: Sequence[int]) -> None:
        """Keep some rows."""
        self._rows = [self._rows[row] for row in rows]


@pytest.fixture
def networks(tmp_path: Path) -> PolicyNetworks:
    folder = write_llama(tmp_path / "llama")
    return build_networks(resolve(str(folder)), AdapterConfig(rank=4), tmp_path, own_value=False, seed=0)


def test_bits_are_unpacked_as_they_were() -> None:
    allowed = torch.rand(5, 258, generator=torch.Generator().manual_seed(0)) > 0.5
    assert torch.equal(unpacked(packed(allowed), 258), allowed)
    both = joined([None, packed(allowed)], [2, 5])
    assert both is not None
    assert torch.equal(unpacked(both, 258), torch.cat([torch.ones(2, 258, dtype=torch.bool), allowed]))
    assert joined([None, None], [2, 5]) is None


def test_what_is_drawn_among_allowed_tokens_is_read_among_them(networks: PolicyNetworks) -> None:
    held: list[Multiples] = []

    def hold(grammars: Sequence[str]) -> Multiples:
        held.append(Multiples(grammars))
        return held[-1]

    numbers = ["2", "3", "5"]
    found = TorchSampler(networks.model, {END}, 6, hold).sample(PROMPTS, 7, numbers)
    rows = [TokenizedExample(tuple(p), each.tokens) for p, each in zip(PROMPTS, found, strict=True)]
    bits = joined([each.allowed for each in found], [len(each.tokens) for each in found])
    for number, each in zip(numbers, found, strict=True):
        assert all(token % int(number) == 0 or token == END for token in each.tokens)
        assert each.allowed is not None
        assert len(each.allowed) == len(each.tokens)
    assert sorted(held[0].accepted) == sorted(list(each.tokens) for each in found)
    drawn = torch.cat([torch.tensor(each.logp) for each in found])
    for adapter in (POLICY, REFERENCE):
        read = networks.read(collated(rows, [0, 1, 2]), adapter, bits)
        assert torch.allclose(read.logp, drawn, atol=1e-4)
        assert torch.isfinite(read.entropy).all()
    # Among all tokens, each is less likely.
    free = networks.read(collated(rows, [0, 1, 2]), POLICY).logp
    assert bool((free < drawn - 0.1).all())


def test_a_gradient_moves_allowed_tokens_only(networks: PolicyNetworks) -> None:
    row = TokenizedExample((0, 40, 41), (42, 44, END))
    alone = torch.zeros(3, 258, dtype=torch.bool)
    alone[[0, 1, 2], [42, 44, END]] = True
    read = networks.read(collated([row], [0]), POLICY, packed(alone))
    assert torch.allclose(read.logp, torch.zeros(3), atol=1e-6)
    read.logp.sum().backward()
    assert all(value.grad is None or not value.grad.any() for value in networks.policy_weights)


def test_each_text_follows_its_own_grammar(networks: PolicyNetworks) -> None:
    pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    from citewell.generator.constraint import Constraint

    hold = Constraint(networks.tokenizer, vocabulary=258, stop=[END]).each
    texts = ('root ::= "ab" | "ba"', "root ::= [c-d]{3}")
    found = TorchSampler(networks.model, {END}, 6, hold).sample(PROMPTS[:2], 3, texts)
    one, other = (networks.tokenizer.decode(each.tokens, skip_special_tokens=True) for each in found)
    assert one in ("ab", "ba")
    assert len(other) == 3
    assert set(other) <= set("cd")
    assert all(each.ended for each in found)
