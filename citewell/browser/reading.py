"""Conversion of a downloaded body of any content type to a page of the text browser."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from citewell.browser.characters import inert
from citewell.browser.page import TextPage, error_page, text_page
from citewell.core.errors import ExtractionError
from citewell.core.packages import need_packages
from citewell.core.reasons import named_error
from citewell.retriever.extract.charset import decode
from citewell.retriever.extract.kind import kind_of
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.search.presets import PRESETS

_MAX_CHARACTERS = 500_000  # a page has the memory of a reader and of a cache to share
_CUT = "\n\n[The rest of this page is left out.]"


class PageReader:
    """A reader of pages in sandboxed processes, which end if a page takes too much time or memory.

    Links to the domains `denied` and their subdomains become text. Raises `InputError` if a package that
    browsing needs is not installed.
    """

    def __init__(self, sandbox: Sandbox, denied: Collection[str] = PRESETS["webgpt"]) -> None:
        need_packages("Browsing", "browser", "html2text", "readability")
        self._sandbox = sandbox
        self._denied = tuple(denied)

    async def read(self, body: bytes, url: str, content_type: str = "") -> TextPage:
        """Return the page, or an error page that says why it cannot be shown."""
        try:
            page = await self._sandbox.read(
                f"{__name__}:read", TextPage, body, url, content_type, self._denied
            )
        except ExtractionError as error:
            return error_page(url, error.message)
        return page if page.url == url else error_page(url, "the process that read it sent another page")


def read_page(
    body: bytes, url: str, content_type: str = "", denied: Collection[str] = PRESETS["webgpt"]
) -> TextPage:
    """Read a trusted page in this process; return an error page on any error."""
    try:
        return read(body, url, content_type, denied)
    except ExtractionError as error:
        return error_page(url, error.message)
    except Exception as error:  # noqa: BLE001 - whatever a parser does about a page is said about that page
        return error_page(url, f"it cannot be read ({named_error(error)})")


def read(body: bytes, url: str, content_type: str, denied: Collection[str]) -> TextPage:
    """Convert a body of this content type to a page of the text browser.

    HTML is simplified, PDFs are converted by pdfminer.six, and other text is shown as it is (WebGPT, appendix
    A). A page of more than 500,000 characters is cut, with a note. Raises `ExtractionError` for a page that
    cannot be shown, such as an image.
    """
    page = _read(body, url, content_type, denied)
    if len(page.text) <= _MAX_CHARACTERS:
        return page
    text = page.text[:_MAX_CHARACTERS]
    end, mark = max(text.rfind("\n"), text.rfind(" ")), text.rfind("【")
    if mark > text.rfind("】"):  # it was cut in two
        end = min(end, mark)
    return replace(page, text=text[:end] + _CUT, links=page.links[: text.count("【", 0, end)])


def _read(body: bytes, url: str, content_type: str, denied: Collection[str]) -> TextPage:
    match kind_of(body, url, content_type):
        case "html":
            from citewell.browser.simplify import simplify

            return simplify(body, url, content_type, denied)
        case "pdf":
            from citewell.retriever.extract.pdf import read_pdf

            document, notice = read_pdf(body)
            blocks = [block.text for block in document.blocks]
            return text_page(
                url, document.title, inert("\n\n".join([*blocks, f"[{notice}]"] if notice else blocks))
            )
        case "zip" | "gzip" as archive:
            raise ExtractionError(
                f"it is a binary file ({'gzip' if archive == 'gzip' else 'ZIP'} archive or Office document)",
                "The text browser reads HTML, plain text and PDF.",
            )
        case _:
            return text_page(url, "", inert(decode(body, content_type)).strip("\n"))
