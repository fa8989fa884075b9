"""Takes the pictures of the pages, for the README and the handbook.

A service of its own answers questions from the handbook, and Chromium looks at it: `python -m
benchmarks.screenshots`. It needs the extras `server`, `browser` and `render`, and Chromium or Chrome.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from citewell.core.settings import load_settings
from citewell.retriever.fetch.render import find_chromium, runs_as_root
from citewell.server.access.owner import owner_token
from citewell.server.running import server_config
from citewell.server.sockets import listen

IMAGES = Path(__file__).parents[1] / "docs" / "images"

QUESTION = "How does Citewell check a citation?"
_WIDE: dict[str, Any] = {"viewport": {"width": 1160, "height": 720}}
_TALL: dict[str, Any] = {"viewport": {"width": 1160, "height": 900}}
_PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
FOLLOW_UP = "Does it need a GPU?"
_FILES = {
    "minutes-of-may.md": b"# Minutes of May\n\nWe decided to spend 400 euros on a printer.\n",
    "budget.csv": b"item,euros\nprinter,400\npaper,60\n",
    "team.png": b"\x89PNG\r\n\x1a\n",
}
_SELECT = """(text, place) => {
  const found = [...text.textContent.matchAll(/[A-Z][^.#*]{60,}\\./g)][place];
  const node = [...text.childNodes].find(({ data }) => data?.includes(found[0]));
  const begin = node.data.indexOf(found[0]);
  getSelection().setBaseAndExtent(node, begin, node, begin + found[0].length);
}"""
"""Selects one of the sentences of a page that have no link."""


def main() -> None:
    """Take all pictures, and print their sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=IMAGES, help="folder of the pictures")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as folder,
        serving(folder) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), chromium_sandbox=not runs_as_root()
        )
        owner = f"/#token={owner_token(Path(folder))}"
        pictures: dict[str, tuple[Callable[[Any, Path], None], dict[str, Any]]] = {
            "ask-light": (ask, _WIDE),
            "conversation-dark": (converse, _PHONE),
            "documents-light": (partial(add, owner), _TALL),
            "demonstrate-light": (demonstrate, _TALL),
        }
        for name, (take, size) in pictures.items():
            file = out / f"{name}.png"
            take(browser.new_context(base_url=url, locale="en-GB", **size), file)
            print(f"{file}: {file.stat().st_size / 1000:.0f} kB")
        browser.close()


def ask(context: Any, file: Path) -> None:
    """Ask the question, hover over the first citation, and save a screenshot in `file`."""
    page = context.new_page()
    page.set_default_timeout(120_000)  # a language model is loaded for the first answer
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".answer[data-answer] .actions").wait_for()
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.locator(".citation").first.hover()
    page.locator(".panel.open").wait_for()
    page.screenshot(path=file)
    context.close()


def converse(context: Any, file: Path) -> None:
    """Ask the question and a follow-up on a phone, and save a screenshot of the second answer in `file`."""
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".answer[data-answer] .actions").wait_for()
    page.get_by_label("Ask a follow-up").fill(FOLLOW_UP)
    page.keyboard.press("Enter")
    page.locator("#asked", has_text=FOLLOW_UP).wait_for()
    page.evaluate("document.querySelector('.turns').scrollIntoView()")
    page.screenshot(path=file)
    context.close()


def add(address: str, context: Any, file: Path) -> None:
    """Add documents as the owner, at an address with the token, and save a screenshot in `file`."""
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.get_by_role("button", name="Add documents").click()
    given = [
        {"name": name, "mimeType": "application/octet-stream", "buffer": body}
        for name, body in _FILES.items()
    ]
    page.get_by_label("Choose files").set_input_files(given)
    page.get_by_text(f"{len(_FILES) - 1} of {len(_FILES)} documents in the collection").wait_for()
    page.locator("#where .chosen", has_text="The collection documents").wait_for()
    page.screenshot(path=file)
    context.close()


def demonstrate(context: Any, file: Path) -> None:
    """Begin a demonstration, quote a sentence, select another one, and save a screenshot in `file`."""
    page = context.new_page()
    page.goto("/demonstrate")
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_role("button", name="Begin").click()
    page.get_by_label("Search", exact=True).fill("how a citation is checked")
    page.keyboard.press("Enter")
    page.locator(".page-link").first.click()
    page.locator("#back:enabled").wait_for()
    for place in (0, 1):
        page.locator("#text").evaluate(_SELECT, place)
        page.wait_for_function("document.getElementById('quoted').value")
        if place == 0:
            page.get_by_role("button", name="Quote", exact=True).click()
            page.locator("#quotes .card").wait_for()
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=file)
    context.close()


@contextmanager
def serving(folder: str) -> Iterator[str]:
    """Serve the handbook with a data folder; yield the address."""
    with listen("127.0.0.1", 0) as listening:
        settings = load_settings({"data_dir": folder, "search.collection": "handbook"})
        server = uvicorn.Server(server_config(settings))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    main()
