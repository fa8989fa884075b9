"""What is kept beside a scorer's weights: how its input is laid out, and what its numbers mean."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from citewell.core.errors import ModelError
from citewell.core.section import Section

FORM = "scorer.json"

Pooling = Literal["mean", "cls", "last"]


class InputLayout(Section):
    """How a question, an answer and its references become one line of tokens."""

    max_tokens: int = Field(256, ge=16, description="Most tokens that are read; longer answers are cut.")
    question_tokens: int = Field(
        64, ge=4, description="Most tokens of a question; the middle of a longer one is left out."
    )
    references: int = Field(0, ge=0, le=20, description="References that are read with an answer.")


class Form(Section):
    """A scorer's `scorer.json`.

    `base` is the name of the weights that the trained ones belong to, of which the lowest `depth` layers are
    used, or all. A score is (head's output − `mean`) /
    `std`, so that scores of the answers that were learned from have mean 0 and deviation 1. `elo` × the
    difference of two scores is the logit of the probability that people prefer the first (WebGPT §3.2).
    `pinned` is the SHA-256 of the comparisons that successors are tested by, if there are any.
    """

    version: Literal[1] = 1
    base: str
    depth: int | None = Field(None, ge=1)
    tuning: Literal["lora", "full"]
    pooling: Pooling
    layout: InputLayout
    mean: float
    std: float = Field(gt=0)
    elo: float = Field(gt=0)
    pinned: str = ""


def read_form(folder: Path) -> Form:
    """The form of the scorer in a folder; raises `ModelError` where it is damaged or there is none."""
    try:
        text = (folder / FORM).read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(
            f"The folder {folder} holds no scorer: it has no {FORM}.",
            "Give a folder that `citewell train scorer` wrote.",
        ) from error
    try:
        return Form.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ModelError(
            f"{folder / FORM} cannot be read: {place + ': ' if place else ''}{first['msg']}.",
            "Copy or train the scorer again.",
        ) from error


def write_form(form: Form, folder: Path) -> None:
    """Write `scorer.json`."""
    (folder / FORM).write_text(form.shown() + "\n", encoding="utf-8")
