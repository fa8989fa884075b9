"""Measure the passages that pages are divided into: their lengths, their ends, and what they keep.

`python -m benchmarks.passages` divides a sample of the articles of Wikipedia for Schools, of the web pages
with text that people wrote down (both in `CITEWELL_DATA`), and the project's own documentation; `--pdf`
adds a folder of PDFs. It prints, for each, the shares of passages by length in words, of those that end
in a complete sentence, and of those longer than the window of the default encoder with their titles. For the
web pages, `kept` is the share of the words of the text that people wrote down that occur in the passages or
in their headings and titles. `--draw` prints passages drawn by chance.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.errors import ExtractionError
from citewell.core.settings import RetrieverSettings, load_settings
from citewell.core.text import encoded_text
from citewell.core.types import Page, Passage
from citewell.retriever.encoder.resolve import resolve
from citewell.retriever.encoder.tokenizer import read_tokenizer
from citewell.retriever.extract.page import extract
from citewell.retriever.extract.training.rows import data_files, rows_of

WINDOW = RetrieverSettings().max_tokens  # word pieces that the encoder reads
DOCS = Path(__file__).parent.parent / "docs"
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’»)\]]*$")


class SourcePage(NamedTuple):
    """The bytes of a page to divide. `gold` is its main text as a person wrote it down, if known."""

    url: str
    body: bytes
    content_type: str = ""
    gold: str = ""


def articles(number: int) -> Iterator[SourcePage]:
    """Yield a sample of the articles of Wikipedia for Schools."""
    files = sorted((external_data() / "web" / "wikispeedia").glob("articles-*.jsonl.gz"))
    lines = [line for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
    for row in map(json.loads, random.Random(0).sample(lines, number)):
        yield SourcePage(row["path"], row["html"].encode(), "text/html; charset=utf-8")


def web_pages(every: int) -> Iterator[SourcePage]:
    """Yield every n-th web page whose text people wrote down."""
    for number, (_, row) in enumerate(rows_of(data_files(external_data()))):
        if number % every == 0:
            body = row.html.encode(errors="replace")
            yield SourcePage(row.url or "", body, "text/html; charset=utf-8", row.gold_text or "")


def files(folder: Path, suffix: str) -> Iterator[SourcePage]:
    """Yield the files of a folder with this suffix."""
    for file in sorted(folder.rglob(f"*{suffix}")):
        yield SourcePage(file.name, file.read_bytes())


def read(pages: Iterator[SourcePage]) -> Iterator[tuple[SourcePage, Page]]:
    """Read pages; those without text are skipped."""
    for source in pages:
        try:
            yield source, extract(source.body, source.url, source.content_type)
        except ExtractionError:
            continue


def measure(pages: Sequence[tuple[SourcePage, Page]], pieces: Callable[[str], int]) -> dict[str, Any]:
    """Return the figures of the passages of all pages; `pieces` counts the word pieces of a text."""
    passages = [passage for _, page in pages for passage in page.passages]
    lengths = [len(passage.text.split()) for passage in passages]

    def share(least: int, most: float) -> float:
        return sum(least <= length <= most for length in lengths) / len(lengths)

    kept = [_kept(source.gold, page) for source, page in pages if source.gold]
    return {
        "pages": len(pages),
        "passages": len(passages),
        "under_12": share(0, 11),
        "12_to_59": share(12, 59),
        "60_to_200": share(60, 200),
        "over_200": share(201, float("inf")),
        "median": statistics.median(lengths),
        "complete": sum(bool(_SENTENCE_END.search(passage.text)) for passage in passages) / len(passages),
        "over_window": sum(_over(passage, pieces) for passage in passages) / len(passages),
        "kept": sum(part for part, _ in kept) / max(1, sum(whole for _, whole in kept)) if kept else None,
    }


def _over(passage: Passage, pieces: Callable[[str], int]) -> bool:
    return pieces(encoded_text(passage.title_path, passage.text)) > WINDOW


def _kept(gold: str, page: Page) -> tuple[int, int]:
    """Return how many words of the gold text the passages have, and how many there are."""
    wanted = Counter(_WORD.findall(gold.lower()))
    shown = [page.title, *(text for p in page.passages for text in (p.text, *p.headings))]
    return (wanted & Counter(_WORD.findall(" ".join(shown).lower()))).total(), wanted.total()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--articles", type=int, default=300, help="articles of Wikipedia for Schools [300]")
    parser.add_argument("--every", type=int, default=5, metavar="N", help="read every n-th web page [5]")
    parser.add_argument("--pdf", type=Path, metavar="FOLDER", help="also read the PDFs in this folder")
    parser.add_argument("--draw", type=int, default=30, metavar="N", help="passages to print per source [30]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the drawing [0]")
    output_option(parser)
    arguments = parser.parse_args()
    tokenizer = read_tokenizer(resolve(load_settings().retriever.encoder).passage.tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def pieces(text: str) -> int:
        return len(tokenizer.encode(text).ids)

    sources = {
        "Wikipedia for Schools": articles(arguments.articles),
        "web pages": web_pages(arguments.every),
        "Markdown": files(DOCS, ".md"),
    }
    if arguments.pdf:
        sources["PDF"] = files(arguments.pdf, ".pdf")
    results = {}
    for name, pages in sources.items():
        found = list(read(pages))
        results[name] = measure(found, pieces)
        passages = [passage for _, page in found for passage in page.passages]
        drawn = random.Random(arguments.seed).sample(passages, min(arguments.draw, len(passages)))
        for passage in drawn:
            print(f"\n[{name}] {' > '.join((passage.title, *passage.headings))}\n{passage.text}")
    print("\n" + report(results))
    save("passages", {"sources": results}, arguments.output)


def report(results: dict[str, dict[str, Any]]) -> str:
    """Return the figures as a table."""
    return table(
        [
            "pages",
            "passages",
            "under 12 words",
            "12–59",
            "60–200",
            "over 200",
            "median",
            "complete",
            "over the window",
            "kept",
        ],
        [
            [
                name,
                row["passages"],
                *(f"{row[key]:.3f}" for key in ("under_12", "12_to_59", "60_to_200", "over_200")),
                row["median"],
                f"{row['complete']:.3f}",
                f"{row['over_window']:.3f}",
                "" if row["kept"] is None else f"{row['kept']:.4f}",
            ]
            for name, row in results.items()
        ],
    )


if __name__ == "__main__":
    main()
