"""References for reference managers and typesetting: CSL-JSON and BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from citewell.core.addresses import address_parts, shown_address
from citewell.core.text import squeeze

if TYPE_CHECKING:
    from citewell.core.types import Reference

_UNSAFE = re.compile(r"[\\{}\s]")
_WEB = ("https://", "http://")
_SPECIAL = re.compile(r"[\\{}$&#%_~^]")
_ESCAPED: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def csl_items(references: Iterable[Reference], accessed: date) -> list[dict[str, Any]]:
    """Return the pages of the references as items of CSL-JSON, each once.

    `accessed` is the day of the answer, for pages that do not say when they were read.

    Source: https://docs.citationstyles.org/. A page that is a file is a `document`.
    """
    pages: dict[str, Reference] = {}
    for reference in references:
        pages.setdefault(reference.url, reference)
    return [_item(reference, accessed) for reference in pages.values()]


def bibtex(references: Iterable[Reference], accessed: date) -> str:
    """Return the pages of the references as BibTeX entries, with `date` and `urldate` for biblatex."""
    return "\n".join(map(_entry, csl_items(references, accessed)))


def _item(reference: Reference, accessed: date) -> dict[str, Any]:
    is_web = reference.url.startswith(_WEB)
    site = (address_parts(reference.url).hostname or "").removeprefix("www.") if is_web else ""
    item: dict[str, Any] = {
        "id": f"{re.sub('[^a-z0-9]', '', site.lower()) or 'document'}{reference.number}",
        "type": "webpage" if is_web else "document",
        "title": squeeze(reference.title) or shown_address(reference.url),
        "accessed": _days(_day(reference.read) or accessed),
    }
    if is_web:
        item |= {"container-title": site, "URL": reference.url}
    if issued := _day(reference.date):
        item["issued"] = _days(issued)
    if reference.page_number:
        item["page"] = str(reference.page_number)
    return item


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:  # not a date of the calendar
        return None


def _days(day: date) -> dict[str, list[list[int]]]:
    return {"date-parts": [[day.year, day.month, day.day]]}


def _entry(item: Mapping[str, Any]) -> str:
    fields = {
        "title": "{" + _tex(item["title"]) + "}",
        "howpublished": _tex(item.get("container-title", "")),
        "url": _UNSAFE.sub(lambda found: quote(found[0]), item.get("URL", "")),
        "date": _iso(item.get("issued")),
        "year": _iso(item.get("issued"))[:4],
        "pages": item.get("page", ""),
        "urldate": _iso(item["accessed"]),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@misc{{{item['id']},\n{lines}}}\n"


def _iso(days: Mapping[str, list[list[int]]] | None) -> str:
    return date(*days["date-parts"][0]).isoformat() if days else ""


def _tex(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ESCAPED.get(found[0], f"\\{found[0]}"), text)
