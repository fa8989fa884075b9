"""Office documents that harm their reader, are broken, or need a password: each gives a reason."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.sandbox import Sandbox
from tests.retriever.extract.office.made import docx_file, epub_file, odt_file, xlsx_file, zipped

LAUGHS = (
    '<?xml version="1.0"?>\n<!-- a --><!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {new} "{f"&{old};" * 20}">' for old, new in zip("abcdef", "bcdefg", strict=True))
    + "]>"
)
FILE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def changed(body: bytes, name: str, prefix: str) -> bytes:
    """A document whose file `name` begins with `prefix` instead of an XML declaration."""
    with zipfile.ZipFile(io.BytesIO(body)) as package:
        files: dict[str, str | bytes] = {each: package.read(each) for each in package.namelist()}
    content = files[name]
    text = content.decode() if isinstance(content, bytes) else content
    files[name] = prefix + text[text.find("?>") + 2 if text.startswith("<?xml") else 0 :]
    return zipped(files)


def zip_bomb() -> bytes:
    """A Word document of 600 MB of zeros, in less than a megabyte."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package,
        package.open("word/document.xml", "w", force_zip64=True) as file,
    ):
        for _ in range(600):
            file.write(bytes(1_000_000))
    return buffer.getvalue()


def lying_zip() -> bytes:
    """The same, but it declares that it has only a kilobyte."""
    body = bytearray(zip_bomb())
    entry = body.rindex(b"PK\x01\x02")
    body[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")
    return bytes(body)


def locked() -> bytes:
    """A ZIP file that says that its files are encrypted."""
    body = bytearray(odt_file())
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = body.find(mark)
        while place >= 0:
            body[place + offset] |= 1
            place = body.find(mark, place + 4)
    return bytes(body)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (zip_bomb, "unpacks to more than 400 MB"),
        (lying_zip, "is broken"),
        (lambda: gzip.compress(bytes(300_000_000), 1), "unpacks to more than 200 MB"),
        (lambda: gzip.compress(gzip.compress(docx_file())), "compressed twice"),
        (lambda: gzip.compress(b"Kites fly." * 99)[:-9], "ends too early"),
        (lambda: changed(docx_file(), "word/document.xml", LAUGHS), "declares entities"),
        (lambda: changed(xlsx_file(), "xl/workbook.xml", FILE), "declares entities"),
        (lambda: changed(odt_file(), "content.xml", FILE), "declares entities"),
        (lambda: changed(epub_file(), "OEBPS/book.opf", LAUGHS), "declares entities"),
        (lambda: docx_file()[:-200], "ZIP file is broken"),
        (lambda: changed(docx_file(), "word/document.xml", "<oops"), "Word document is broken"),
        (lambda: zipped({"word/document.xml": "<a/>"}), "Word document is broken"),
        (lambda: zipped({"ppt/x": "<a/>"}), "PowerPoint presentation is broken"),
        (lambda: zipped({"xl/x": "<a/>"}), "Excel workbook is broken"),
        (lambda: zipped({"mimetype": "application/epub+zip"}), "ZIP file is broken"),
        (lambda: zipped({"a.txt": "text"}), "it is a binary file .ZIP archive."),
        (lambda: OLE + "EncryptedPackage".encode("utf-16-le"), "needs a password"),
        (locked, "needs a password"),
        (lambda: odt_file(**{"META-INF/manifest.xml": "<encryption-data/>"}), "needs a password"),
        (lambda: OLE, "old Office document"),
        (
            lambda: epub_file(
                **{
                    "META-INF/encryption.xml": '<e xmlns:x="http://www.w3.org/2001/04/xmlenc#">'
                    '<x:CipherReference URI="OEBPS/text/one.xhtml"/></e>'
                }
            ),
            "copy protection",
        ),
    ],
)
async def test_a_reason_is_given(sandbox: Sandbox, make: object, reason: str) -> None:
    with pytest.raises(ExtractionError, match=reason):
        await sandbox.extract(make(), "file:///a.bin")  # type: ignore[operator]


async def test_a_workbook_of_many_rows_is_read_up_to_a_limit(sandbox: Sandbox) -> None:
    row = '<row><c t="inlineStr"><is><t>delta</t></is></c><c><v>3</v></c></row>'
    with zipfile.ZipFile(io.BytesIO(xlsx_file())) as package:
        files: dict[str, str | bytes] = {each: package.read(each) for each in package.namelist()}
    sheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    files["xl/worksheets/sheet1.xml"] = (
        f'<worksheet xmlns="{sheet}"><dimension ref="A1:B100000"/><sheetData>{row * 100_000}</sheetData>'
        "</worksheet>"
    )
    page = await sandbox.extract(zipped(files), "file:///kites.xlsx")
    assert "only the first 20,000 of its rows were read" in page.notice


async def test_empty_rows_without_end_do_not_hold_up_reading(sandbox: Sandbox) -> None:
    with zipfile.ZipFile(io.BytesIO(xlsx_file())) as package:
        files: dict[str, str | bytes] = {each: package.read(each) for each in package.namelist()}
    sheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    files["xl/worksheets/sheet1.xml"] = (
        f'<worksheet xmlns="{sheet}"><sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row></sheetData></worksheet>'
    )
    page = await sandbox.extract(zipped(files), "file:///far.xlsx")
    assert "7" in page.passages[0].text
