"""Reading of PDF, by pdfminer.six."""

from __future__ import annotations

import io
import re
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.errors import ExtractionError
from citewell.core.reasons import named_error
from citewell.retriever.extract.document import Block, ExtractedDocument, Outline
from citewell.retriever.extract.text import unwrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pdfminer.layout import LTComponent, LTTextBox
    from pdfminer.pdfdocument import PDFDocument

_BROKEN_HINT = "Download it again; if no PDF viewer can open it, the file is damaged."
_GLYPH = re.compile(r"\(cid:\d+\)")  # pdfminer's output for a glyph whose letter the font does not state
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_DIVIDED = re.compile(r"([^\W\d_]+)[-\u2010\u00ad]\n([^\W\d_]+)")
_COMPOUND = re.compile(r"[^\W\d_]+-[^\W\d_]+")
_ENDS_SENTENCE = re.compile(r"[.!?:;。！？：；][\"'”’)\]]*$")
_ITEM = re.compile(r"(?:[•◦▪‣·*–-]|\d{1,2}[.)]|\([a-z\d]\))\s")
_PAGE_NUMBER = re.compile(r"(?:page )?[-–—]? ?#+ ?[-–—]?(?: ?(?:/|of) ?#+)?", re.IGNORECASE)
_PROGRAM_TITLE = re.compile(
    r"untitled|microsoft|powerpoint|\.(?:docx?|pptx?|tex|dvi|indd|qxd|rtf|pdf)\b", re.IGNORECASE
)
_MARGIN = 0.1  # of the page's height, at the top and the bottom, for running heads and page numbers
_LARGER = 1.1  # times the size of the text, from which a short line is a heading
_MAX_HEADING = 120  # characters
_REPEATS = 3  # a line in the margin of this many pages, and of half of all, is a running head


class _Box(NamedTuple):
    """One or more adjacent paragraphs on a page, each as its lines."""

    paragraphs: list[list[str]]
    sizes: list[float]  # of their type, in points
    in_margin: bool

    @property
    def size(self) -> float:
        return max(self.sizes)

    @property
    def headline(self) -> str:
        """The text in its largest type."""
        return " ".join(self.paragraphs[self.sizes.index(self.size)])

    @property
    def text(self) -> str:
        return " ".join(line for paragraph in self.paragraphs for line in paragraph)


class _Sheet(NamedTuple):
    boxes: list[_Box]
    has_image: bool


class PdfText(NamedTuple):
    """The text of a PDF. `notice` says how many pages were read, if not all were."""

    document: ExtractedDocument
    notice: str = ""


def read_pdf(body: bytes, most_pages: int = 500, seconds: float = 15.0) -> PdfText:
    """Read the text of a PDF in reading order, without running heads and page numbers.

    Boxes of text come from [pdfminer.six](https://pdfminersix.readthedocs.io). The title is the one in
    the metadata, or the text in the largest type on the first page. Reading stops after `most_pages` pages,
    or after the page at which `seconds` have passed. Raises `ExtractionError` for a PDF that needs a
    password, is broken, or has no text.
    """
    title, sheets, notice = _parse(body, most_pages, time.monotonic() + seconds)
    if not sheets:
        raise ExtractionError("the PDF is broken: it has no pages", _BROKEN_HINT)
    first = next((sheet.boxes for sheet in sheets if sheet.boxes), None)
    if first is None:
        if any(sheet.has_image for sheet in sheets):
            raise ExtractionError(
                "the PDF holds only images (scanned?)", "Run text recognition (OCR) on it first."
            )
        raise ExtractionError("the PDF holds no readable text")
    title = title or max(first, key=lambda box: box.size).headline
    return PdfText(ExtractedDocument(title, tuple(_blocks(sheets, title))), notice)


class _Parsed(NamedTuple):
    title: str
    sheets: list[_Sheet]
    notice: str


