"""CTranslate2: int8 on the CPU, without PyTorch in the process. https://opennmt.net/CTranslate2/"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np

from citewell.core.errors import ModelError
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines.engine import Ids, pool
from citewell.retriever.encoder.resolve import PoolingMode, Tower


class Ct2Engine:
    """A BERT-like model that `convert` wrote. Weights are int8, activations int8 by token, sums float32."""

    # Small batches of like length waste little, and share out a few passages among the threads.
    batch_tokens = 512

    def __init__(self, folder: Path, pooling: PoolingMode, *, threads: int) -> None:
        """Load the model in `folder`, to run on `threads` threads in all."""
        import ctranslate2

        self.lanes = threads
        self._pooling = pooling
        self._model = ctranslate2.Encoder(
            str(folder), compute_type="int8_float32", inter_threads=threads, intra_threads=1
        )

    def pooled(self, ids: Ids) -> Vectors:
        """The pooled vectors of one batch."""
        states = np.asarray(self._model.forward_batch(ids).last_hidden_state)
        return pool(states, [len(text) for text in ids], self._pooling)


def convert(tower: Tower, model: Any, target: Path) -> None:
    """Write the float32 `model` of `tower`, int8, into the new folder `target`.

    Raises `ModelError` for an architecture that CTranslate2 does not know.
    """
    from ctranslate2.converters import TransformersConverter
    from transformers import AutoTokenizer

    class Converter(TransformersConverter):  # type: ignore[misc]
        def load_model(self, *_: Any, **__: Any) -> Any:
            own = copy.deepcopy(model)  # the converter quantises the very tensors that it is given
            # Transformers 5 dropped this key, since BERT knows no other value; CTranslate2 4.8 reads it.
            if not hasattr(own.config, "position_embedding_type"):
                own.config.position_embedding_type = "absolute"
            return own

        def load_tokenizer(self, *_: Any, **__: Any) -> Any:
            return AutoTokenizer.from_pretrained(tower.tokenizer)

    try:
        Converter(str(tower.folder)).convert(str(target), quantization="int8")
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's fault, not the model's
        raise ModelError(
            f"The model {tower.folder} cannot be converted for CTranslate2: {error}",
            "Use an architecture that CTranslate2 supports, such as BERT, or retriever.engine = torch.",
        ) from error
