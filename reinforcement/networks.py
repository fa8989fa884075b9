"""Policy, reference and value function: one frozen base, and an adapter for each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.training.adapters import save_adapters, with_adapters, with_trained_adapters
from citewell.core.training.config import AdapterConfig
from citewell.core.training.plan import PlannedDraw, Size, planned_step
from citewell.core.training.precision import Precision, uses_bfloat16
from citewell.generator.defaults import write_defaults
from citewell.generator.resolve import ModelSource
from citewell.generator.training.collate import IGNORED, padded
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.training.model import load_source
from citewell.reinforcement.allowed import unpacked

if TYPE_CHECKING:
    import torch

POLICY, REFERENCE, VALUE = "default", "reference", "value"
"""The names of the adapters; the first is what PEFT saves into a folder itself."""


class ReadTokens(NamedTuple):
    """What a model says of the tokens of answers, row after row, without prompts and padding.

    `logp` and `entropy` have shape (tokens,), `states` (tokens, size).
    """

    logp: torch.Tensor
    entropy: torch.Tensor
    states: torch.Tensor


class PolicyNetworks:
    """The networks of a run. `module` holds all that is trained: the policy, the value function, its head."""

    def __init__(self, model: Any, tokenizer: Any, source: ModelSource, *, own_value: bool) -> None:
        """`model` is PEFT's, with an adapter for each network; the value function may have none."""
        import torch

        self.model = model.eval()  # without dropout, else the first ratios would not be 1
        self.tokenizer = tokenizer
        self.source = source
        self.own_value = own_value
        whole = model.get_base_model()
        self.head = torch.nn.Linear(whole.config.get_text_config().hidden_size, 1)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)
        self.head.to(model.device)
        self.module = torch.nn.ModuleDict({"adapters": model, "head": self.head})
        self.backbone = whole.base_model
        self.find_trained()

    def find_trained(self) -> None:
        """Find the weights that are trained; to be called again after an adapter was replaced."""
        names = {POLICY, VALUE} if self.own_value else {POLICY}
        self._trained = {
            name: value
            for name, value in self.model.named_parameters()
            if any(f".{adapter}." in name for adapter in names)
        }
        self.use(POLICY)

    @property
    def policy_weights(self) -> list[torch.nn.Parameter]:
        """The trained weights of the policy."""
        return [value for name, value in self._trained.items() if f".{POLICY}." in name]

    @property
    def value_weights(self) -> list[torch.nn.Parameter]:
        """The trained weights of the value function, with its head."""
        own = [value for name, value in self._trained.items() if f".{VALUE}." in name]
        return [*own, *self.head.parameters()]

    def use(self, adapter: str) -> None:
        """Compute by this adapter from now on."""
        self.model.set_adapter(adapter)
        # PEFT freezes the adapters that are not in use.
        for name, value in self.model.named_parameters():
            value.requires_grad_(name in self._trained)

    def read(
        self, part: dict[str, torch.Tensor], adapter: str, allowed: torch.Tensor | None = None
    ) -> ReadTokens:
        """Read the answers of a part, as `collate.padded` makes it, by the policy or the reference.

        With `allowed`, the bits of `citewell.reinforcement.allowed`, other tokens have no probability.
        """
        import torch

        self.use(adapter)
        inputs, targets, mask = self._inputs(part)
        positions = mask.any(dim=0).nonzero()[:, 0]
        found = self.model(
            input_ids=inputs, use_cache=False, logits_to_keep=positions, output_hidden_states=True
        )
        kept = mask[:, positions]
        logits = found.logits[kept].float()
        if allowed is not None:
            held = unpacked(allowed.to(logits.device), logits.shape[-1])
            logits = logits.masked_fill(~held, torch.finfo(logits.dtype).min)
        logits = logits.log_softmax(-1)
        logp = logits.gather(-1, targets[mask][:, None])[:, 0]
        with torch.no_grad():
            entropy = -(logits.exp() * logits).sum(-1)
        return ReadTokens(logp, entropy, found.hidden_states[-1][:, positions][kept].float())

    def values(self, part: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return the value before each token of a part's answers by the adapter of its own, (tokens,)."""
        self.use(VALUE)
        inputs, _, mask = self._inputs(part)
        states = self.backbone(input_ids=inputs, use_cache=False).last_hidden_state[:, :-1][mask]
        return self.values_of(states.float())

    def values_of(self, states: torch.Tensor) -> torch.Tensor:
        """Return the head's value of states, (tokens, size) to (tokens,)."""
        values: torch.Tensor = self.head(states)[:, 0]
        return values

    def save_policy(self, folder: Path) -> None:
        """Write the policy as an ordinary adapter; the other networks are dropped."""
        self.use(POLICY)
        for name in (REFERENCE, VALUE):
            if name in self.model.peft_config:
                self.model.delete_adapter(name)
        save_adapters(self.model, folder, self.source.base)
        write_defaults(self.source.defaults, folder)

    def _inputs(self, part: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        device = self.model.device
        targets = part["labels"][:, 1:].to(device)
        return part["input_ids"].to(device), targets, targets != IGNORED


def build_networks(
    source: ModelSource, lora: AdapterConfig, cache: Path, *, own_value: bool, seed: int
) -> PolicyNetworks:
    """Load the start three times over one base; an adapter is added to a start without one.

    Raises `ModelError` for a start that cannot be trained.
    """
    import torch

    base, _, tokenizer = load_source(source, cache)
    torch.manual_seed(seed)
    if source.adapter is None:
        model = with_adapters(base, lora, "CAUSAL_LM", source.name)
    else:
        model = with_trained_adapters(base, source.adapter)
    form = model.peft_config[POLICY]
    model.add_adapter(REFERENCE, form)
    if own_value:
        model.add_adapter(VALUE, form)
    weights = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in weights.items():
            for other in (REFERENCE, VALUE):
                if f".{other}." in name:
                    value.copy_(weights[name.replace(f".{other}.", f".{POLICY}.")])
    if torch.cuda.is_available():
        model.to("cuda")
    return PolicyNetworks(model, tokenizer, source, own_value=own_value)


def parts_of(rows: Sequence[TokenizedExample], tokens: int) -> Iterator[list[int]]:
    """Yield the indices of rows that are computed together: at most `tokens` tokens, or one row."""
    lengths = [len(row.prompt) + len(row.answer) for row in rows]
    sizes = [Size(1, length, length) for length in lengths]
    for part in planned_step([PlannedDraw(place, 0) for place in range(len(rows))], sizes, tokens).parts:
        yield [draw.place for draw in part]


def collated(rows: Sequence[TokenizedExample], places: Sequence[int]) -> dict[str, torch.Tensor]:
    """Return the tensors of some rows."""
    return padded([rows[place] for place in places])


def autocast(device: Any, precision: Precision) -> contextlib.AbstractContextManager[Any]:
    """Compute in bfloat16 or float32, see `uses_bfloat16`."""
    import torch

    return torch.autocast(device.type, torch.bfloat16, enabled=uses_bfloat16(precision))
