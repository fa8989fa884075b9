"""The ZIP file that an office document or a book is: what it may hold, and what kind of document it is."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from citewell.core.errors import ExtractionError
from citewell.core.reasons import named_error

if TYPE_CHECKING:
    from lxml.etree import _Element

PackageKind = Literal["docx", "pptx", "xlsx", "odt", "epub"]

MOST_BYTES = 400_000_000
"""Bytes to which a file may unpack."""
_MOST_FILES = 20_000
_PROLOG = 65_536  # bytes in which a declaration of entities begins
_NAMES: dict[PackageKind, str] = {
    "docx": "Word document",
    "pptx": "PowerPoint presentation",
    "xlsx": "Excel workbook",
    "odt": "OpenDocument text",
    "epub": "EPUB book",
}
_MEDIA_TYPES: dict[bytes, PackageKind] = {
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/epub+zip": "epub",
}
_FOLDERS: dict[str, PackageKind] = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
_PREAMBLE = re.compile(rb"\A(?:\s|\xef\xbb\xbf|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_PROGRAM_TITLE = re.compile(
    r"untitled|microsoft|powerpoint|word document|\.(?:docx?|pptx?|odt|epub)\b", re.IGNORECASE
)
_BROKEN_HINT = "Open it in the program that made it and save it again."


class Package:
    """An opened ZIP file whose content is small enough to read."""

    def __init__(self, body: bytes) -> None:
        """Raise `ExtractionError` for a ZIP file that is broken, encrypted, or unpacks to too much."""
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise ExtractionError(f"its ZIP file is broken ({error})", _BROKEN_HINT) from error
        files = self._zip.infolist()
        if len(files) > _MOST_FILES:
            raise ExtractionError(f"it is a ZIP file of {len(files):,} files, and too many to read")
        # zipfile reads no more of a file than the size that is declared for it.
        if sum(file.file_size for file in files) > MOST_BYTES:
            raise too_large()
        if any(file.flag_bits & 1 for file in files):
            raise encrypted()
        self.names = frozenset(self._zip.namelist())

    @property
    def kind(self) -> PackageKind | None:
        """The kind of document, or None for another ZIP file."""
        media_type = self.read("mimetype").strip() if "mimetype" in self.names else b""
        by_folder = (kind for folder, kind in _FOLDERS.items() if self._has(folder))
        return _MEDIA_TYPES.get(media_type) or next(by_folder, None)

    def read(self, name: str) -> bytes:
        """Return the content of a file, which must be there."""
        return self._read(name, -1)

    def xml(self, name: str) -> _Element:
        """Return the root element of an XML file. Entities are not replaced, and nothing else is loaded."""
        from lxml import etree

        body = self.read(name)
        refuse_entities(body)
        return etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))

    def check_entities(self) -> None:
        """Raise `ExtractionError` if an XML file declares entities, before a library reads it."""
        for name in self.names:
            if name.endswith((".xml", ".rels")):
                refuse_entities(self._read(name, _PROLOG))

    def _read(self, name: str, size: int) -> bytes:
        if name not in self.names:
            raise ExtractionError(f"its ZIP file is broken (there is no {name})", _BROKEN_HINT)
        try:
            with self._zip.open(name) as file:
                return file.read(size)
        except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
            raise ExtractionError(f"its ZIP file is broken ({error})", _BROKEN_HINT) from error

    def _has(self, folder: str) -> bool:
        return any(name.startswith(folder) for name in self.names)


def refuse_entities(body: bytes) -> None:
    """Raise `ExtractionError` for XML that declares entities; programs that write documents never do."""
    head = _PREAMBLE.sub(b"", body[:_PROLOG].replace(b"\0", b""), count=1)
    if head[:9].upper() == b"<!DOCTYPE" and b"<!ENTITY" in body.replace(b"\0", b"").upper():
        raise ExtractionError("its XML declares entities, which can harm a reader")


@contextmanager
def explained(kind: PackageKind) -> Iterator[None]:
    """Report whatever a library raises for a damaged document as an `ExtractionError`."""
    try:
        yield
    except (ExtractionError, MemoryError):
        raise
    except Exception as error:  # they raise exceptions of any type
        reason = f"the {_NAMES[kind]} is broken ({named_error(error)})"
        raise ExtractionError(reason, _BROKEN_HINT) from error


def own_title(text: str | None) -> str:
    """Return the title in the properties of a document, unless its program made it up."""
    title = " ".join((text or "").split())
    return "" if _PROGRAM_TITLE.search(title) else title


def too_large() -> ExtractionError:
    """Return the error for a file that unpacks to too much."""
    return ExtractionError(f"it unpacks to more than {MOST_BYTES / 1e6:,.0f} MB", "Divide it.")


def encrypted() -> ExtractionError:
    """Return the error for a document that needs a password."""
    return ExtractionError("it is encrypted, and needs a password", "Save a copy without a password.")
