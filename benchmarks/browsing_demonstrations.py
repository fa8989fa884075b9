"""Demonstrations for cloning: from a script that knows the answers, and from people's clicks.

    python -m benchmarks.browsing_demonstrations --data-dir FOLDER --questions QUESTIONS --out DEMONSTRATIONS

writes `guided.jsonl` (rejection sampling: `citewell.browser.demonstrations.guided` asks the questions of
`train.jsonl` and knows their answers, which a human demonstrator can look up; episodes with an answer in a
quote are kept) and `clicks.jsonl` (Wikispeedia's games that got closer to their target), in the browser of
the recipe, and prints their numbers.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from benchmarks.browse_web import address, browse_settings, index_web, open_shelf
from benchmarks.results_files import external_data, table
from citewell.browser.demonstrations.guided import Guided
from citewell.browser.demonstrations.rejection import Known, demonstrate
from citewell.browser.demonstrations.wikispeedia import games, replay
from citewell.browser.environment import Browser
from citewell.browser.episode import Episode, write_episodes
from citewell.browser.policy import Policy
from citewell.browser.training.config import load_config
from citewell.core.settings import Settings
from citewell.pipeline.parts import build_ranker

RECIPE = Path("recipes/citewell-browser.toml")
AT_ONCE = 4
LICENSES = {"qed_train": "CC BY-SA 3.0", "squad_dev": "CC BY-SA 4.0"}


def main() -> None:
    """Write the demonstrations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the collection")
    parser.add_argument("--questions", type=Path, required=True, help="folder of `browsing_questions`")
    parser.add_argument("--out", type=Path, required=True, help="folder for the demonstrations")
    parser.add_argument("--recipe", type=Path, default=RECIPE, help="recipe with the browser to use")
    parser.add_argument("--limit", type=int, default=2_000, help="maximum questions")
    parser.add_argument("--games", type=int, default=200, help="maximum games")
    arguments = parser.parse_args()
    settings = browse_settings(arguments.data_dir)
    index_web(settings)
    asyncio.run(write(settings, arguments))


async def write(settings: Settings, arguments: argparse.Namespace) -> None:
    """Replay games, and browse for questions; the kept episodes are written after every hundred."""
    limits = load_config(arguments.recipe).browser.limits
    arguments.out.mkdir(parents=True, exist_ok=True)
    shelf = open_shelf(settings)
    relevance = build_ranker(settings).scores

    def start() -> Browser:
        return Browser(shelf, limits)

    def make(known: Known) -> Policy:
        return Guided(shelf, relevance, known.answers)

    clicks = await clicked(start, arguments.games)
    write_episodes(clicks, arguments.out / "clicks.jsonl")
    known = read_known(arguments.questions / "train.jsonl")[: arguments.limit]
    began = time.perf_counter()
    kept: list[Episode] = []
    episodes = demonstrate(known, start, make, actions=limits.actions, at_once=AT_ONCE)
    async with aclosing(episodes):
        done = 0
        async for episode in episodes:
            done += 1
            kept += [episode] if episode.reward else []
            if done % 100 == 0 or done == len(known):
                write_episodes(kept, arguments.out / "guided.jsonl")
                print(f"{done:,} of {len(known):,} questions, {len(kept):,} episodes kept", flush=True)
    seconds = round((time.perf_counter() - began) / max(1, done), 2)
    rows = [
        ["guided", done, len(kept), sum(len(episode.steps) for episode in kept), seconds],
        ["clicks", arguments.games, len(clicks), sum(len(episode.steps) for episode in clicks), ""],
    ]
    print(table(["demonstrations", "tried", "kept", "steps", "seconds per episode"], rows))


def read_known(file: Path) -> list[Known]:
    """Read questions with their answers, in an order that mixes their sources."""
    known = [
        Known(
            row["question"],
            tuple(row["answers"]),
            {"source": row["origin"], "license": LICENSES[row["origin"]]},
        )
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]
    random.Random(0).shuffle(known)
    return known


async def clicked(start: Callable[[], Browser], limit: int) -> list[Episode]:
    """Return games of Wikispeedia as episodes."""
    file = external_data() / "web" / "wikispeedia" / "paths.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        played = games([json.loads(line) for line in lines])
    paths = article_paths()
    random.Random(0).shuffle(played)
    found = []
    for game in played[:limit]:
        episode = await replay(
            game,
            start(),
            lambda name: address(paths.get(name, "/missing")),
            {"source": "Wikispeedia (West and Leskovec 2012)"},
        )
        if episode is not None:
            found.append(episode)
    return found


def article_paths() -> dict[str, str]:
    """The paths of the articles by the names that games call them."""
    paths: dict[str, str] = {}
    for file in sorted((external_data() / "web" / "wikispeedia").glob("articles-*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            paths |= {row["name"].replace(" ", "_"): row["path"] for row in map(json.loads, lines)}
    return paths


if __name__ == "__main__":
    main()
