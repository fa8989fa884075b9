"""Reading of HTML as WebGLM does it, by html2text and line breaks: a baseline for comparison."""

from __future__ import annotations

from citewell.core.errors import ExtractionError
from citewell.core.packages import install_command
from citewell.retriever.extract.charset import decode
from citewell.retriever.extract.document import Block, ExtractedDocument

_LEAST, _MOST = 50, 1200  # characters of the lines that WebGLM's released code keeps


def read_as_paper(body: bytes, content_type: str = "") -> ExtractedDocument:
    """Return the lines of 50 to 1,200 characters that html2text (https://pypi.org/project/html2text/) prints.

    "We extract the part of text contents in the HTML pages and divide them into a list of paragraphs
    according to line breaks" (WebGLM §3.1.1). Raises `ExtractionError` if no line is of that length.
    """
    try:
        from html2text import HTML2Text
    except ImportError as error:
        raise ExtractionError("html2text is not installed", install_command("paper")) from error

    printer = HTML2Text(bodywidth=0)
    printer.ignore_links = printer.ignore_images = printer.ignore_emphasis = True
    lines = (line.strip() for line in printer.handle(decode(body, content_type)).split("\n"))
    blocks = tuple(Block(line) for line in lines if _LEAST <= len(line) <= _MOST)
    if not blocks:
        raise ExtractionError(f"no line of the page has {_LEAST} to {_MOST:,} characters")
    return ExtractedDocument("", blocks)
