"""An answer as a file, and its cited sources for a reference manager."""

from __future__ import annotations

import httpx
import lxml.html
import pytest

from benchmarks.small_service import BATS
from citewell.server.api.schemas import AnswerResponse, to
from citewell.server.pages.markdown import as_markdown
from tests.server.api.conftest import Service


@pytest.fixture(scope="module")
def address(service: Service) -> str:
    answer = service.ask(BATS).json()
    return f"/v1/answers/{answer['id']}/export"


def export(service: Service, address: str, form: str) -> httpx.Response:
    response = service.client.get(address, params={"format": form})
    response.raise_for_status()
    return response


def test_an_answer_is_exported_as_text(service: Service, address: str) -> None:
    markdown = export(service, address, "markdown")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert markdown.headers["content-disposition"].endswith('.md"')
    assert f"**{BATS}**" in markdown.text
    page = export(service, address, "html")
    assert page.headers["content-disposition"].startswith("attachment")
    assert page.text.startswith("<!doctype html>")
    assert '<a href="https://notes.example/bats"' in page.text
    own = service.client.get(address.removesuffix("/export")).json()
    assert export(service, address, "json").json() == own


def test_cited_sources_are_exported_for_reference_managers(service: Service, address: str) -> None:
    own = service.client.get(address.removesuffix("/export")).json()
    cited = {number for sentence in own["sentences"] for number in sentence["citations"]}
    urls = {reference["url"] for reference in own["references"] if reference["number"] in cited}
    items = export(service, address, "csl")
    assert items.headers["content-type"] == "application/vnd.citationstyles.csl+json"
    assert {item["URL"] for item in items.json()} == urls
    entries = export(service, address, "bibtex")
    assert entries.headers["content-disposition"].endswith('.bib"')
    assert all(f"url = {{{url}}}" in entries.text for url in urls)


def test_an_answer_without_citations_has_no_sources_to_export(service: Service) -> None:
    unanswered = service.ask("Which gene turns zebrafish transparent?").json()
    assert (unanswered["outcome"], bool(unanswered["references"])) == ("no_evidence", True)
    items = export(service, f"/v1/answers/{unanswered['id']}/export", "csl")
    assert items.json() == []


def test_notices_are_exported_with_the_answer(service: Service) -> None:
    answer = service.client.get(f"/v1/answers/{service.ask(BATS).json()['id']}").json()
    noted = to(AnswerResponse, answer | {"notices": ["One page was *late*."]})
    assert "\n\n*Note: One page was \\*late\\*.*\n\n" in as_markdown(noted)


def test_what_cannot_be_exported_is_refused(service: Service, address: str) -> None:
    assert service.client.get(address, params={"format": "docx"}).status_code == 400
    assert service.client.get("/v1/answers/none/export").status_code == 404


def test_a_follow_up_is_copied_and_exported_with_what_it_asks(service: Service) -> None:
    thread = service.ask(BATS).json()["thread"]
    answer = service.ask("What do they send out?", thread=thread).json()
    address = f"/answers/{answer['id']}"
    said = f"Answered as: {answer['rewritten']}"
    assert "bats" in said
    for form in ("markdown", "html"):
        assert said in export(service, f"/v1{address}/export", form).text
    page = lxml.html.fromstring(service.client.get(address).text)
    (copied,) = page.xpath('//pre[@data-copied="plain"]')
    assert f"\n\n{said}\n\n" in copied.text