def _parse(body: bytes, most_pages: int, end: float) -> _Parsed:
    from pdfminer.converter import PDFPageAggregator
    from pdfminer.layout import LAParams
    from pdfminer.pdfdocument import PDFDocument, PDFEncryptionError, PDFPasswordIncorrect
    from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
    from pdfminer.pdfpage import PDFPage
    from pdfminer.pdfparser import PDFParser

    sheets: list[_Sheet] = []
    try:
        document = PDFDocument(PDFParser(io.BytesIO(body)))
        resources = PDFResourceManager()
        # all_texts: some programs draw whole pages as one figure.
        device = PDFPageAggregator(resources, laparams=LAParams(all_texts=True))
        interpreter = PDFPageInterpreter(resources, device)
        notice = ""
        for page in PDFPage.create_pages(document):
            if len(sheets) == most_pages or (sheets and time.monotonic() > end):
                count = _page_count(document)
                notice = f"only the first {len(sheets):,} of its {count} pages were read"
                break
            interpreter.process_page(page)
            sheets.append(_sheet(device.get_result()))
        return _Parsed(_metadata_title(document), sheets, notice)
    except PDFPasswordIncorrect as error:
        raise ExtractionError(
            "the PDF is encrypted, and needs a password", "Save a copy without a password and use that."
        ) from error
    except PDFEncryptionError as error:
        raise ExtractionError(
            f"the PDF is encrypted in a way that cannot be read ({named_error(error)})",
            "Save a copy without encryption and use that.",
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # pdfminer raises exceptions of any type on damaged files
        raise ExtractionError(f"the PDF is broken ({named_error(error)})", _BROKEN_HINT) from error


def _page_count(document: PDFDocument) -> str:
    """Return the number of pages that the PDF declares, as text, because it can declare anything."""
    from pdfminer.pdftypes import resolve1

    pages = resolve1(document.catalog.get("Pages"))
    count = resolve1(pages.get("Count")) if isinstance(pages, dict) else None
    return f"{count:,}" if isinstance(count, int) else "many"


def _metadata_title(document: PDFDocument) -> str:
    from pdfminer.pdftypes import resolve1
    from pdfminer.utils import decode_text

    for info in document.info:
        value = resolve1(info.get("Title"))
        title = " ".join(decode_text(value).split()) if isinstance(value, bytes) else ""
        if title and not _PROGRAM_TITLE.search(title):
            return title
    return ""


def _sheet(page: LTComponent) -> _Sheet:
    from pdfminer.layout import LTFigure, LTImage, LTPage, LTTextBox

    boxes: list[_Box] = []
    has_image = False
    waiting = [page]
    while waiting:
        component = waiting.pop(0)
        if isinstance(component, LTTextBox):
            boxes += _box(component, page)
        elif isinstance(component, (LTPage, LTFigure)):
            waiting[:0] = component
        has_image = has_image or isinstance(component, LTImage)
    return _Sheet(boxes, has_image)


def _box(box: LTTextBox, page: LTComponent) -> Iterator[_Box]:
    """Divide a box into paragraphs, which end with a sentence in a short line or where the type changes."""
    paragraphs: list[list[str]] = []
    sizes: list[float] = []  # of each paragraph's type
    edge = box.x1 - box.width * 0.1
    ended = True
    for line in box:
        text = " ".join(_GLYPH.sub("", line.get_text()).translate(_LIGATURES).split())
        if not text:
            continue
        if ended or _ITEM.match(text) or abs(line.height - sizes[-1]) > 0.15 * sizes[-1]:
            paragraphs.append([])
            sizes.append(line.height)
        paragraphs[-1].append(text)
        ended = bool(_ENDS_SENTENCE.search(text)) and line.x1 < edge
    if paragraphs:
        middle = (box.y0 + box.y1) / 2 - page.y0
        in_margin = not _MARGIN <= middle / (page.height or 1) <= 1 - _MARGIN
        yield _Box(paragraphs, sizes, in_margin)


def _blocks(sheets: Sequence[_Sheet], title: str) -> Iterator[Block]:
    paragraphs: list[list[str]] = []
    numbers: list[int] = []  # of the pages on which they begin
    sizes: list[float] = []  # of their type
    for number, box in _without_running_heads(sheets):
        # A sentence that continues in the next column or on the next page.
        open_end = bool(paragraphs) and not _ENDS_SENTENCE.search(paragraphs[-1][-1])
        goes_on = open_end and box.paragraphs[0][0][0].islower()
        if goes_on:
            paragraphs[-1] += box.paragraphs[0]
        paragraphs += box.paragraphs[goes_on:]
        numbers += [number] * (len(paragraphs) - len(numbers))
        sizes += box.sizes[goes_on:]
    compounds = {
        word.casefold() for lines in paragraphs for line in lines for word in _COMPOUND.findall(line)
    }
    levels = _heading_levels(paragraphs, sizes)
    outline = Outline(title)
    bare: list[Block] = []  # headings without text so far
    for number, lines, size in zip(numbers, paragraphs, sizes, strict=True):
        text = _undivided(lines, compounds)
        level = levels.get(round(size))
        if level and _is_heading(text):
            above = len(outline.path)
            outline.enter(level, text)
            if len(outline.path) <= above:
                yield from bare
            bare = [Block(text, outline.path[:-1], role="heading", page_number=number)]
        else:
            bare = []
            yield Block(text, outline.path, page_number=number)
    yield from bare


def _heading_levels(paragraphs: Sequence[Sequence[str]], sizes: Sequence[float]) -> dict[int, int]:
    """Return the level of headings of each size in points: sizes above that of most of the text."""
    chars: Counter[int] = Counter()
    for lines, size in zip(paragraphs, sizes, strict=True):
        chars[round(size)] += sum(map(len, lines))
    ((body, _),) = chars.most_common(1)
    larger = sorted((size for size in chars if size >= _LARGER * body and size > body), reverse=True)
    return {size: level for level, size in enumerate(larger, start=1)}


def _is_heading(text: str) -> bool:
    return 2 < len(text) <= _MAX_HEADING and not text[0].islower() and text[-1] not in ".,;:"


def _without_running_heads(sheets: Sequence[_Sheet]) -> Iterator[tuple[int, _Box]]:
    """Yield the boxes that are part of the text, each with the number of its page, from 1."""
    seen = Counter(
        key for sheet in sheets for key in {_digitless(box.text) for box in sheet.boxes if box.in_margin}
    )
    enough = max(_REPEATS, len(sheets) / 2)
    for number, sheet in enumerate(sheets, start=1):
        for box in sheet.boxes:
            key = _digitless(box.text)
            if not (box.in_margin and (_PAGE_NUMBER.fullmatch(key) or seen[key] >= enough)):
                yield number, box


def _digitless(text: str) -> str:
    return re.sub(r"\d", "#", text)


def _undivided(lines: Iterable[str], compounds: set[str]) -> str:
    """Join lines into one and rejoin words divided at line ends; `compounds` keep their hyphen."""

    def whole(match: re.Match[str]) -> str:
        left, right = match.groups()
        keeps = f"{left}-{right}".casefold() in compounds or not right[0].islower()
        return f"{left}-{right}" if keeps else left + right

    return unwrap(_DIVIDED.sub(whole, "\n".join(lines)).split("\n"))
