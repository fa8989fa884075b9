"""Cross-encoders of sentence-transformers, in PyTorch: any architecture, float32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.core.errors import ModelError
from citewell.core.models.reasons import reason_of
from citewell.core.packages import need_packages
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.core.weights import locate
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.resolve import download

_BATCH = 16


class TorchCrossEncoder:
    """A CrossEncoder of sentence-transformers (see `citewell.retriever.cross_encoder.cross_encoder`).

    https://sbert.net/docs/package_reference/cross_encoder/cross_encoder.html
    """

    def __init__(self, name: str, *, max_tokens: int, threads: int) -> None:
        """Load the model `name`, a folder or a hub id, to run on `threads` CPU threads.

        Raises `ModelError` for a model that cannot be read or has several outputs, and `InputError` without
        sentence-transformers.
        """
        need_packages(f"The cross-encoder {name}", "train", "torch", "sentence_transformers")
        import torch
        from sentence_transformers import CrossEncoder as SentenceCrossEncoder
        from transformers.utils import logging

        weights = locate(name, role="reranker")
        folder = weights.path or download(name)
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(threads)
        try:
            model = SentenceCrossEncoder(
                str(folder), device="cpu", local_files_only=True, trust_remote_code=TRUST_REMOTE_CODE
            )
        except Exception as error:  # safetensors, tokenizers and configurations raise exceptions of any type
            raise ModelError(
                f"The cross-encoder {name} cannot be loaded: {reason_of(error)}",
                "Give a model that sentence-transformers loads as a CrossEncoder.",
            ) from error
        if model.num_labels != 1:
            raise ModelError(
                f"The cross-encoder {name} has {model.num_labels} outputs for a pair, and 1 is needed.",
                "Use a model that was trained to rank, such as cross-encoder/ettin-reranker-32m-v1.",
            )
        positions = getattr(model.config, "max_position_embeddings", max_tokens)
        model.max_seq_length = min(max_tokens, positions, model.max_seq_length or max_tokens)
        self.name = name
        self.fingerprint = f"{weights.fingerprint}-{max_tokens}"
        self._model = model

    def scores(self, question: str, passages: Sequence[str]) -> Vectors:
        """Return the logit of each of `n` passages, (n,)."""
        from torch.nn import Identity

        if not passages:
            return np.zeros(0, dtype=np.float32)
        found = self._model.predict(
            [(question, passage) for passage in passages],
            batch_size=_BATCH,
            activation_fn=Identity(),
            show_progress_bar=False,
        )
        return np.asarray(found, dtype=np.float32).reshape(-1)
