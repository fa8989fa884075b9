"""Answers drawn from the policy itself: softmax at temperature 1, and nothing that changes it.

The samplers of `citewell.generator` leave unlikely tokens out and penalize repetition, which serves readers.
What they write is not distributed as the policy says, and would make the ratios of PPO wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from citewell.reinforcement.allowed import packed

if TYPE_CHECKING:
    import torch

TOGETHER = 32
"""Prompts that are continued at the same time."""


class DrawnAnswer(NamedTuple):
    """The tokens that were drawn, their log-probabilities, and whether the last one ends the answer.

    `allowed` are the bits of `citewell.reinforcement.allowed` of each token, if a grammar held them.
    """

    tokens: tuple[int, ...]
    logp: tuple[float, ...]
    ended: bool
    allowed: torch.Tensor | None = None


class HeldRows(Protocol):
    """Texts of a batch that follow grammars, as `citewell.generator.constraint.ConstrainedRows` does."""

    def masked(self, logits: torch.Tensor) -> torch.Tensor:
        """Return logits of shape (rows, vocabulary), with -inf for tokens that are not allowed."""
        ...

    def accept(self, tokens: Sequence[int]) -> None:
        """Append one token to each row."""
        ...

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all rows but these."""
        ...


Hold = Callable[[Sequence[str]], HeldRows]
"""Begins a text for each of `n` grammars."""


class Sampler(Protocol):
    """Continues prompts by chance."""

    def sample(
        self, prompts: Sequence[Sequence[int]], seed: int, grammars: Sequence[str] = ()
    ) -> list[DrawnAnswer]:
        """Return a continuation of each of `n` prompts, drawn by the seed, and held to its grammar if any."""
        ...


class TorchSampler:
    """A sampler with a model of transformers, in its current weights."""

    def __init__(self, model: Any, stop: Collection[int], most: int, hold: Hold | None = None) -> None:
        """Draw at most `most` tokens; one of `stop` ends an answer. Grammars need `hold`."""
        self._model = model
        self._stop = frozenset(stop)
        self._most = most
        self._hold = hold

    def sample(
        self, prompts: Sequence[Sequence[int]], seed: int, grammars: Sequence[str] = ()
    ) -> list[DrawnAnswer]:
        """Return a continuation of each of `n` prompts, in their order."""
        import torch

        random = torch.Generator(self._model.device).manual_seed(seed)
        order = sorted(range(len(prompts)), key=lambda place: -len(prompts[place]))
        found: dict[int, DrawnAnswer] = {}
        with torch.no_grad():
            for start in range(0, len(order), TOGETHER):
                places = order[start : start + TOGETHER]
                held = None
                if grammars:
                    assert self._hold is not None
                    held = self._hold([grammars[place] for place in places])
                written = self._together([prompts[place] for place in places], random, held)
                found.update(zip(places, written, strict=True))
        return [found[place] for place in range(len(prompts))]

    def _together(
        self, prompts: Sequence[Sequence[int]], random: torch.Generator, held: HeldRows | None
    ) -> list[DrawnAnswer]:
        import torch

        device = self._model.device
        longest = max(map(len, prompts))
        # Padded on the left, so that all answers begin at the same position.
        ids = torch.tensor([[0] * (longest - len(each)) + list(each) for each in prompts], device=device)
        mask = torch.tensor(
            [[0] * (longest - len(each)) + [1] * len(each) for each in prompts], device=device
        )
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        tokens: list[list[int]] = [[] for _ in prompts]
        logps: list[list[float]] = [[] for _ in prompts]
        allowed: list[list[torch.Tensor]] = [[] for _ in prompts]
        rows = list(range(len(prompts)))  # the prompt of each row that is left
        cache = None
        while rows:
            state = self._model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                cache=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            cache = state.cache
            logits = state.logits[:, -1].float()
            if held is not None:
                logits = held.masked(logits)
                for row, bits in zip(rows, packed(logits > float("-inf")), strict=True):
                    allowed[row].append(bits)
            logp = logits.log_softmax(-1)
            drawn = torch.multinomial(logp.exp(), 1, generator=random)
            if held is not None:
                held.accept(drawn[:, 0].tolist())
            for row, token, value in zip(
                rows, drawn[:, 0].tolist(), logp.gather(-1, drawn)[:, 0].tolist(), strict=True
            ):
                tokens[row].append(token)
                logps[row].append(value)
            left = [place for place, row in enumerate(rows) if not self._is_done(tokens[row])]
            if len(left) < len(rows):
                rows = [rows[place] for place in left]
                index = torch.tensor(left, dtype=torch.long, device=device)
                cache.batch_select_indices(index)
                if held is not None:
                    held.keep(left)
                drawn, mask, positions = drawn[index], mask[index], positions[index]
            ids = drawn
            mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=-1)
            positions = positions[:, -1:] + 1
        return [
            DrawnAnswer(
                tuple(each), tuple(values), each[-1] in self._stop, torch.stack(bits) if bits else None
            )
            for each, values, bits in zip(tokens, logps, allowed, strict=True)
        ]

    def _is_done(self, tokens: Sequence[int]) -> bool:
        return tokens[-1] in self._stop or len(tokens) >= self._most
