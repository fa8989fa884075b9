"""Write the list of common words by which `citewell.retriever.rarity` weighs the words of a question.

`python -m benchmarks.common_words` counts in how many passages of Wikipedia for Schools each beginning of a
word stands, and writes the most common ones, most common first.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.ask_wikispeedia import COLLECTION, build_index
from citewell.core.settings import load_settings
from citewell.core.text import words
from citewell.pipeline.evaluation.coverage import stored_pages
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.rarity import LIST, beginnings

LENGTH = 4000


def main() -> None:
    """Count and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; temporary by default")
    parser.add_argument("--out", type=Path, default=LIST)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        settings = load_settings(
            {"data_dir": arguments.data_dir or Path(temporary), "search.collection": COLLECTION}
        )
        if COLLECTION not in EmbeddedCatalog(settings.data_dir).names():
            build_index(settings)
        for page in stored_pages(settings):
            for passage in page.passages:
                counts.update(beginnings(words(passage.text)))
    # Equal counts in the order of the alphabet, so that the same collection gives the same file.
    common = sorted(counts, key=lambda beginning: (-counts[beginning], beginning))[:LENGTH]
    arguments.out.write_text("\n".join(common) + "\n", encoding="utf-8")
    print(f"{len(common):,} of {len(counts):,} beginnings written to {arguments.out}")


if __name__ == "__main__":
    main()
