"""The web of the settings as the text browser sees it: a collection, and pages that this machine serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from citewell.browser.page import TextPage
from citewell.core.errors import SettingsError
from citewell.core.settings import Settings, load_settings
from citewell.pipeline.parts import open_parts
from citewell.pipeline.web import open_web, web_of
from tests.server.linked import Linked, linked_pages

pytest.importorskip("html2text", reason="the extra `browser` is not installed")

QUESTION = "Which birds give gifts?"


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linked]:
    with linked_pages(tmp_path_factory.mktemp("linked")) as linked:
        yield linked


def settings(linked: Linked, **changes: Any) -> Settings:
    changed = {name.replace("__", "."): value for name, value in changes.items()}
    return load_settings(linked.settings | {"fetch.cache": False} | changed)


def links(page: TextPage) -> dict[str, str]:
    return {link.text: link.url for link in page.links}


async def test_results_lead_to_pages_and_pages_to_others(linked: Linked) -> None:
    async with open_web(settings(linked)) as web:
        results = await web.search(QUESTION)
        assert results.title == f"Search results for: {QUESTION}"
        found = links(results)["Crows"]
        assert found == f"{linked.url}/crows"
        crows = await web.open(found, QUESTION)
        assert crows.kind == "page"
        assert "【0†humans】" in crows.text
        tides = await web.open(links(crows)["humans"], QUESTION)
    assert tides.url == f"{linked.url}/tides"
    assert "caused by the gravity of the 【0†Moon†moon.example】" in tides.text


async def test_without_leave_nothing_of_this_machine_is_fetched(linked: Linked) -> None:
    async with open_web(settings(linked, fetch__allow_networks="")) as web:
        held = await web.open(f"{linked.url}/crows", QUESTION)
        assert (held.kind, held.links) == ("page", ()), "the collection holds its text, without its links"
        refused = await web.open(f"{linked.url}/others", QUESTION)
    assert refused.kind == "error"
    assert "loopback" in refused.text


async def test_a_page_that_is_not_there_is_an_error_page(linked: Linked) -> None:
    async with open_web(settings(linked)) as web:
        page = await web.open(f"{linked.url}/others", QUESTION)
    assert page.kind == "error"
    assert "404" in page.text


async def test_several_webs_share_what_fetches_and_each_has_its_filters(linked: Linked) -> None:
    chosen = settings(linked)
    async with open_parts(chosen) as parts:
        search = parts.search()
        whole = web_of(parts, search)
        part = web_of(parts, search, replace(search.query, exclude_sites=("127.0.0.1",)))
        assert links(await whole.search(QUESTION))
        assert not links(await part.search(QUESTION))
        assert (await whole.open(f"{linked.url}/crows", QUESTION)).kind == "page"
        left_out = await part.open(f"{linked.url}/crows", QUESTION)
    assert "pages of this site are left out" in left_out.text


async def test_settings_that_cannot_be_used_are_named_before_anything_is_opened(linked: Linked) -> None:
    with pytest.raises(SettingsError, match="proxy"):
        async with open_web(settings(linked, fetch__proxy="nowhere")):
            pass
