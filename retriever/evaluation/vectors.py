"""Encoded corpora in the cache folder, because encoding takes most of the time of an evaluation."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from citewell.core.errors import CitewellError
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.evaluation.systems.system import OnProgress
from citewell.retriever.evaluation.task import Corpus

_CHUNK = 256  # the most passages that an interrupted run loses


class PassageVectors(NamedTuple):
    """The vectors of `n` passages, an (n, dimension) array, and the seconds that encoding them took."""

    vectors: Vectors
    seconds: float


def encode_corpus(
    corpus: Corpus, encoder: DualEncoder, folder: Path, on_progress: OnProgress
) -> PassageVectors:
    """Encode a corpus once: vectors that the same weights gave earlier are read from `folder`.

    Vectors are appended to a file of plain float32 named after the encoder's fingerprint and the corpus's
    digest, so that an interrupted run can continue. Raises `CitewellError` if the folder cannot be written.
    """
    from filelock import FileLock

    file = folder / f"{encoder.fingerprint}-{corpus.digest}.f32"
    clock = file.with_suffix(".json")
    size = encoder.dimension * np.dtype(np.float32).itemsize
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(file.with_suffix(".lock")):
            done = file.stat().st_size // size if file.exists() else 0
            seconds = float(json.loads(clock.read_text())["seconds"]) if done and clock.exists() else 0.0
            with file.open("r+b" if file.exists() else "wb") as vectors:
                vectors.truncate(done * size)
                vectors.seek(done * size)
                while done < len(corpus):
                    started = time.perf_counter()
                    chunk = corpus.passages[done : done + _CHUNK]
                    vectors.write(encoder.encode_passages(chunk).astype(np.float32).tobytes())
                    vectors.flush()
                    done += len(chunk)
                    seconds += time.perf_counter() - started
                    clock.write_text(json.dumps({"seconds": round(seconds, 3)}))
                    on_progress(done, len(corpus))
    except OSError as error:
        raise CitewellError(
            f"The encoded corpus cannot be kept in {folder}: {error.strerror}.",
            "Free some space, or set CITEWELL_CACHE_DIR to another folder.",
        ) from error
    shape = (len(corpus), encoder.dimension)
    return PassageVectors(np.memmap(file, dtype=np.float32, mode="r", shape=shape), seconds)
