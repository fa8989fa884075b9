"""The form of a converted dual encoder: the file next to the weights that says how to run them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from citewell.core.errors import ModelError
from citewell.retriever.encoder.resolve import PoolingMode
from citewell.retriever.encoder.scale import Scale

_FILE = "encoder.json"


class TowerForm(msgspec.Struct, frozen=True):
    """The form of one tower; `folder`, relative to the encoder's, holds the weights and tokenizer.json."""

    folder: str
    pooling: PoolingMode
    normalize: bool
    limit: int
    dimension: int
    prompt: str


class EncoderForm(msgspec.Struct, frozen=True):
    """A converted encoder. `digest` identifies its weights and pooling, whatever the engine."""

    engine: str
    digest: str
    question: TowerForm
    passage: TowerForm
    scale: Scale = Scale()


def write_form(form: EncoderForm, folder: Path) -> None:
    """Write `form` into the folder of the converted weights."""
    content = msgspec.json.format(msgspec.json.encode(form), indent=2)
    (folder / _FILE).write_bytes(content)


def read_form(folder: Path) -> EncoderForm:
    """Read the file that `write_form` wrote; raise `ModelError` if it is missing or damaged."""
    try:
        return msgspec.json.decode((folder / _FILE).read_bytes(), type=EncoderForm)
    except (OSError, msgspec.MsgspecError) as error:
        raise ModelError(
            f"The converted weights in {folder} cannot be used: {error}",
            "Remove that folder; the next start converts them again.",
        ) from error
