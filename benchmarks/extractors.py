"""The extractors in the benchmark of extraction: ours and its peers, each from bytes to text."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.html import read_html
from citewell.retriever.extract.main_text.classifier import Classifier
from citewell.retriever.extract.main_text.layout import lay_out, parse
from citewell.retriever.extract.paper import read_as_paper
from citewell.retriever.extract.training.scores import shown_text

OURS = "Citewell"
REFERENCE = "trafilatura"
CONTENT_TYPE = "text/html; charset=utf-8"


class ExtractionEngine(NamedTuple):
    """A reader of the UTF-8 bytes of a page with a URL; it returns an empty text for none, and may raise."""

    name: str
    read: Callable[[bytes, str], str]


def ours(classifier: Classifier | None = None) -> Callable[[bytes, str], str]:
    """Return Citewell with its packaged classifier, or another one."""

    def read(body: bytes, url: str) -> str:
        try:
            return shown_text(read_html(body, CONTENT_TYPE, url, classifier))
        except ExtractionError:
            return ""

    return read


def peers() -> list[ExtractionEngine]:
    """Return the other extractors, with the options that their documentation recommends for main text."""
    import trafilatura
    from readability import Document
    from resiliparse.extract.html2text import extract_plain_text

    def standard(body: bytes, url: str) -> str:
        return trafilatura.extract(body, url=url or None) or ""

    def without_comments(body: bytes, url: str) -> str:
        return trafilatura.extract(body, url=url or None, include_comments=False) or ""

    def fast(body: bytes, url: str) -> str:
        return trafilatura.extract(body, url=url or None, fast=True) or ""

    def resiliparse(body: bytes, url: str) -> str:
        return extract_plain_text(body.decode(), main_content=True, alt_texts=False) or ""

    def readability(body: bytes, url: str) -> str:
        # It returns HTML; our own layout, without the classifier, makes lines of it.
        tree = parse(Document(body.decode()).summary(html_partial=True))
        return "" if tree is None else "\n".join(lay_out(tree).texts)

    def paper(body: bytes, url: str) -> str:
        try:
            return shown_text(read_as_paper(body, CONTENT_TYPE))
        except ExtractionError:
            return ""

    return [
        ExtractionEngine(REFERENCE, standard),
        ExtractionEngine("trafilatura, no comments", without_comments),
        ExtractionEngine("trafilatura, fast", fast),
        ExtractionEngine("resiliparse", resiliparse),
        ExtractionEngine("readability-lxml", readability),
        ExtractionEngine("html2text, as WebGLM", paper),
    ]
