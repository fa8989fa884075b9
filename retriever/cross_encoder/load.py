"""Loading of a cross-encoder by name."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from citewell.core.build_cache import OnStep, built
from citewell.core.errors import ModelError
from citewell.core.models.obtaining import ensure_weights
from citewell.core.tensors import Tensor, read_tensors
from citewell.retriever.cross_encoder.cross_encoder import CrossEncoder
from citewell.retriever.cross_encoder.form import read_cross_encoder_form
from citewell.retriever.cross_encoder.pairs import PairTokenizer
from citewell.retriever.cross_encoder.resolve import resolve_trained, trained_folder, trained_key
from citewell.retriever.encoder.batches import encode_ids
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines.engine import Engine
from citewell.retriever.encoder.engines.openvino import OpenVinoEngine


def load_cross_encoder(
    name: str,
    cache_dir: Path,
    *,
    max_tokens: int = 256,
    threads: int,
    on_step: OnStep = lambda name, step: None,
) -> CrossEncoder:
    """Load the cross-encoder `name`, to run on `threads` CPU threads.

    A name is that of a folder that `citewell train reranker` wrote, or of a sentence-transformers
    CrossEncoder: a folder or a hub id, which PyTorch runs. One of Citewell's is converted for OpenVINO at
    its first use, and `on_step` is called with each step; later starts read the result from `cache_dir`.
    Pairs are cut to `max_tokens` tokens or to the model's limit, whichever is less.

    Raises `ModelError` when the model is missing, damaged, or gives more than one score for a pair, and
    `InputError` for a model that needs PyTorch where it is not installed.
    """
    folder = trained_folder(name)
    if folder is None:
        from citewell.retriever.cross_encoder.torch_model import TorchCrossEncoder

        return TorchCrossEncoder(name, max_tokens=max_tokens, threads=threads)
    ensure_weights(read_cross_encoder_form(folder).base, on_step)
    found = resolve_trained(folder)
    key = trained_key(folder)
    target = cache_dir / "models" / f"{Path(name).name}-{key}-int8"
    command = ["citewell.retriever.cross_encoder.conversion", str(folder)]
    converted = built(Path(name).name, target, command, on_step)
    try:
        engine = OpenVinoEngine(converted, threads=threads)
    except RuntimeError as error:
        raise ModelError(
            f"The converted weights in {converted} cannot be used: {error}",
            f"Remove the folder {converted}; the next start converts them again.",
        ) from error
    most = min(max_tokens, found.form.max_tokens)
    tokenizer = PairTokenizer(
        found.tower.tokenizer, max_tokens=most, question_tokens=min(found.form.question_tokens, most // 2)
    )
    fingerprint = hashlib.sha256(f"{key} {most}".encode()).hexdigest()[:16]
    return PooledCrossEncoder(name, fingerprint, tokenizer, engine, read_head(found.head))


class PooledCrossEncoder:
    """A cross-encoder whose score is linear in the pooled states (see `CrossEncoder`)."""

    def __init__(
        self,
        name: str,
        fingerprint: str,
        tokenizer: PairTokenizer,
        engine: Engine,
        head: tuple[Tensor, float],
    ) -> None:
        """`head` are the weights of shape (d,) and the bias."""
        self.name = name
        self.fingerprint = fingerprint
        self._tokenizer = tokenizer
        self._engine = engine
        self._weights, self._bias = head

    def scores(self, question: str, passages: Sequence[str]) -> Vectors:
        """Return the logit of each of `n` passages, (n,)."""
        return self.pair_scores([(question, passage) for passage in passages])

    def pair_scores(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Return the logits of `n` pairs of a question, or a claim, and a passage, (n,)."""
        if not pairs:
            return np.zeros(0, dtype=np.float32)
        pooled = encode_ids(self._engine, self._tokenizer.pairs(pairs))
        found: Vectors = pooled @ self._weights + np.float32(self._bias)
        if not np.isfinite(found).all():
            raise ModelError(
                f"The cross-encoder {self.name} gives a score that is not finite.",
                "Its weights are damaged or its training diverged: use another one.",
            )
        return found


def read_head(file: Path) -> tuple[Tensor, float]:
    """Read the weights (d,) and the bias of a head; raises `ModelError` if they cannot be read."""
    try:
        tensors = read_tensors(file)
        return tensors["weight"][0], float(tensors["bias"][0])
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise ModelError(f"The head {file} cannot be read: {error}", "Copy or train it again.") from error
