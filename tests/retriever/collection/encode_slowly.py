"""Encode a collection, and say how many passages are kept after each batch: `encode_slowly.py FOLDER`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from conftest import BagOfWords

from citewell.retriever.collection.dense import VectorStoreConfig, updating
from citewell.retriever.collection.encoding import EncodingProgress
from citewell.retriever.collection.indexing import Indexer


def say(encoded: EncodingProgress) -> None:
    sys.stdout.write(f"{encoded.passages}\n")
    time.sleep(0.2)


def main(folder: Path) -> None:
    with (
        Indexer(folder) as indexer,
        updating(
            folder, indexer.store, BagOfWords(), VectorStoreConfig(), dense=True, repair=False
        ) as update,
    ):
        update(say)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
