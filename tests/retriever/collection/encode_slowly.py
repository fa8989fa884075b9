"""Encode a collection, and say how many passages are kept after each batch: `encode_slowly.py FOLDER`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from conftest import BagOfWords

from citewell.retriever.collection.dense import updating
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.encoding import EncodingProgress


def say(encoded: EncodingProgress) -> None:
    sys.stdout.write(f"{encoded.passages}\n")
    time.sleep(0.2)


def main(folder: Path) -> None:
    with (
        EmbeddedCatalog(folder).writing("shelf") as store,
        updating(store, BagOfWords()) as update,
    ):
        update(say)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
