"""PDF files, written here byte by byte so that nothing but the reader is under test."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pdfminer.pdfdocument import PDFDocument
from pdfminer.pdfparser import PDFParser
from pdfminer.psexceptions import PSSyntaxError

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.page import ReadingOptions, extract
from tests.server.malformed import PDF

DATA = Path(__file__).parent / "data"
IMAGE = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 "
    b"/Length 1 >>\nstream\n\x80\nendstream"
)


def line(text: str, y: int, x: int = 72, size: int = 11) -> str:
    escaped = text.replace("(", r"\(").replace(")", r"\)")
    return f"BT /F1 {size} Tf {x} {y} Td ({escaped}) Tj ET\n"


def make_pdf(*pages: str, title: str = "", image: bool = False) -> bytes:
    """A PDF 1.4 file with one content stream a page (ISO 32000-1, §7.5)."""
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        IMAGE if image else b"<< /Title (" + title.encode() + b") >>",
    ]
    for n, content in enumerate(pages):
        stream = content.encode("cp1252")
        resources = b"/XObject << /Im1 4 0 R >>" if image else b"/Font << /F1 3 0 R >>"
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << %s >> /Contents %d 0 R >>"
            % (resources, 6 + 2 * n)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    info = b"" if image else b" /Info 4 0 R"
    out += b"trailer\n<< /Size %d /Root 1 0 R%s >>\n" % (len(objects) + 1, info)
    return out + b"startxref\n%d\n%%%%EOF\n" % start


FIRST = [
    "A kite is a tethered craft with wing surfaces that react against the air to create",
    "lift and drag. It consists of wings, tethers and anchors, and often has a bridle to guide",
    "the face of the kite. Kites were invented in China, where materials ideal for con-",
    "struction were easy to find.",
]
SECOND = [
    "The well-known box kite of 1893 was built for the mete-",
    "orological office, and is a well-",
    "known ancestor of the aeroplane.",
]


def kite_page(head: str = "", foot: str = "") -> str:
    lines = [line(text, 700 - 13 * n) for n, text in enumerate(FIRST)]
    lines += [line(text, 600 - 13 * n) for n, text in enumerate(SECOND)]
    lines += [line(head, 760)] if head else []
    lines += [line(foot, 30, x=300)] if foot else []
    return "".join(lines)


def texts(body: bytes) -> list[str]:
    return [p.text for p in extract(body, "https://a.example/kites.pdf", "application/pdf").passages]


def test_paragraphs_and_divided_words() -> None:
    assert texts(make_pdf(kite_page())) == [
        "A kite is a tethered craft with wing surfaces that react against the air to create lift and drag. "
        "It consists of wings, tethers and anchors, and often has a bridle to guide the face of the kite. "
        "Kites were invented in China, where materials ideal for construction were easy to find.\n"
        "The well-known box kite of 1893 was built for the meteorological office, and is a well-known "
        "ancestor of the aeroplane.",
    ]


def test_running_heads_and_page_numbers_are_left_out() -> None:
    pages = [
        kite_page("The Kite Journal, part 7", f"Page {n} of 4").replace("1893", f"189{n}")
        for n in range(1, 5)
    ]
    text = "\n".join(texts(make_pdf(*pages)))
    assert "1891" in text
    assert "1894" in text
    assert "Journal" not in text
    assert "Page" not in text


def test_a_sentence_goes_on_over_the_page_break() -> None:
    first = line("The bridle holds the kite at the angle that the flyer has chosen for the wind of the", 100)
    second = line("day, and it may be moved in flight.", 700)
    assert texts(make_pdf(first, second)) == [
        "The bridle holds the kite at the angle that the flyer has chosen for the wind of the day, and it "
        "may be moved in flight."
    ]


def test_passages_have_a_section_and_a_page_number() -> None:
    second = line("Building a kite", 740, size=16) + kite_page().replace("1893", "1901")
    found = extract(make_pdf(line("History", 740, size=16) + kite_page(), second, title="Kites"), "k.pdf")
    assert [(passage.headings, passage.page_number) for passage in found.passages] == [
        (("History",), 1),
        (("Building a kite",), 2),
    ]


def test_title_is_the_metadata_or_the_largest_line() -> None:
    content = line("Journal of Wind", 740, size=9) + line("On Kites", 720, size=20) + kite_page()
    url = "https://a.example/kites.pdf"
    assert extract(make_pdf(content, title="Kites: a study"), url).title == "Kites: a study"
    assert extract(make_pdf(content, title="Microsoft Word - k.doc"), url).title == "On Kites"
    assert extract(make_pdf(content), url).title == "On Kites"


def test_pdf_is_known_by_its_content() -> None:
    page = extract(make_pdf(kite_page()), "https://a.example/download?id=7", "text/html")
    assert page.passages[0].text.startswith("A kite is a tethered craft")


def test_a_long_pdf_is_cut_with_a_notice() -> None:
    body = make_pdf(
        *(line(f"This is sheet {n} of a long report about kites and wind.", 700) for n in range(5))
    )
    page = extract(body, "long.pdf", options=ReadingOptions(pdf_pages=3))
    assert page.notice == "only the first 3 of its 5 pages were read"
    assert "sheet 2" in page.passages[-1].text
    assert extract(body, "long.pdf", options=ReadingOptions(pdf_pages=5)).notice == ""


def test_a_slow_pdf_is_cut_after_the_page_at_which_time_is_over() -> None:
    body = make_pdf(kite_page(), kite_page())
    page = extract(body, "slow.pdf", options=ReadingOptions(seconds=0))
    assert page.notice == "only the first 1 of its 2 pages were read"
    assert page.passages[0].text.startswith("A kite is")


def test_encrypted_with_a_password() -> None:
    with pytest.raises(ExtractionError, match="the PDF is encrypted, and needs a password") as caught:
        texts((DATA / "password.pdf").read_bytes())
    assert "password" in caught.value.hint


def test_encrypted_without_a_password_can_be_read() -> None:
    assert texts((DATA / "no_password.pdf").read_bytes()) == texts(make_pdf(kite_page()))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_truncated(share: float) -> None:
    body = make_pdf(kite_page())
    with pytest.raises(ExtractionError, match="the PDF is broken"):
        texts(body[: int(len(body) * share)])


def test_a_lost_end_alone_does_no_harm() -> None:
    body = make_pdf(kite_page())
    assert texts(body[: body.rindex(b"startxref")]) == texts(body)


def test_a_web_page_that_is_called_pdf_is_read_as_what_it_is() -> None:
    body = b"<!doctype html><html><body><p>Sign in to read the paper, please, dear reader.</p></body></html>"
    assert texts(body) == ["Sign in to read the paper, please, dear reader."]


def test_what_the_parser_says_is_cut() -> None:
    with pytest.raises(PSSyntaxError) as said:
        PDFDocument(PDFParser(io.BytesIO(PDF)))
    assert len(str(said.value)) > 100_000
    with pytest.raises(ExtractionError, match=r"^the PDF is broken \(PSSyntaxError: .*…\)") as caught:
        texts(PDF)
    assert len(caught.value.message) < 150


def test_something_else_that_is_called_pdf_is_broken() -> None:
    with pytest.raises(ExtractionError, match="the PDF is broken"):
        texts(b"just some words")


def test_scanned() -> None:
    with pytest.raises(ExtractionError, match=r"the PDF holds only images \(scanned\?\)"):
        texts(make_pdf("q 612 0 0 792 0 0 cm /Im1 Do Q", image=True))


def test_without_text_or_images() -> None:
    with pytest.raises(ExtractionError, match="the PDF holds no readable text"):
        texts(make_pdf("100 100 200 200 re S"))
