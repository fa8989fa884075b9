"""References as CSL-JSON and BibTeX."""

from __future__ import annotations

from datetime import date

from citewell.core.bibliography import bibtex, csl_items
from citewell.core.types import Reference

TODAY = date(2026, 11, 23)
REFERENCES = (
    Reference(1, "https://www.notes.example/a_b?x={1}", "Salt & 50% {more}", "…", 0.5, date="2024-05-06"),
    Reference(3, "https://www.notes.example/a_b?x={1}", "Salt & 50% {more}", "…", 0.4),
    Reference(4, "file:///home/ada/report.pdf", "Report", "…", 0.4, date="2024-02-31", page_number=7),
)


def test_pages_become_items_of_csl_each_once() -> None:
    page, document = csl_items(REFERENCES, TODAY)
    assert page == {
        "id": "notesexample1",
        "type": "webpage",
        "title": "Salt & 50% {more}",
        "container-title": "notes.example",
        "URL": "https://www.notes.example/a_b?x={1}",
        "issued": {"date-parts": [[2024, 5, 6]]},
        "accessed": {"date-parts": [[2026, 11, 23]]},
    }
    assert (document["id"], document["type"], document["page"]) == ("document4", "document", "7")
    assert not {"URL", "issued"} & document.keys()


def test_bibtex_is_escaped() -> None:
    text = bibtex(REFERENCES, TODAY)
    assert text.startswith("@misc{notesexample1,\n  title = {{Salt \\& 50\\% \\{more\\}}},\n")
    assert "url = {https://www.notes.example/a_b?x=%7B1%7D}" in text
    assert "date = {2024-05-06}" in text
    assert text.count("@misc{") == 2
    assert text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")


def test_a_page_that_was_read_before_the_answer_says_so() -> None:
    page = Reference(1, "https://notes.example/", "Notes", "…", 0.5, read="2026-11-20")
    assert csl_items([page], TODAY)[0]["accessed"] == {"date-parts": [[2026, 11, 20]]}
    assert "urldate = {2026-11-20}" in bibtex([page], TODAY)
