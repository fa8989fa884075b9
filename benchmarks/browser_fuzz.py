"""Fuzz the text browser with random commands on random pages.

    python -m benchmarks.browser_fuzz

sends 100,000 random commands (seeded) to browsers with several limits, on random mixtures of HTML and text,
including injections. Commands are legal ones, mutated ones, forged link ids, quotes that cross links, numbers
of all scripts, Unicode with lone surrogates and control characters, and giant arguments. After each command
`benchmarks.browser_invariants` must hold: only links of a page are opened, the state is within its budget,
and no text of a page is a section, a mark or a command. Otherwise the program exits with 1 and prints the
seed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.browser_injections import INJECTIONS
from benchmarks.browser_invariants import RecordedWeb, checked_step
from benchmarks.results_files import output_option, save, table
from citewell.browser.characters import MARK, stripped
from citewell.browser.environment import Browser
from citewell.browser.limits import BrowserLimits, Count
from citewell.browser.page import TextPage, error_page
from citewell.browser.reading import read_page
from citewell.browser.results import results_page
from citewell.browser.state import State
from citewell.core.types import Hit
from citewell.generator.estimate import estimate_tokens

_WORDS = (
    *(
        "crows",
        "are",
        "clever",
        "birds,",
        "ROOKS",
        "and",
        "Straße",
        "ﬁsh",
        "İstanbul",
        "ǅ",
        "烏鴉",
        "กา",
        "🐦‍⬛",
    ),
    *(
        "e\u0301",
        "\u202e",
        "\u200b",
        "\u00ad",
        "\x00",
        "\x1b[31m",
        "\u2028",
        "\ufeff",
        "x" * 300,
        "^2^",
        "_1_",
    ),
    *("【", "】", "†", "♦", "■", "━", "〖3‡x〗", "︻", "&amp;", "<b>", "</p>", "<!--", "]]>", "…", '"', "\\"),
)
_TAGS = ("<p>", "</p>", "<h2>", "<li>", "<table><tr><td>", "<sup>", "</sup>", "<br>", "<pre>", "\n", "\n\n")
_COMMANDS = (
    *("Search ", "Clicked on link ", "Find in page: ", "Quote: ", "Scrolled down ", "Scrolled up "),
    *("Top", "Back", "End: Answer", "End: Nonsense", "End: Controversial", "End: "),
)
_NUMBERS = ("0", "1", "2", "3", "4", "-1", "007", "1e3", "٣", "²", "1.5", "9" * 40, "0x1", " 2 ", "2\n", "")
_GIANT = 200_000  # characters
_LIMITS = (
    BrowserLimits(actions=30, state_tokens=256, quote_chars=500, window_lines=5),
    BrowserLimits(actions=60, state_tokens=640),
    BrowserLimits(actions=100, quote_chars=3_000),
)


def _bytes(text: str) -> int:
    return len(text.encode())


def _fewer_together(text: str) -> int:
    """Count tokens so that two joined lines may have more tokens than both alone."""
    return estimate_tokens(text) + text.count("\n\n")


_COUNTS: tuple[Count, ...] = (estimate_tokens, _bytes, _fewer_together)


@dataclass
class FuzzReport:
    """The numbers of commands sent, by kind."""

    kinds: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    seconds: float = 0.0


def main() -> None:
    """Fuzz and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--commands", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    output_option(parser)
    arguments = parser.parse_args()
    report = asyncio.run(fuzz(arguments.commands, arguments.seed))
    print(table(["command", "times"], report.kinds.most_common()))
    print(f"\n{report.pages} pages, {report.seconds:.0f} s. Episodes ended by: {dict(report.endings)}")
    result: dict[str, Any] = {"commands": sum(report.kinds.values()), "seed": arguments.seed}
    save(
        "browser_fuzz",
        result | {"kinds": report.kinds, "pages": report.pages, "failures": 0},
        arguments.output,
    )


async def fuzz(commands: int, seed: int, most_pages: int = 400) -> FuzzReport:
    """Send this many commands; exit the program if an invariant fails."""
    chance = random.Random(seed)
    started = time.monotonic()
    pages = random_pages(chance, most_pages)
    report = FuzzReport(pages=len(pages))
    while (sent := sum(report.kinds.values())) < commands:
        episode = chance.getrandbits(32)
        try:
            await _episode(random.Random(episode), pages, report, commands - sent)
        except Exception as error:  # noqa: BLE001 - whatever it is
            sys.exit(f"seed {seed}, episode {episode}: {type(error).__name__}: {error}")
    report.seconds = time.monotonic() - started
    return report


