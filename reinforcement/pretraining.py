"""PPO-ptx: rows of text whose likelihood the policy keeps while it is improved (InstructGPT §3.5)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines
from citewell.core.training.sources import DataFolders, sample
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.training.loss import answer_loss
from citewell.reinforcement.config import PtxConfig
from citewell.reinforcement.networks import POLICY, PolicyNetworks, collated, parts_of


class PretrainingTexts:
    """Texts one after the other, cut into rows of equal length."""

    def __init__(self, texts: Sequence[str], tokenizer: Any, config: PtxConfig, seed: int) -> None:
        """Raises `InputError` for texts that are too short for one row."""
        ids: list[int] = []
        for text in texts:
            ids += [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
        size = config.tokens
        self._rows = [
            TokenizedExample(tuple(ids[start : start + 1]), tuple(ids[start + 1 : start + size]))
            for start in range(0, len(ids) - size + 1, size)
        ]
        if not self._rows:
            raise InputError(
                f"The source {config.name} has {len(ids):,} tokens, fewer than one row of {size:,}.",
                "Lower ptx.tokens, or add texts.",
            )
        self._config = config
        self._seed = seed

    def draw(self, answers: int, when: str) -> list[TokenizedExample]:
        """Return the rows that go with `answers` answers; `when` names the step."""
        count = max(1, round(self._config.ratio * answers))
        return random.Random(f"{self._seed} ptx {when}").choices(self._rows, k=count)  # noqa: S311

    def backward(self, networks: PolicyNetworks, rows: Sequence[TokenizedExample], part_tokens: int) -> float:
        """Add the gradient of γ · the mean cross-entropy of the rows' tokens; return that mean."""
        tokens = sum(len(row.answer) for row in rows)
        networks.use(POLICY)
        total = 0.0
        for places in parts_of(rows, part_tokens):
            part = {name: value.to(networks.model.device) for name, value in collated(rows, places).items()}
            loss = answer_loss(networks.model, part) / tokens
            (self._config.weight * loss).backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        return total


def read_texts(config: PtxConfig, folders: DataFolders, seed: int) -> tuple[str, ...]:
    """Return the texts of a source, lines of {"text"}; raises `InputError` for a line without one."""
    found: list[str] = []
    for file in folders.files(config):
        for line in read_lines(file):
            text = line.row().get("text")
            if not isinstance(text, str) or not text.strip():
                raise line.error("the text is missing.", 'Lines are {"text": "…"}.')
            found.append(text)
    return sample(found, config.limit, f"{seed} {config.name}")
