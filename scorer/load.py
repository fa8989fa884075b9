"""Scorers that were trained: loaded from a folder, and asked in batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import ModelError, UnknownModelError
from citewell.core.lora import merge
from citewell.core.packages import need_packages
from citewell.scorer.encode import InputTokenizer, TokenizedInput, padded
from citewell.scorer.form import FORM, Form, Pooling, read_form
from citewell.scorer.model import ADAPTER, HEAD, WEIGHTS, load_base, load_values, new_head, pooled

if TYPE_CHECKING:
    import torch

SCORERS = Path(__file__).parent / "models"
"""The scorers that come with Citewell: a folder each."""

DEFAULT = "citewell-scorer"
"""The name of the shipped scorer."""

_PART_TOKENS = 4096  # computed together; more need more memory and are no faster


class PreferenceScorer:
    """A scorer of how much people would like an answer, as a number.

    Over the answers that the scorer learned from, scores have mean 0 and deviation 1 (WebGLM §3.3).
    """

    def __init__(self, name: str, form: Form, backbone: Any, head: Any, encoder: InputTokenizer) -> None:
        """`backbone` and `head` are PyTorch's, as `citewell.scorer.model` has them, with trained weights."""
        self.name = name
        self.form = form
        self._backbone = backbone.eval()
        self._head = head.eval()
        self._encoder = encoder

    @property
    def with_references(self) -> bool:
        """Whether references change the score."""
        return self.form.layout.references > 0

    def rate(
        self, question: str, answers: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> list[float]:
        """Scores of `n` answers, computed together; `references` are the texts of each answer's references.

        Raises `ModelError` where a score is not finite, as damaged weights give it.
        """
        shown = references if references is not None else [()] * len(answers)
        rows = [
            self._encoder.encode(question, answer, texts)
            for answer, texts in zip(answers, shown, strict=True)
        ]
        raw = raw_of_rows(self._backbone, self._head, self._encoder, rows, self.form.pooling)
        scores = [(value - self.form.mean) / self.form.std for value in raw]
        if not all(map(math.isfinite, scores)):
            raise ModelError(f"The scorer {self.name} gave a score that is not a number.", "Train it again.")
        return scores

    def preference(self, first: float, second: float) -> float:
        """The probability that people prefer the answer with the score `first` to that with `second`."""
        # The logistic function, written so that it does not overflow.
        return (1 + math.tanh(self.form.elo * (first - second) / 2)) / 2


def load_scorer(name_or_folder: str, cache_dir: Path, threads: int) -> PreferenceScorer:
    """Load a scorer by the name of a shipped one, or from a folder that `citewell train scorer` wrote.

    `threads` are PyTorch's, in the whole process. Raises `ModelError` where there is none, where it is
    damaged, and where its weights do not fit its base; `WeightsMissingError` where the base is a packaged
    model that is not installed.
    """
    need_packages("A trained scorer", "train", "torch", "transformers")
    import torch
    from transformers.utils import logging

    folder = scorer_folder(name_or_folder)
    form = read_form(folder)
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(threads)
    base = load_base(form.base, cache_dir, form.depth)
    if form.tuning == "lora":
        merge(base.backbone, folder / ADAPTER)
    else:
        load_values(base.backbone, folder / WEIGHTS, of="What was trained of the model")
    head = new_head(base.hidden)
    load_values(head, folder / HEAD, of="The head")
    return PreferenceScorer(
        name_or_folder, form, base.backbone, head, InputTokenizer(base.tokenizer, form.layout)
    )


def scorer_folder(name: str) -> Path:
    """Return the folder of a shipped scorer, or the folder `name`; raises `UnknownModelError` without one."""
    if name.isprintable() and Path(name).name == name != "" and (SCORERS / name / FORM).is_file():
        return SCORERS / name
    folder = Path(name).expanduser()
    if not (folder / FORM).is_file():
        shipped = ", ".join(sorted(file.parent.name for file in SCORERS.glob(f"*/{FORM}")))
        known = f"one of {shipped}, or " if shipped else ""
        raise UnknownModelError(
            f"Unknown scorer {name!r}.", f"Give {known}a folder that `citewell train scorer` wrote."
        )
    return folder


def raw_of_rows(
    backbone: Any, head: Any, encoder: InputTokenizer, rows: Sequence[TokenizedInput], pooling: Pooling
) -> list[float]:
    """What the head gives for `n` encoded inputs; n numbers, in their order."""
    import torch

    with torch.inference_mode():
        vectors = vectors_of_rows(backbone, encoder, rows, pooling)
        raw: list[float] = head(vectors)[:, 0].tolist()
    return raw


def vectors_of_rows(
    backbone: Any,
    encoder: InputTokenizer,
    rows: Sequence[TokenizedInput],
    pooling: Pooling,
    seen: Callable[[int], None] = lambda done: None,
) -> torch.Tensor:
    """What the head reads of `n` encoded inputs, (n, size), in their order; `seen` gets the number done.

    Rows of similar length are computed together, in parts of bounded size.
    """
    import torch

    order = sorted(range(len(rows)), key=lambda place: -len(rows[place].ids))
    device = next(backbone.parameters()).device
    found = torch.zeros(len(rows), backbone.config.hidden_size, device=device)
    start = 0
    with torch.inference_mode():
        while start < len(order):
            some = order[start : start + max(1, _PART_TOKENS // len(rows[order[start]].ids))]
            start += len(some)
            inputs = padded([rows[place] for place in some], kinds=encoder.has_kinds)
            inputs = {name: value.to(device) for name, value in inputs.items()}
            found[some] = pooled(backbone, inputs, pooling).float()
            seen(start)
    return found
