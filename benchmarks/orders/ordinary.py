"""Ordinary sentences of several kinds of text, each page either for training or for testing."""

from __future__ import annotations

import ast
import gzip
import json
import random
import re
import sysconfig
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from citewell.core.text import split_sentences, squeeze

ROOT = Path(__file__).parents[2]
_KIND = re.compile(r"# ([a-z_]+)")
_TAG = re.compile(r"<[^>]+>")
_PARAGRAPH = re.compile(r"<(?:p|li)\b[^>]*>(.*?)</(?:p|li)>", re.DOTALL | re.IGNORECASE)
_PARTS = ("test", "dev", "train", "train")
_LONGEST = 600  # characters


def read_kinds(name: str) -> dict[str, list[str]]:
    """Return the lines of the file `name` of this folder, by the kind in the heading above them."""
    kinds: dict[str, list[str]] = {}
    kind = ""
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
        if heading := _KIND.fullmatch(line):
            kind = heading[1]
        elif line.strip():
            kinds.setdefault(kind, []).append(line)
    return kinds


def ordinary_sentences(data: Path, *, part: str, most: int, seed: int = 0) -> dict[str, list[str]]:
    """Return up to `most` sentences of each kind of text, of the pages of a part: train, dev or test.

    `data` is the folder of evaluation data (docs/benchmarks.md).
    """
    chance = random.Random(seed)
    chosen: dict[str, list[str]] = {}
    for name, texts in _sources(data).items():
        pages = [text for text in texts if _PARTS[zlib.crc32(text[:400].encode()) % len(_PARTS)] == part]
        chance.shuffle(pages)
        sentences: dict[str, None] = {}
        for page in pages:
            sentences.update(dict.fromkeys(_sentences(page)))
            if len(sentences) >= 4 * most:
                break
        chosen[name] = chance.sample(list(sentences), min(most, len(sentences)))
    return chosen


def _sources(data: Path) -> Mapping[str, Iterable[str]]:
    return {
        "web pages": (row["gold_text"] or "" for row in _rows(data, "pages/wcxb_dev-*.jsonl.gz")),
        "news": (row["gold_text"] for row in _rows(data, "pages/article_extraction_benchmark.jsonl.gz")),
        "encyclopedia": (
            _paragraphs(row["html"]) for row in _rows(data, "web/wikispeedia/articles-*.jsonl.gz")
        ),
        "medicine": (_joined(row["positive"]) for row in _rows(data, "qa_pairs/medquad.jsonl.gz")),
        "advice": (_joined(row["positive"]) for row in _rows(data, "qa_pairs/feedbackqa_train.jsonl.gz")),
        "code": _docstrings(Path(sysconfig.get_paths()["stdlib"])),
        "handbook": [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))],
    }


def _rows(data: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(data.glob(pattern)):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _joined(positive: Sequence[Mapping[str, str] | str]) -> str:
    return "\n".join(passage if isinstance(passage, str) else passage["text"] for passage in positive)


def _paragraphs(html: str) -> str:
    return "\n".join(squeeze(_TAG.sub("", found)) for found in _PARAGRAPH.findall(html))


def _docstrings(folder: Path) -> Iterator[str]:
    """Yield the docstrings and the strings of each module of the standard library."""
    for path in sorted(folder.glob("*.py")) + sorted(folder.glob("[a-z]*/*.py")):
        if "site-packages" in path.parts or "test" in path.parts:
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        yield "\n".join(
            re.sub(r"\n(?!\n)\s*", " ", node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )


def _sentences(page: str) -> Iterator[str]:
    for line in page.splitlines():
        if len(line.split()) > 3:
            yield from (s for s in split_sentences(line[:5000]) if len(s.split()) > 3 and len(s) <= _LONGEST)
