"""Documents as office programs write them, made by the libraries that read them or as ZIP files of XML."""

from __future__ import annotations

import io
import zipfile

KITES = "A kite is a tethered craft whose wings react against the air to create lift and drag."
TAILS = "A tail keeps a flat kite steady, since it adds drag below the wing."


def zipped(files: dict[str, str | bytes]) -> bytes:
    """A ZIP file; a file called mimetype comes first and uncompressed, as OpenDocument and EPUB want it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            package.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return buffer.getvalue()


def docx_file() -> bytes:
    """A Word document with a title, headings, lists and a table."""
    import docx

    document = docx.Document()
    document.add_paragraph("The handbook of kites", style="Title")
    document.add_heading("How they fly", 1)
    document.add_paragraph(KITES)
    document.add_paragraph("Choose a steady wind", style="List Number")
    document.add_paragraph("Let out the line", style="List Number")
    document.add_heading("Tails", 2)
    document.add_paragraph(TAILS)
    document.add_paragraph("silk", style="List Bullet")
    document.add_paragraph("paper", style="List Bullet")
    document.add_heading("Winds", 1)
    table = document.add_table(rows=0, cols=2)
    for cells in (("Kite", "Wind in m/s"), ("Delta", "3 to 8"), ("Box", "5 to 12")):
        for cell, text in zip(table.add_row().cells, cells, strict=True):
            cell.text = text
    return _saved(document)


def pptx_file() -> bytes:
    """A presentation of two slides, the second with a list, a table and notes."""
    import pptx
    from pptx.util import Inches

    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Kites in one hour"
    first.placeholders[1].text = "For beginners on a beach"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "What you need"
    frame = second.placeholders[1].text_frame
    frame.text = "A delta kite"
    frame.add_paragraph().text = "A line of fifty metres"
    table = second.shapes.add_table(3, 2, Inches(1), Inches(4), Inches(4), Inches(1)).table
    for row, cells in enumerate((("Part", "Price"), ("Kite", "20 euros"), ("Line", "5 euros"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    second.notes_slide.notes_text_frame.text = "Say that gloves are needed in strong wind."
    return _saved(deck)


def xlsx_file() -> bytes:
    """A workbook of two sheets, and a third that is hidden."""
    import datetime

    import openpyxl

    book = openpyxl.Workbook()
    sales = book.active
    sales.title = "Sales"
    sales.append(["Kite shop, northern branch"])
    sales.append([])
    sales.append(["Month", "Kites sold", "Share", "Closed"])
    for month in range(1, 13):
        sales.append([datetime.date(2025, month, 1), month * 11, 0.05 * month, month == 1])
        sales.cell(sales.max_row, 3).number_format = "0%"
    sales.append([datetime.date(2026, 1, 1), 7, 1, False])  # a whole number, of 100%
    sales.cell(sales.max_row, 3).number_format = "0%"
    book.create_sheet("Staff").append(["Name", "Task"])
    book["Staff"].append(["Ada", "builds box kites"])
    book.create_sheet("Secret").append(["nobody sees this"])
    book["Secret"].sheet_state = "hidden"
    return _saved(book)


_ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "meta")
)


def odt_file(**more: str) -> bytes:
    """An OpenDocument text with a title, headings, a list, a table and a footnote."""
    content = (
        f'<office:document-content {_ODF}><office:automatic-styles><style:style style:name="P1" '
        'style:parent-style-name="Title"/></office:automatic-styles><office:body><office:text>'
        '<text:p text:style-name="P1">The handbook of kites</text:p>'
        '<text:h text:outline-level="1">How they fly</text:h>'
        f"<text:p>{KITES}<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>Measured in a wind tunnel.</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>silk</text:p></text:list-item>"
        "<text:list-item><text:p>paper</text:p></text:list-item></text:list>"
        '<text:h text:outline-level="2">Winds</text:h><table:table>'
        + "".join(
            "<table:table-row>"
            + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
            + '<table:table-cell table:number-columns-repeated="1000"/></table:table-row>'
            for row in (("Kite", "Wind"), ("Delta", "3<text:s text:c='2'/>to 8"), ("Box", "5 to 12"))
        )
        + "</table:table></office:text></office:body></office:document-content>"
    )
    meta = (
        f'<office:document-meta {_ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        "<dc:title>Template 7</dc:title><dc:creator>Ada</dc:creator></office:meta></office:document-meta>"
    )
    files = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, "meta.xml": meta}
    return zipped(files | more)


def epub_file(**more: str) -> bytes:
    """A book of two chapters; only the table of contents has the name of the second."""
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>The book of kites</dc:title><dc:creator>Ada Flyer</dc:creator></metadata>"
        '<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        '<item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="two" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/></spine></package>'
    )
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{}</body></html>'
    nav = '<nav><a href="text/one.xhtml">Lift</a><a href="text/two%20b.xhtml#a">Tails</a></nav>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": opf,
            "OEBPS/nav.xhtml": page.format(nav),
            "OEBPS/text/one.xhtml": page.format(f"<h1>How lift is made</h1><p>{KITES}</p>"),
            "OEBPS/text/two b.xhtml": page.format(f"<p>{TAILS}</p>"),
        }
        | more
    )


def _saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()
