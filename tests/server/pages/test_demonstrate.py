"""A person answers a question with the text browser in Chromium, and the demonstration is replayed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from citewell.browser.environment import Browser
from citewell.browser.episode import Episode, read_episodes
from citewell.browser.limits import BrowserLimits
from citewell.browser.recording import Recorded, read_recording
from citewell.core.settings import Settings
from tests.server.api.conftest import Service, serving
from tests.server.linked import linked_pages
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_accessibility import NARROW, WIDE, faults
from tests.server.pages.test_keys import add_key

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "What do crows give to people?"
QUOTED = "crows and other corvids are the only ones known to give gifts to humans."
_SELECT = """(words) => {
  const text = document.getElementById("text");
  const range = document.createRange();
  const nodes = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  const all = [];
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    for (let place = 0; place < node.data.length; place += 1) all.push([node, place]);
  }
  const shown = all.map(([node, place]) => node.data[place].replace(/\\s/, " ")).join("");
  const start = shown.indexOf(words);
  range.setStart(...all[start]);
  range.setEnd(all[start + words.length - 1][0], all[start + words.length - 1][1] + 1);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


@pytest.fixture(scope="module")
def service(settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that browses linked pages."""
    with (
        linked_pages(tmp_path_factory.mktemp("linked")) as linked,
        serving(settings(**linked.settings)) as service,
    ):
        yield service


async def begin(page: Any) -> None:
    await page.get_by_label("Question").fill(QUESTION)
    await page.get_by_role("button", name="Begin").click()
    await page.wait_for_url("**/demonstrate/*")


async def search(page: Any, query: str) -> None:
    await page.get_by_label("Search", exact=True).fill(query)
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name=f"Search results for: {query}").wait_for()


async def open_crows(page: Any) -> None:
    await page.get_by_role("link", name="Crows").click()
    await page.get_by_role("heading", name="Crows (127.0.0.1)").wait_for()


async def quote(page: Any, words: str) -> None:
    await page.evaluate(_SELECT, words)
    field = page.get_by_label("Quote", exact=True)
    await page.wait_for_function("document.getElementById('quoted').value")
    assert await field.input_value() == words
    await page.get_by_role("button", name="Quote", exact=True).click()
    await page.get_by_text("Quoted as number").wait_for()


def exported(service: Service, folder: Path) -> list[Episode]:
    file = folder / "episodes.jsonl"
    file.write_bytes(service.client.get("/v1/export/demonstrations").content)
    return list(read_episodes(file))


async def test_a_question_becomes_a_demonstration_that_replays_to_the_same_states(
    open_page: OpenPage, service: Service, tmp_path: Path
) -> None:
    page = await open_page("/demonstrate", expected="400 (Bad Request)")
    await begin(page)
    await page.get_by_role("button", name="Write the answer").wait_for()
    assert await page.get_by_role("button", name="Write the answer").is_disabled()
    await search(page, "crows")
    await open_crows(page)
    await quote(page, QUOTED)
    for first in (20, 39):
        await page.get_by_role("button", name="Down").click()
        await page.locator("#lines", has_text=f"Lines {first} to").wait_for()
    await page.get_by_label("Find in page").fill("paragraph 30")
    await page.keyboard.press("Enter")
    await page.get_by_text("Paragraph 30.").wait_for()
    await page.get_by_label("Find in page").fill("no such text")
    await page.keyboard.press("Enter")
    await page.get_by_text("No quote: the text is not on the page.").wait_for()

    await page.reload()  # what was begun is taken up again
    await page.get_by_text("Paragraph 30.").wait_for()
    assert QUOTED in await page.locator("#quotes").inner_text()
    await page.get_by_role("button", name="Top").click()
    await page.get_by_text("Many animals").wait_for()
    await page.get_by_role("link", name="humans").click()
    await page.get_by_role("heading", name="Tides (127.0.0.1)").wait_for()
    await page.get_by_role("button", name="Back").click()
    await page.get_by_role("heading", name="Crows (127.0.0.1)").wait_for()
    await page.get_by_role("button", name="Write the answer").click()
    answer = page.get_by_label("Your answer")
    await answer.fill("Crows give gifts to people")
    await page.reload()
    await page.wait_for_function("document.getElementById('answer').value")
    await page.get_by_role("button", name="Submit").click()
    await page.get_by_text("The answer has no citations.").wait_for()
    await answer.press("End")
    await page.get_by_role("button", name="Cite quote 1").click()
    await page.keyboard.type(".")
    await page.get_by_role("button", name="Submit").click()
    await page.wait_for_url("**/trace/*")
    await page.get_by_text("Step 1 of").wait_for()
    assert await page.evaluate("window.harmed") is None

    (episode,) = exported(service, tmp_path)
    assert [step.command for step in episode.steps] == [
        "Search crows",
        "Clicked on link 0",
        f"Quote: {QUOTED}",
        "Scrolled down 2",
        "Find in page: paragraph 30",
        "Find in page: no such text",
        "Top",
        "Clicked on link 0",
        "Back",
        "End: Answer",
    ]
    assert (episode.question, episode.answer) == (QUESTION, "Crows give gifts to people [1].")
    assert [taken.text for taken in episode.quotes] == [QUOTED]

    recording = tmp_path / "recording.jsonl"
    recording.write_bytes(service.client.get(f"/v1/demonstrations/{episode.id}/recording").content)
    limits = msgspec.json.decode(episode.about["limits"], type=BrowserLimits)
    browser = Browser(Recorded(read_recording(recording)), limits)
    state = await browser.reset(episode.question)
    for step in episode.steps:
        assert str(state) == step.state
        state = (await browser.step(step.command)).state
    assert browser.quotes == episode.quotes

    commands = [await item.inner_text() for item in await page.locator("#steps button").all()]
    assert commands == [*(step.command for step in episode.steps), "The answer"]
    marked = "String([...(CSS.highlights.get('quoted') ?? [''])][0])"
    for step in episode.steps:
        assert bool(await page.evaluate(marked)) == (step.kind == "quote")
        assert await page.locator("#command").inner_text() == step.command or step.kind == "invalid"
        await page.get_by_role("button", name="Next").click()
    assert await page.locator("#text").inner_text() == episode.answer


async def test_it_can_be_done_with_the_keyboard_alone(open_page: OpenPage, service: Service) -> None:
    page = await open_page("/demonstrate")
    await begin(page)
    await page.locator("#window").wait_for()
    await page.keyboard.press("s")
    await page.keyboard.type("crows")
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Search results for: crows").wait_for()
    assert await page.evaluate("document.activeElement.id") == "text"
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Crows (127.0.0.1)").wait_for()
    assert await page.evaluate("document.activeElement.id") == "text"
    await page.keyboard.press("j")
    await page.locator("#lines", has_text="Lines 20 to").wait_for()
    await page.keyboard.press("k")
    await page.locator("#lines", has_text="Lines 1 to").wait_for()
    await page.keyboard.press("f")
    await page.keyboard.type("skbjq")  # letters, while a field has the focus
    assert await page.get_by_label("Find in page").input_value() == "skbjq"
    await page.get_by_label("Quote", exact=True).fill("Many animals━species")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.get_by_text("Quoted as number 1.").wait_for()
    await page.locator(
        "#quotes", has_text="Many animals give gifts to members of their own species"
    ).wait_for()
    await page.locator("#text").focus()
    await page.keyboard.press("b")
    await page.get_by_role("heading", name="Search results for: crows").wait_for()
    await page.get_by_role("button", name="The question makes no sense").focus()
    await page.keyboard.press("Enter")
    await page.get_by_text("You ended browsing without an answer").wait_for()
    assert await page.evaluate("document.activeElement.textContent") == "Submit"
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/trace/*")
    await page.get_by_text("ended with Nonsense").wait_for()


async def test_two_windows_do_not_undo_each_other(open_page: OpenPage, service: Service) -> None:
    page = await open_page("/demonstrate", expected="409 (Conflict)")
    await begin(page)
    await page.locator("#window").wait_for()
    address = page.url.replace("/demonstrate/", "/v1/demonstrations/")
    sent = {"command": "Search tides", "after": 0}
    assert service.client.post(f"{address}/actions", json=sent).status_code == 201
    await page.get_by_label("Search", exact=True).fill("crows")
    await page.keyboard.press("Enter")
    await page.get_by_text("was continued in another window").wait_for()
    await page.reload()
    await page.get_by_role("heading", name="Search results for: tides").wait_for()


async def test_an_answer_that_was_browsed_for_leads_to_its_trace(open_page: OpenPage) -> None:
    page = await open_page("/")
    await page.get_by_label("Answer").select_option("Browse step by step")
    await page.get_by_label("Your question").fill("Which animals are known to give gifts to humans?")
    await page.keyboard.press("Enter")
    await page.locator(".pages").get_by_text("Clicked on link 0").first.wait_for(state="attached")
    await page.get_by_role("link", name="How it was found").click()
    await page.get_by_text("By scripted").wait_for()
    assert (await page.locator("#command").inner_text()).startswith("Search ")
    await page.locator("#steps").get_by_role("button", name="Clicked on link 0").first.click()
    await page.locator(".page-link.chosen").wait_for()
    assert await page.evaluate("window.harmed") is None


async def test_episodes_of_a_file_are_replayed(open_page: OpenPage, service: Service, tmp_path: Path) -> None:
    harm = "<img src=x onerror=window.harmed=1>"
    state = (
        f"♦Question\n{harm}\n♦Quotes\n♦Past actions\n♦Title\nCrows {harm} (birds.example)\n"
        "♦Scrollbar: 3 - 5\n♦Text\n"
        f"Crows {harm} and 【4†rav{harm}ens†birds.example】 too\n♦Actions left: 9\n♦Next action\n"
    )
    step = {"state": state, "kind": "click_link"}
    steps = [
        step | {"command": "Clicked on link 4"},
        step | {"command": harm, "kind": "invalid", "reason": "it is odd"},
    ]
    quotes = [{"title": "Crows", "domain": "birds.example", "url": "", "text": harm}]
    episode = {
        "id": "a",
        "question": harm,
        "policy": harm,
        "steps": steps,
        "quotes": quotes,
        "ending": "Answer",
    }
    file = tmp_path / "episodes.jsonl"
    file.write_text(
        json.dumps(episode) + "\n" + json.dumps(episode | {"question": "Second?"}) + "\n", "utf-8"
    )
    page = await open_page("/trace")
    field = page.get_by_label("Episodes from a file")
    await field.set_input_files(file)
    await page.get_by_text("Step 1 of 2").wait_for()
    assert await page.locator("#text").inner_text() == f"Crows {harm} and rav{harm}ens too"
    assert await page.locator("#lines").inner_text() == "Lines 4 to 5"
    assert await page.locator(".page-link.chosen").inner_text() == f"rav{harm}ens"
    await page.get_by_role("button", name="Next").click()
    await page.get_by_text("Invalid: it is odd.").wait_for()
    await page.get_by_label("Step 2 of 2").press("ArrowRight")
    await page.get_by_text("No answer was written.").wait_for()
    await page.get_by_role("combobox", name="Episode").select_option("1")
    await page.get_by_role("heading", name="Second?").wait_for()
    await page.get_by_role("button", name="Next").click()
    await page.get_by_role("button", name="Play").click()
    await page.get_by_text("End, after 2 actions").wait_for()
    assert await page.get_by_role("button", name="Play").get_attribute("aria-pressed") == "false"
    assert await page.evaluate("window.harmed") is None
    for text, said in (
        ("{", "Line 1 of the file is not JSON."),
        ("{}", "is not an episode"),
        ("", "contains no episodes"),
    ):
        file.write_text(text)
        await field.set_input_files([])
        await field.set_input_files(file)
        await page.locator("#problem", has_text=said).wait_for()


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["light", "dark"])
async def test_no_page_has_a_fault(
    open_page: OpenPage, service: Service, scheme: str, viewport: dict[str, int]
) -> None:
    page = await open_page("/demonstrate", color_scheme=scheme, viewport=viewport)
    found = await faults(page)
    await begin(page)
    await page.locator("#window").wait_for()
    found += await faults(page)
    await search(page, "crows")
    await page.get_by_text("Keyboard shortcuts").click()
    await open_crows(page)
    await quote(page, QUOTED)
    found += await faults(page)
    await page.get_by_role("button", name="Write the answer").click()
    await page.get_by_label("Your answer").fill("Gifts [1].")
    found += await faults(page)
    await page.get_by_role("button", name="Submit").click()
    await page.get_by_text("Step 1 of").wait_for()
    await page.get_by_role("button", name="Next").click()
    found += await faults(page)
    assert found == []
    assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


async def test_a_service_with_keys_asks_for_one(
    open_page: OpenPage, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    with linked_pages(tmp_path / "linked") as linked, serving(settings(**linked.settings)) as service:
        key = add_key(service, "ask").secret
        page = await open_page("/demonstrate", url=service.url, expected="401 (Unauthorized)")
        await page.get_by_role("dialog").get_by_label("Key").fill(key)
        await page.keyboard.press("Enter")
        await begin(page)
        await search(page, "crows")
        assert key not in page.url
