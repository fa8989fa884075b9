"""Documents that people add on the pages: chosen, dropped or by a link, then asked, opened, and removed."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.core.settings import Settings
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source
from citewell.server.access.owner import owner_token
from tests.retriever.extract.office.made import docx_file, xlsx_file
from tests.server.api.conftest import Service, serving
from tests.server.local import ReplyHandler, answering
from tests.server.pages.conftest import HARM, OpenPage
from tests.server.pages.test_accessibility import NARROW, WIDE, faults

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "How long do humpback whales sing?"
SONG = (
    f"# Whale song {HARM}\n\n## Humpbacks\n\nMale humpback whales sing for 30 minutes at a time, and sing "
    "the same song as all others of their herd.\n\n## Blue whales\n\n"
    + "Blue whales call low and loud. "
    * 120
)
DROP = """([files, links]) => {
    const data = new DataTransfer();
    for (const [name, body] of files) {
        data.items.add(new File([Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0))], name));
    }
    if (links) {
        data.setData("text/uri-list", links);
    }
    for (const type of ["dragover", "drop"]) {
        const event = { dataTransfer: data, bubbles: true, cancelable: true };
        document.body.dispatchEvent(new DragEvent(type, event));
    }
}"""


PASTE = """([name, text]) => {
    const data = new DataTransfer();
    if (name) {
        data.items.add(new File([text], name));
    } else {
        data.setData("text/plain", text);
    }
    const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
}"""
PAGE = "<title>Whale song</title><main><h1>Whale song</h1><p>Humpback whales sing for 30 minutes.</p></main>"


@pytest.fixture
def web() -> Iterator[str]:
    """A proxy, behind which each site has one page on whales."""

    class Handler(ReplyHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            is_robots = self.path.endswith("/robots.txt")
            self.reply(b"" if is_robots else PAGE.encode(), "text/plain" if is_robots else "text/html")

    with answering(Handler) as url:
        yield url


@pytest.fixture
def own(settings: Callable[..., Settings], tmp_path: Path) -> Iterator[tuple[Service, str]]:
    """A service of a new user, and the address that `citewell serve` prints."""
    with serving(settings(data_dir=tmp_path / "data", search__providers="wikipedia")) as service:
        yield service, f"/#token={owner_token(service.settings.data_dir)}"


def upload(name: str, body: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": body}


async def test_chosen_files_are_added_asked_and_opened_at_the_cited_passage(
    open_page: OpenPage, own: tuple[Service, str]
) -> None:
    service, address = own
    page = await open_page(address, url=service.url)
    assert await page.evaluate("document.activeElement.id") == "question"
    await page.get_by_role("button", name="Add documents").click()
    await page.get_by_label("Choose files").set_input_files(
        [
            upload("song.md", SONG.encode()),
            upload("kites.docx", docx_file()),
            upload("bad.pdf", b"%PDF-1.4 x"),
        ]
    )
    await page.get_by_text("2 of 3 documents in the collection documents.").wait_for()
    song, kites, bad = await page.locator(".given li").all_inner_texts()
    assert song.startswith("song.md")
    assert "Added" in song
    assert "The handbook of kites" in kites
    assert "Skipped the PDF is broken" in bad
    assert await page.locator("#where .chosen").inner_text() == "The collection documents"
    assert await page.evaluate("document.activeElement.id") == "question"

    await page.keyboard.type(QUESTION)
    await page.keyboard.press("Enter")
    await page.locator(".answer[data-answer] .actions").wait_for()
    assert await page.locator("#searched").inner_text() == "Searched: the collection documents"
    await page.locator(".source h3 a").first.click()
    cited = page.locator("#cited")
    await cited.wait_for()
    assert "Male humpback whales sing for 30 minutes" in await cited.inner_text()
    assert "30 minutes" in " ".join(await cited.locator("mark").all_inner_texts())
    assert await cited.evaluate(
        "e => { const r = e.getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight }"
    )
    assert "Blue whales" in await page.locator(".document").inner_text()
    await page.get_by_role("link", name="Back to the answer").click()
    await page.locator(".answer[data-answer] .actions").wait_for()
    await page.locator("#where .chosen", has_text="The collection documents").wait_for()
    await page.evaluate("localStorage.setItem('citewell-language', 'de')")
    await page.goto(f"{service.url}/?collection=documents")
    await page.locator("#where .chosen", has_text="Die Sammlung documents").wait_for()  # named as it is


async def test_files_and_links_are_dropped(open_page: OpenPage, own: tuple[Service, str]) -> None:
    service, address = own
    page = await open_page(address, url=service.url)
    await page.get_by_role("button", name="Add documents").wait_for()
    sheet = [["sales.xlsx", base64.b64encode(xlsx_file()).decode()]]
    await page.evaluate(DROP, [sheet, ""])
    await page.get_by_text("1 of 1 document in the collection documents.").wait_for()
    assert "hidden sheets were left out: Secret" in await page.locator(".given li").inner_text()
    await page.evaluate(DROP, [[], "http://127.0.0.1:9/private"])
    await page.get_by_text("0 of 1 document in the collection documents.").wait_for()
    assert "Skipped" in await page.locator(".given li").last.inner_text()
    await page.get_by_label("Link to a page").fill("http://169.254.169.254/")
    await page.keyboard.press("Enter")
    await page.locator(".given li.skipped").nth(1).wait_for()


async def test_links_and_files_are_pasted_and_asked(
    open_page: OpenPage, settings: Callable[..., Settings], tmp_path: Path, web: str
) -> None:
    wanted = settings(data_dir=tmp_path / "data", search__providers="wikipedia", fetch__proxy=web)
    with serving(wanted) as service:
        page = await open_page(f"/#token={owner_token(service.settings.data_dir)}", url=service.url)
        await page.evaluate(PASTE, ["song.md", "# Kites\n\nA kite flies in the wind.\n"])  # into the field
        await page.get_by_text("1 of 1 document in the collection documents.").wait_for()
        await page.evaluate(PASTE, ["", "http://typed.example/"])  # the field takes it, as any text
        await page.evaluate("document.activeElement.blur()")
        await page.evaluate(PASTE, ["", "no link"])
        await page.evaluate(PASTE, ["", "http://whales.example/song"])
        await page.locator(".given li", has_text="http://whales.example/song").wait_for()
        await page.locator(".given li.indexed", has_text="Whale song 1 passage").wait_for()
        await page.get_by_label("Link to a page").fill("http://more.example/song")
        await page.get_by_role("button", name="Add", exact=True).click()
        await page.locator(".given li.indexed").nth(2).wait_for()
        assert await page.locator(".given li").count() == 3
        await page.get_by_label("Your question").fill(QUESTION)
        await page.keyboard.press("Enter")
        await page.locator(".answer[data-answer] .actions").wait_for()
        assert "30 minutes" in await page.locator(".prose").inner_text()
        assert await page.locator(".source .site").first.inner_text() in ("whales.example", "more.example")


async def test_a_collection_is_looked_into_and_emptied(open_page: OpenPage, own: tuple[Service, str]) -> None:
    service, address = own
    page = await open_page(address, url=service.url)
    await page.get_by_role("link", name="Collections", exact=True).click()
    await page.get_by_label("Collection", exact=True).first.fill("mine")
    await page.get_by_label("Choose files").set_input_files([upload("song.md", SONG.encode())])
    await page.get_by_role("link", name="mine").click()
    await page.get_by_role("heading", name="mine").wait_for()
    await page.get_by_label("Choose files").set_input_files([upload("kites.docx", docx_file())])
    await page.get_by_text("1 of 1 document in the collection mine.").wait_for()
    await page.locator("#documents .card").nth(1).wait_for()
    await page.get_by_label("Search this collection").fill("humpback")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/collections/mine?query=humpback")
    await page.get_by_role("link", name="Whale song").wait_for()
    assert await page.locator("#documents .card").count() == 1
    await page.get_by_role("link", name="All documents").click()
    await page.locator("#documents .card").nth(1).wait_for()
    assert (await page.locator("#holds").inner_text()).startswith("2 documents")
    await page.get_by_role("button", name="Remove The handbook of kites").click()
    await page.get_by_role("button", name="Really delete?").click()
    await page.locator("#documents .card").nth(1).wait_for(state="detached")
    await page.locator("#documents-title:focus").wait_for()
    await page.get_by_label("Choose files").set_input_files([upload("more.md", SONG.encode())])
    await page.locator("#documents .card").nth(1).wait_for()
    await page.get_by_role("button", name="Delete this collection").click()  # asks, also after an addition
    await page.get_by_role("button", name="Really delete?").click()
    await page.wait_for_url("**/collections")
    await page.get_by_text("No collections yet.").wait_for()


async def test_a_collection_is_refreshed(
    open_page: OpenPage, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    sources, data = tmp_path / "sources", tmp_path / "data"
    sources.mkdir()
    (sources / "song.md").write_text(SONG)
    (sources / "old.md").write_text("# Old news\n\nThis note will be gone by tomorrow.\n")
    with indexing(EmbeddedCatalog(data), "mine") as indexer:
        index_documents(indexer, str(sources.resolve()), read_source(sources))
    wanted = settings(data_dir=data, search__providers="wikipedia", server__sources=sources)
    with serving(wanted) as service:
        address = f"/collections/mine#token={owner_token(data)}"
        page = await open_page(address, url=service.url, viewport=NARROW, color_scheme="dark")
        button = page.get_by_role("button", name="Refresh")
        await button.wait_for()
        (sources / "old.md").unlink()
        (sources / "new.md").write_text("# Fresh news\n\nThis note was written a moment ago.\n")
        await button.click()
        await page.get_by_text("1 added, 0 changed, 1 unchanged, 1 removed, 0 failed").wait_for()
        assert await page.locator("#refreshed li").all_inner_texts() == ["collection:mine/old.md: gone"]
        await page.get_by_role("link", name="Fresh news").wait_for()
        assert await page.get_by_role("link", name="Old news").count() == 0
        assert await page.evaluate("document.activeElement.id") == "refresh"
        assert await faults(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]

        await page.evaluate("localStorage.setItem('citewell-language', 'de')")
        await page.reload()
        await page.get_by_role("button", name="Aktualisieren").click()
        await page.get_by_text("0 neu, 0 geändert, 2 unverändert, 0 entfernt, 0 gescheitert").wait_for()

        sources.rename(tmp_path / "elsewhere")
        await page.get_by_role("button", name="Aktualisieren").click()
        await page.locator("#refreshed li", has_text="Its documents stay.").wait_for()
        assert await page.locator("#documents .card").count() == 2


async def test_without_the_token_the_page_says_how_to_add(
    open_page: OpenPage, own: tuple[Service, str]
) -> None:
    service, _ = own
    page = await open_page("/", url=service.url, expected="403 (Forbidden)")
    await page.get_by_role("button", name="Add documents").click()
    await page.get_by_label("Choose files").set_input_files([upload("song.md", SONG.encode())])
    await page.get_by_role("alert").get_by_text("open the address that citewell serve printed").wait_for()


async def test_a_question_in_the_address_is_asked_and_keys_lead_to_the_field(
    open_page: OpenPage, service: Service
) -> None:
    page = await open_page("/?q=How do bats find their way in the dark?&collection=notes")
    await page.locator(".answer[data-answer] .actions").wait_for()
    assert await page.locator("#searched").inner_text() == "Searched: the collection notes"
    await page.locator("h1").click()
    for keys in ("/", "Control+k"):
        await page.evaluate("document.activeElement.blur()")
        await page.keyboard.press(keys)
        assert await page.evaluate("document.activeElement.id") == "question"
    assert await page.locator("#question").input_value() == ""
    await page.goto("/history")
    await page.keyboard.press("/")
    await page.wait_for_url(f"{service.url}/")


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["light", "dark"])
async def test_the_pages_of_documents_have_no_fault(
    open_page: OpenPage, own: tuple[Service, str], scheme: str, viewport: dict[str, int]
) -> None:
    service, address = own
    page = await open_page(address, url=service.url, color_scheme=scheme, viewport=viewport)
    await page.get_by_role("button", name="Add documents").click()
    await page.get_by_label("Choose files").set_input_files(
        [upload("song.md", SONG.encode()), upload("x.png", b"\x89PNG\r\n\x1a\n")]
    )
    await page.get_by_text("1 of 2 documents").wait_for()
    found = await faults(page)
    assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    for place in ("/collections", "/collections/documents"):
        await page.goto(place)
        await page.get_by_role("button", name="Add", exact=True).wait_for()
        found += await faults(page)
        assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    await page.get_by_role("link", name="Whale song").click()
    await page.locator(".document").wait_for()
    found += await faults(page)
    assert found == []
    assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
