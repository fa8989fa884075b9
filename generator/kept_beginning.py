"""The beginning of all prompts as a model has read it, kept on the disk for the next process."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from citewell.core.build_cache import SUMS, is_kept, keep
from citewell.generator.decoder import PagedDecoder, Values

_FILE = "values.safetensors"
_KEY = "key"


class KeptBeginning:
    """A place beside the converted weights of a model, for the keys and values of one text.

    Another text takes the place of the one before. Nothing is kept of a folder that Citewell did not convert.
    """

    def __init__(self, folder: Path, tokens: Sequence[int]) -> None:
        """Keep the text of these tokens beside the folder of the model that reads it."""
        self._tokens = tokens
        self._sums = folder / SUMS
        self._place = folder.with_name(f"{folder.name}.read")

    def restore(self, decoder: PagedDecoder) -> bool:
        """Let the decoder know the text without reading it; return whether it was kept.

        Raises `OSError` if another process changes the place meanwhile.
        """
        from safetensors import safe_open

        if not (self._sums.is_file() and is_kept(self._place)):
            return False
        with safe_open(self._place / _FILE, framework="numpy") as kept:
            if kept.metadata().get(_KEY) != self._key:
                return False
            values = {name: kept.get_tensor(name) for name in kept.keys()}  # noqa: SIM118 - not a mapping
        decoder.know(self._tokens, values)
        return True

    def save(self, decoder: PagedDecoder) -> None:
        """Keep the text, if the decoder knows all of it. Raises `OSError`, such as for a full disk."""
        values = decoder.values(self._tokens)
        if values and self._sums.is_file():
            keep(self._place, partial(self._write, values))

    @property
    def _key(self) -> str:
        """A hash of all that decides the values: the weights, the tokens and the library that computes."""
        import openvino

        known = f"{openvino.__version__}\n{list(self._tokens)}\n{self._sums.read_text(encoding='utf-8')}"
        return hashlib.sha256(known.encode()).hexdigest()

    def _write(self, values: Values, folder: Path) -> None:
        from safetensors.numpy import save_file

        save_file(values, folder / _FILE, metadata={_KEY: self._key})
