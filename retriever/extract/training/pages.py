"""Labeled pages: each piece of a page with the share of its words that is main text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from citewell.retriever.extract.main_text.features import Floats
from citewell.retriever.extract.main_text.layout import PageLayout, lay_out, parse
from citewell.retriever.extract.main_text.signs import Signs, read_signs
from citewell.retriever.extract.training.rows import PageRow, rows_of

_WORD = re.compile(r"\w+")
_PARTS = re.compile(r" \| |: ")  # of a line: the cells of a table, a name and its value
_RUN = 4  # words


class LabeledPage(NamedTuple):
    """A page of `n` pieces.

    `labels` is (n,), each the share of the piece's words that is main text; `words` is (n,), their number.
    `group` is the site: pages of one site must not be on both sides of a split.
    """

    id: str
    group: str
    layout: PageLayout
    signs: Signs
    labels: Floats
    words: Floats


def read_pages(files: Iterable[Path]) -> Iterator[LabeledPage]:
    """Read the pages of `citewell.retriever.extract.training.rows` that hold any text.

    Raises `InputError` for a file or a line that is not of its form.
    """
    for _, row in rows_of(files):
        if page := _labeled(row):
            yield page


def _labeled(row: PageRow) -> LabeledPage | None:
    tree = parse(row.html)
    if tree is None or row.gold_text is None:
        return None
    layout = lay_out(tree)
    if not layout.texts:
        return None
    words = [_words(text) for text in layout.texts]
    sizes = np.array([len(piece) for piece in words], dtype=np.float32)
    signs = read_signs(tree, row.url or "")
    return LabeledPage(row.id, row.site, layout, signs, _shares(words, row.gold_text), sizes)


def _shares(pieces: list[list[str]], text: str) -> Floats:
    """Return the share of each piece's words that occur in `text` as part of a run of four."""
    gold = _words(text)
    runs = set(zip(*(gold[start:] for start in range(_RUN)), strict=False))
    whole = f" {' '.join(gold)} "
    lines = {" ".join(_words(cell)) for line in text.split("\n") for cell in (line, *_PARTS.split(line))}
    shares = []
    for words in pieces:
        if len(words) < _RUN:
            joined = " ".join(words)
            # Too short for a run: a whole line of the text, or, as weaker evidence, anywhere in it.
            share = 1.0 if joined in lines else 0.5 if len(words) > 1 and f" {joined} " in whole else 0.0
            shares.append(share if words else 0.0)
            continue
        covered = np.zeros(len(words), dtype=bool)
        for start in range(len(words) - _RUN + 1):
            if tuple(words[start : start + _RUN]) in runs:
                covered[start : start + _RUN] = True
        shares.append(float(covered.mean()))
    return np.array(shares, dtype=np.float32)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def fold(group: str, folds: int, salt: str = "") -> int:
    """Return the fold of a site, from 0, which is the same on every machine."""
    return int(hashlib.sha256((salt + group).encode()).hexdigest(), 16) % folds
