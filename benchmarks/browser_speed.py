"""Measure the text browser's steps per second on one core, and the memory of thousands of episodes.

    python -m benchmarks.browser_speed

browses 400 simplified articles of Wikipedia for Schools, with random legal commands, in a process that is
limited to one core; it needs CITEWELL_DATA. A step covers all work of the environment: reading and carrying
out the command, censoring and wrapping an opened page, and formatting the next state within its budget, once
with estimated tokens and once with those of SmolLM2's tokenizer, if it has been converted. Times are CPU
seconds, since other work on the machine disturbs them less. Memory is measured over many simultaneous
episodes, each with open pages, quotes and a history.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import os
import random
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
from tokenizers import Tokenizer

from benchmarks.local_web import read_articles
from benchmarks.results_files import output_option, save, table
from citewell.browser.censor import censored
from citewell.browser.environment import Browser
from citewell.browser.episodes import Question
from citewell.browser.limits import BrowserLimits, Count
from citewell.browser.page import TextPage, error_page
from citewell.browser.policies.random_legal import RandomLegal
from citewell.browser.results import results_page
from citewell.browser.simplify import simplify
from citewell.core.dequantization import dequantized
from citewell.core.errors import ModelError
from citewell.core.settings import load_settings
from citewell.core.types import Hit
from citewell.generator.estimate import estimate_tokens

NAME = "browser_speed"
MODEL = "SmolLM2-135M-Instruct"
QUESTION = "How did trade change the towns along the great rivers of Europe, and who became rich by that?"
HITS = 10


class Shelf:
    """Pages in memory; a search finds random ones; implements `Web`."""

    def __init__(self, pages: Mapping[str, TextPage]) -> None:
        self._pages = pages
        self._urls = list(pages)

    async def search(self, query: str) -> TextPage:
        """Return results that depend on the query alone."""
        found = (self._pages[url] for url in random.Random(query).sample(self._urls, HITS))
        return results_page(query, [Hit(page.url, page.name, page.text[:200]) for page in found])

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """Return the page, after the censor."""
        page = self._pages.get(url)
        return censored(page, question, answer) if page else error_page(url, "it is not there")


class StepSpeed(NamedTuple):
    """Numbers of steps, and their CPU seconds, in total and by kind."""

    steps: int
    seconds: float
    kinds: dict[str, list[float]]


async def speed(pages: Mapping[str, TextPage], limits: BrowserLimits, count: Count, steps: int) -> StepSpeed:
    """Take this many steps, in as many episodes as they need."""
    policy, browser = RandomLegal(seed=1), Browser(Shelf(pages), limits, count)
    kinds: dict[str, list[float]] = defaultdict(list)
    state = await browser.reset(QUESTION)
    for _ in range(steps):
        action = await policy.act(state)
        started = time.process_time()
        state, step, ended = await browser.step(action.text)
        str(state)
        kinds[step.kind].append(time.process_time() - started)
        if ended:
            state = await browser.reset(QUESTION)
    return StepSpeed(steps, sum(map(sum, kinds.values())), kinds)


def gym_speed(pages: Mapping[str, TextPage], steps: int) -> float:
    """Return the steps per second of a vector of four Gymnasium environments, including their policy."""
    envs = gymnasium.make_vec(
        "citewell.browser.gym_env:citewell/Browser-v0",
        num_envs=4,
        vectorization_mode="sync",
        start=lambda: Browser(Shelf(pages)),
        questions=[Question(QUESTION)],
        reward=lambda episode: float(len(episode.quotes)),
    )
    chance = random.Random(1)
    envs.reset(seed=1)
    queries = itertools.cycle(QUESTION.split())
    started = time.process_time()
    for _ in range(steps // 4):
        search, click = f"Search {next(queries)}", f"Clicked on link {chance.randrange(HITS)}"
        envs.step([chance.choice((search, click, "Scrolled down 1", "Back")) for _ in range(4)])
    return steps / (time.process_time() - started)


async def memory(pages: Mapping[str, TextPage], episodes: int, steps: int) -> float:
    """Return the kilobytes of resident memory per episode, for this many episodes of this many steps."""
    web, policy = Shelf(pages), RandomLegal(seed=1)
    gc.collect()
    before = _resident()
    browsers = [Browser(web) for _ in range(episodes)]
    for number, browser in enumerate(browsers):
        state = await browser.reset(f"{QUESTION} ({number})", actions=steps + 1)
        for _ in range(steps):
            action = await policy.act(state)
            if not action.text.startswith("End"):
                state = (await browser.step(action.text)).state
                if browser.ending:
                    break
    gc.collect()
    return (_resident() - before) / episodes / 1000


def simplified(number: int) -> dict[str, TextPage]:
    """Return the first articles, as the browser shows them, by their addresses."""
    articles = itertools.islice(read_articles().items(), number)
    pages = (simplify(body, f"http://schools.example{path}") for path, body in articles)
    return {page.url: page for page in pages}


def counters() -> dict[str, Count]:
    """Return the token counters by name."""
    found: dict[str, Count] = {"estimated": estimate_tokens}
    try:
        folder = dequantized(MODEL, load_settings().cache_dir)
    except ModelError as error:
        print(error)
        return found
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return found | {MODEL: lambda text: len(tokenizer.encode(text, add_special_tokens=False))}


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--episodes", type=int, default=2_000, help="number of simultaneous episodes")
    parser.add_argument("--episode-steps", type=int, default=30, help="steps of each of these episodes")
    output_option(parser)
    args = parser.parse_args()
    core = min(os.sched_getaffinity(0))
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.sched_setaffinity(0, {core})
    pages = simplified(args.pages)
    result: dict[str, Any] = {"pages": len(pages), "steps": args.steps}
    rows = []
    for (name, count), tokens in itertools.product(counters().items(), (640, 1_500)):
        took = asyncio.run(speed(pages, BrowserLimits(state_tokens=tokens), count, args.steps))
        mean = {kind: round(1000 * sum(each) / len(each), 2) for kind, each in sorted(took.kinds.items())}
        rate = round(took.steps / took.seconds)
        rows.append([name, tokens, rate, mean.get("click_link", ""), mean.get("scroll_down", "")])
        result[f"{name}, {tokens}"] = {"steps_per_second": rate, "milliseconds": mean}
    through_gym = round(gym_speed(pages, args.steps))
    rows.append(["estimated, through Gymnasium", 1_500, through_gym, "", ""])
    kilobytes = asyncio.run(memory(pages, args.episodes, args.episode_steps))
    print(table(["tokens", "per state", "steps per second", "ms per click", "ms per scroll"], rows))
    print(
        f"\n{args.episodes} simultaneous episodes, {args.episode_steps} steps each: {kilobytes:.0f} kB each."
    )
    memory_of = {"episodes": args.episodes, "kilobytes_an_episode": round(kilobytes)}
    save(NAME, result | {"gymnasium_steps_per_second": through_gym} | memory_of, args.output)


def _resident() -> int:
    """Return the resident memory of this process, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
