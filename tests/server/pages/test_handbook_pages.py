"""The service shows the handbook of its own version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from citewell.server.pages.handbook import rendered
from tests.server.api.conftest import Service

DOCS = Path(__file__).parents[3] / "docs"
NAMES = sorted(page.stem for page in DOCS.glob("*.md"))


def test_pages_are_shown_without_a_key_and_link_to_one_another(service: Service) -> None:
    start = service.client.get("/docs")
    assert start.status_code == 200
    assert "<h1" in start.text
    assert 'href="/docs/citations"' in start.text
    page = service.client.get("/docs/citations").text
    assert "checks a citation in two ways" in page
    assert "<title>How citations are checked" in page


@pytest.mark.parametrize("name", NAMES)
def test_every_link_and_anchor_leads_somewhere(name: str) -> None:
    body = rendered(name).body
    assert "<script" not in body
    assert ".md" not in re.sub(r"https?://\S+", "", "".join(re.findall(r'href="([^"]*)"', body)))
    for page, anchor in re.findall(r'href="/docs/([a-z-]+)(#[^"]*)?"', body):
        assert page in NAMES
        assert not anchor or f'id="{anchor[1:]}"' in rendered(page).body


@pytest.mark.parametrize("name", ["nowhere", "..%2FREADME", "index.md", "%00"])
def test_what_is_not_a_page_is_not_found(service: Service, name: str) -> None:
    assert service.client.get(f"/docs/{name}").status_code == 404