async def _episode(chance: random.Random, pages: Sequence[TextPage], report: FuzzReport, most: int) -> None:
    by_url = {page.url: page for page in pages}

    def search(query: str) -> TextPage:
        hits = chance.sample(pages, 8)
        return results_page(query, [Hit(page.url, page.name, page.text[:300]) for page in hits])

    def open_(url: str) -> TextPage:
        return by_url.get(url) or error_page(url, f"there is nothing at {url}")

    web = RecordedWeb(search, open_)
    browser = Browser(web, chance.choice(_LIMITS), chance.choice(_COUNTS))
    state = await browser.reset(_text(chance, 12) + "?")
    for _ in range(most):
        outcome = await checked_step(browser, web, random_command(chance, state, browser.page))
        report.kinds[outcome.step.kind] += 1
        state = outcome.state
        if outcome.ended:
            report.endings[outcome.ended] += 1
            return


def random_command(chance: random.Random, state: State, page: TextPage | None) -> str:
    """Return a command, or text that looks like one."""
    text = stripped(page.text) if page else ""
    match chance.randrange(14):
        case 0 | 1:
            return f"Search {_text(chance, 6)}"
        case 2 | 3 | 4:
            ids = [*state.links, *state.links, *_NUMBERS, chance.randrange(40)]
            return f"Clicked on link {chance.choice(ids)}"
        case 5 | 6:
            start = chance.randrange(len(text) + 1)
            length = chance.choice((3, 40, 400, 30_000))
            return f"Quote: {text[start : start + length]}"
        case 7:
            words = text.split() or ["crows"]
            return f"Quote: {chance.choice(words)}━{chance.choice(words)}"
        case 8:
            return f"Find in page: {chance.choice(text.split() or ['crows']).swapcase()}"
        case 9:
            return f"{chance.choice(_COMMANDS[4:6])}{chance.choice(_NUMBERS)}"
        case 10:
            return chance.choice(("Top", "Back", "Back", "Scrolled down 3"))
        case 11:
            mutated = list(f"{chance.choice(_COMMANDS)}{_text(chance, 3)}")
            mutated[chance.randrange(len(mutated))] = chance.choice(_WORDS)
            return "".join(mutated)
        case 12:
            unit = chance.choice((*_WORDS, text[:50] or "a", "\ud800", "a ", "━"))
            giant = unit * (_GIANT // len(unit) // chance.choice((1, 1, 20)))
            return chance.choice(_COMMANDS) + giant
        case _:
            any_text = "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randrange(30)))
            lines = state.text.splitlines() or [""]
            return chance.choice((any_text, _text(chance, 5), chance.choice(lines), *INJECTIONS[:3]))


def random_pages(chance: random.Random, number: int) -> list[TextPage]:
    """Return random mixtures of HTML and of plain text; pages that show nothing are skipped."""
    pages = []
    for place in range(number):
        url = f"http://{chance.choice('abc')}.example/{place}"
        kind = chance.choice(("text/html", "text/html", "text/html", "text/plain"))
        body = _html(chance, number) if kind == "text/html" else _text(chance, 3_000)
        body = body.replace("\x00", "")  # or else nearly every page were a binary file
        page = read_page(body.encode(errors="replace"), url, kind)
        if page.kind == "page":
            assert [mark[1] for mark in MARK.finditer(page.text)] == [str(n) for n in range(len(page.links))]
            pages.append(page)
    return pages


def _html(chance: random.Random, pages: int) -> str:
    parts = [f"<title>{_text(chance, 4)}</title><body>"]
    for _ in range(chance.choice((3, 30, 300))):
        parts.append(chance.choice((_text(chance, 30), chance.choice(INJECTIONS), chance.choice(_TAGS))))
        if chance.random() < 0.3:
            address = f"http://{chance.choice('abc')}.example/{chance.randrange(pages)}"
            forged = (
                "javascript:alert(1)",
                "file:///etc/passwd",
                "http://[",
                "#top",
                "//a.example/\x00",
                address,
            )
            href = chance.choice((*forged, address, address, address))
            parts.append(f'<a href="{href}">{_text(chance, chance.choice((1, 4, 60)))}</a>')
        if chance.random() < 0.05:
            parts.append(f'<img src="x.png" alt="{_text(chance, 3)}">')
    return " ".join(parts)


def _text(chance: random.Random, most: int) -> str:
    return chance.choice((" ", " ", "", "\n")).join(chance.choices(_WORDS, k=chance.randint(1, most)))


if __name__ == "__main__":
    main()
