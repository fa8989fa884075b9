"""The readers of ZIP files: which one reads which document."""

from __future__ import annotations

from typing import NamedTuple

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.document import ExtractedDocument
from citewell.retriever.extract.kind import READABLE
from citewell.retriever.extract.office.package import Package


class PackageText(NamedTuple):
    """The text of a document. `notice` says what was not read; it is empty if everything was."""

    document: ExtractedDocument
    notice: str = ""


def read_package(body: bytes, seconds: float) -> PackageText:
    """Read an Office document, an OpenDocument text or a book.

    Long ones are read for about `seconds`. Raises `ExtractionError` for another ZIP file, and for a document
    that is broken, encrypted, or unpacks to too much.
    """
    package = Package(body)
    match package.kind:
        case "docx":
            from citewell.retriever.extract.office.docx import read_docx

            return PackageText(read_docx(body, package))
        case "pptx":
            from citewell.retriever.extract.office.pptx import read_pptx

            return PackageText(read_pptx(body, package))
        case "xlsx":
            from citewell.retriever.extract.office.xlsx import read_xlsx

            return PackageText(*read_xlsx(body, package, seconds))
        case "odt":
            from citewell.retriever.extract.office.odt import read_odt

            return PackageText(read_odt(package))
        case "epub":
            from citewell.retriever.extract.office.epub import read_epub

            return PackageText(*read_epub(package, seconds))
        case None:
            raise ExtractionError("it is a binary file (ZIP archive)", f"Unpack it. {READABLE}")
