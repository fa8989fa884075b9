"""Office documents and books: their titles, sections, lists and tables."""

from __future__ import annotations

import gzip

import pytest

from citewell.core.types import Page
from citewell.retriever.extract.page import extract
from tests.retriever.extract.office.made import (
    KITES,
    TAILS,
    docx_file,
    epub_file,
    odt_file,
    pptx_file,
    xlsx_file,
    zipped,
)


def sections(page: Page) -> dict[tuple[str, ...], str]:
    return {passage.headings: passage.text for passage in page.passages}


def test_word() -> None:
    page = extract(docx_file(), "file:///scan0001.docx")
    assert page.title == "The handbook of kites"
    assert sections(page) == {
        ("How they fly",): f"{KITES}\n1. Choose a steady wind\n2. Let out the line",
        ("How they fly", "Tails"): f"{TAILS}\n- silk\n- paper",
        ("Winds",): "Kite | Wind in m/s\nDelta | 3 to 8\nBox | 5 to 12",
    }


def test_word_with_tracked_changes_content_controls_and_notes() -> None:
    w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = (
        f'<w:document xmlns:w="{w}"><w:body>'
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        "<w:p><w:r><w:t>The line is </w:t></w:r><w:del><w:r><w:delText>short</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>long</w:t></w:r></w:ins><w:r><w:t>.</w:t></w:r></w:p>"
        '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Section</w:t></w:r></w:p>'
        f'<w:p><w:r><w:t>{TAILS}</w:t><w:footnoteReference w:id="2"/></w:r></w:p></w:body></w:document>'
    )
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    office = "http://schemas.openxmlformats.org/package/2006"
    package = zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{office}/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{kind}.document.main+xml"/>'
            f'<Override PartName="/word/footnotes.xml" ContentType="{kind}.footnotes+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{office}/relationships">'
            f'<Relationship Id="r1" Type="{relation}/officeDocument" Target="word/document.xml"/>'
            "</Relationships>",
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{office}/relationships">'
            f'<Relationship Id="r1" Type="{relation}/footnotes" Target="footnotes.xml"/></Relationships>',
            "word/document.xml": body,
            "word/footnotes.xml": f'<w:footnotes xmlns:w="{w}"><w:footnote w:id="2"><w:p><w:r>'
            "<w:t>Measured in 1902.</w:t></w:r></w:p></w:footnote></w:footnotes>",
        }
    )
    [passage] = extract(package, "notes.docx").passages
    assert passage.text == f"In a control.\nThe line is long.\n{TAILS}\nFootnote: Measured in 1902."


def test_powerpoint_names_its_slides() -> None:
    page = extract(pptx_file(), "file:///talk.pptx")
    assert page.title == "Kites in one hour"
    assert page.passages[0].text == (
        "Slide 1: Kites in one hour\nFor beginners on a beach\nSlide 2: What you need\n- A delta kite\n"
        "- A line of fifty metres\nPart | Price\nKite | 20 euros\nLine | 5 euros\n"
        "Notes: Say that gloves are needed in strong wind."
    )


def test_excel_names_its_sheets_and_shows_values_as_people_see_them() -> None:
    page = extract(xlsx_file(), "file:///sales.xlsx")
    text = "\n".join(passage.text for passage in page.passages)
    assert "Kite shop, northern branch\nMonth | Kites sold | Share | Closed\n" in text
    assert "\n2025-01-01 | 11 | 5% | yes\n" in text
    assert "\n2026-01-01 | 7 | 100% | no" in text
    assert "Staff\nName | Task\nAda | builds box kites" in text
    assert "nobody" not in text
    assert page.notice == "hidden sheets were left out: Secret"


def test_open_document() -> None:
    page = extract(odt_file(), "file:///a.odt")
    assert (page.title, page.author) == ("The handbook of kites", "Ada")
    assert sections(page) == {
        ("How they fly",): f"{KITES}\nFootnote: Measured in a wind tunnel.\n- silk\n- paper",
        ("How they fly", "Winds"): "Kite | Wind\nDelta | 3 to 8\nBox | 5 to 12",
    }


def test_a_book_names_its_chapters() -> None:
    page = extract(epub_file(), "file:///pg1234.epub")
    assert (page.title, page.author) == ("The book of kites", "Ada Flyer")
    assert sections(page) == {("How lift is made",): KITES, ("Tails",): TAILS}


@pytest.mark.parametrize("make", [docx_file, pptx_file, xlsx_file, odt_file, epub_file])
def test_compressed_documents_are_read_the_same(make: object) -> None:
    body = make()  # type: ignore[operator]
    plain, compressed = extract(body, "a"), extract(gzip.compress(body), "a")
    assert plain == compressed
