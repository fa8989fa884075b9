"""Attack the pages of the service with scripts, in a real Chromium.

`python -m benchmarks.hostile.scripts` stores answers, conversations, comments, documents, studies and
demonstrations whose texts and addresses carry scripts, opens every page that shows them, and counts scripts
that run, violations of the content security policy, requests to elsewhere and links that would run. It needs
the extra `render` and Chromium.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.hostile.payloads import PAYLOADS
from benchmarks.hostile.showing import HostilePage, store_all
from benchmarks.hostile.tally import Tally, attack_command
from benchmarks.hostile.target import Target, open_target
from benchmarks.small_service import BATS
from citewell.retriever.fetch.render import find_chromium, runs_as_root

_STREAMED = 4  # questions that are asked on the page
_WATCH = """
window.broken = [];
document.addEventListener("securitypolicyviolation", (event) => window.broken.push(event.effectiveDirective));
"""
_LOOK = """async () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of document.querySelectorAll(".citation, main a, main button")) {
    each.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
    each.dispatchEvent(new FocusEvent("focusin", {bubbles: true}));
  }
  await new Promise((resume) => setTimeout(resume, 30));
  const all = [...document.querySelectorAll("*")];
  const names = ["href", "src", "action", "formaction", "data", "xlink:href"];
  const runs = /^\\s*(javascript|vbscript|data):/i;
  return {
    harmed: window.harmed !== undefined,
    broken: window.broken,
    handlers: all.flatMap((e) => [...e.attributes]).map((a) => a.name).filter((n) => n.startsWith("on")),
    links: all.flatMap((e) => names.map((name) => e.getAttribute(name) || "")).filter((v) => runs.test(v)),
  };
}"""


def attack(target: Target, *, small: bool = False) -> Tally:
    """Store everything hostile, and open the pages."""
    payloads = PAYLOADS[: 1 if small else None]
    pages = list(store_all(target, payloads))
    tally = Tally()
    asyncio.run(look(tally, target.url, pages, [] if small else payloads[:_STREAMED]))
    tally.note("afterwards", "tracebacks in the log", "; ".join(target.tracebacks()[:3]))
    return tally


@asynccontextmanager
async def _browser() -> AsyncIterator[Any]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(), chromium_sandbox=not runs_as_root()
        )
        yield browser
        await browser.close()


async def look(tally: Tally, url: str, pages: Iterable[HostilePage], streamed: Iterable[str] = ()) -> None:
    """Open pages of a service, and ask it questions on its first page; note what runs."""
    async with _browser() as browser:
        context = await browser.new_context(base_url=url)
        await context.add_init_script(_WATCH)
        for shown in pages:
            tally.note(shown.kind, shown.path[:120], await _open(context, url, shown.path, ""))
        for question in streamed:
            tally.note("streams", question[:80], await _open(context, url, "/", f"{BATS} {question}"))


async def _open(context: Any, url: str, path: str, question: str) -> str:
    """Open a page, ask a question if there is one, and return what ran that should not have, or ""."""
    page = await context.new_page()
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url))
    page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.dismiss()))
    try:
        await page.goto(path)
        if question:
            await page.get_by_label("Your question").fill(question)
            await page.keyboard.press("Enter")
            await page.locator(".answer[data-answer] .actions").wait_for(timeout=30_000)
        found = await page.evaluate(_LOOK)
    except Exception as error:  # noqa: BLE001 - a page that cannot be opened was not attacked
        return f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        await page.close()
    left = [each for each in outside if not each.startswith((f"{url}/", "blob:"))]
    problems = {
        "a script ran": found["harmed"],
        f"against the policy: {found['broken'][:3]}": found["broken"],
        f"handlers: {found['handlers'][:2]}": found["handlers"],
        f"links: {found['links'][:2]}": found["links"],
        f"requests: {left[:2]}": left,
    }
    return "; ".join(problem for problem, is_there in problems.items() if is_there)


def run(small: bool) -> Tally:
    """Attack a service of its own, which needs no key."""
    with open_target(server__cache_seconds=0) as target:
        return attack(target, small=small)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("scripts", __doc__, run, words)


if __name__ == "__main__":
    main()
