"""Encode a collection, and say how many passages are kept after each batch: `encode_slowly.py PLACE`."""

from __future__ import annotations

import sys
import time

from conftest import BagOfWords, open_catalog

from citewell.retriever.collection.dense import updating
from citewell.retriever.collection.encoding import EncodingProgress


def say(encoded: EncodingProgress) -> None:
    sys.stdout.write(f"{encoded.passages}\n")
    time.sleep(0.2)


def main(place: str) -> None:
    with (
        open_catalog(place).writing("shelf") as store,
        updating(store, BagOfWords()) as update,
    ):
        update(say)


if __name__ == "__main__":
    main(sys.argv[1])
