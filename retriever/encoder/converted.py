"""A dual encoder opened from the folder of its converted weights."""

from __future__ import annotations

from pathlib import Path

from citewell.core.errors import ModelError
from citewell.retriever.encoder.engines.engine import Engine
from citewell.retriever.encoder.engines.openvino import OpenVinoEngine
from citewell.retriever.encoder.form import EncoderForm, TowerForm
from citewell.retriever.encoder.tokenizer import open_tokenizer
from citewell.retriever.encoder.two_towers import Side, TwoTowers


def open_converted(name: str, folder: Path, form: EncoderForm, max_tokens: int, threads: int) -> TwoTowers:
    """Open the encoder `name` in `folder`; raise `ModelError` if its weights cannot be used."""
    engines: dict[str, Engine] = {}

    def side(tower: TowerForm) -> Side:
        if tower.folder not in engines:
            engines[tower.folder] = _open(folder / tower.folder, threads)
        tokenizer = open_tokenizer(folder / tower.folder / "tokenizer.json", min(max_tokens, tower.limit))
        return Side(tower, tokenizer, engines[tower.folder])

    encoder = TwoTowers(name, form.digest, max_tokens, side(form.question), side(form.passage))
    encoder.scale = form.scale
    return encoder


def _open(folder: Path, threads: int) -> Engine:
    try:
        return OpenVinoEngine(folder, threads=threads)
    except RuntimeError as error:
        raise ModelError(
            f"The converted weights in {folder} cannot be used: {error}",
            f"Remove the folder {folder.parent}; the next start converts them again.",
        ) from error
