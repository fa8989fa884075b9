"""Reading of EPUB books."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.document import Block, ExtractedDocument
from citewell.retriever.extract.html import read_whole
from citewell.retriever.extract.office.package import Package, explained, own_title

if TYPE_CHECKING:
    from lxml.etree import _Element

_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
_XHTML = "{http://www.w3.org/1999/xhtml}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})


class BookText(NamedTuple):
    """The text of a book. `notice` says how many chapters were read, if not all were."""

    document: ExtractedDocument
    notice: str = ""


def read_epub(package: Package, seconds: float = 15.0) -> BookText:
    """Read the chapters of a book in reading order (EPUB 2 and 3), each under its name in the contents.

    Reading stops after the chapter at which `seconds` have passed. Raises `ExtractionError` for a book that
    is broken or has copy protection.
    """
    end = time.monotonic() + seconds
    with explained("epub"):
        container = package.xml("META-INF/container.xml")
        root = next(container.iter(f"{_CONTAINER}rootfile"))
        path = root.get("full-path") or ""
        opf = package.xml(path)
        title, author = (_first(opf, f"{_DC}{name}") for name in ("title", "creator"))
        chapters = list(_spine(opf, posixpath.dirname(path)))
        _refuse_protection(package, chapters)
        names = _contents(package, opf, posixpath.dirname(path))
        blocks: list[Block] = []
        notice = ""
        for number, chapter in enumerate(chapters):
            if number and time.monotonic() > end:
                notice = f"only the first {number:,} of its {len(chapters):,} chapters were read"
                break
            if chapter in package.names:
                read = read_whole(package.read(chapter), own_title(title))
                blocks += _named(read, names.get(chapter, ""), title)
    return BookText(ExtractedDocument(own_title(title), tuple(blocks), author), notice)


def _spine(opf: _Element, folder: str) -> Iterator[str]:
    items = {item.get("id"): item for item in opf.iter(f"{_OPF}item")}
    for reference in opf.iter(f"{_OPF}itemref"):
        item = items.get(reference.get("idref"))
        if item is not None and item.get("media-type") in _PAGES and "nav" not in _properties(item):
            yield _within(folder, item.get("href") or "")


def _refuse_protection(package: Package, chapters: list[str]) -> None:
    """Raise `ExtractionError` if chapters are encrypted; often only fonts are."""
    if _ENCRYPTION not in package.names:
        return
    references = package.xml(_ENCRYPTION).iter("{http://www.w3.org/2001/04/xmlenc#}CipherReference")
    if {unquote(each.get("URI") or "") for each in references}.intersection(chapters):
        raise ExtractionError("the book has copy protection (DRM)", "Use a copy without it.")


def _contents(package: Package, opf: _Element, folder: str) -> dict[str, str]:
    """Return the names of chapters, by the table of contents of EPUB 3 or of EPUB 2."""
    names: dict[str, str] = {}
    for item in opf.iter(f"{_OPF}item"):
        path = _within(folder, item.get("href") or "")
        if path not in package.names:
            continue
        if "nav" in _properties(item):
            links = ((a.get("href"), "".join(a.itertext())) for a in package.xml(path).iter(f"{_XHTML}a"))
        elif item.get("media-type") == "application/x-dtbncx+xml":
            points = package.xml(path).iter(f"{_NCX}navPoint")
            links = ((_source(point), _first(point, f"{_NCX}text")) for point in points)
        else:
            continue
        for href, text in links:
            address = (href or "").partition("#")[0]
            names.setdefault(_within(posixpath.dirname(path), address), " ".join(text.split()))
    return names


def _named(blocks: tuple[Block, ...], name: str, title: str) -> Iterator[Block]:
    """Yield the blocks of a chapter; if it has no headings, under its name in the table of contents."""
    has_headings = any(block.headings for block in blocks)
    for block in blocks:
        yield block if has_headings or not name or name == title else block._replace(headings=(name,))


def _source(point: _Element) -> str | None:
    content = point.find(f"{_NCX}content")
    return content.get("src") if content is not None else None


def _first(element: _Element, name: str) -> str:
    found = next(element.iter(name), None)
    return " ".join("".join(found.itertext()).split()) if found is not None else ""


def _properties(item: _Element) -> list[str]:
    return (item.get("properties") or "").split()


def _within(folder: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(href)))
