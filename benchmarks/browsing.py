"""Measure how often policies find the answer, and at what cost, on a local web of 4,598 articles.

    python -m benchmarks.browsing_questions --data-dir FOLDER --out QUESTIONS
    python -m benchmarks.browsing --data-dir FOLDER --questions QUESTIONS --episodes EPISODES

The articles are served over HTTP on loopback, fetched by the guarded fetcher and searched by a collection. A
question counts as found if a quote has an accepted answer; systems are those of `citewell eval browse`.
Episodes are kept in EPISODES, so that an interrupted run continues; `citewell eval compare` compares the
files SPLIT.json there with those of another run. The cost is computed as in WebGLM's appendix B for WebGPT:
the time for writing commands, plus WebGLM's seconds for each search and page.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.browse_web import browse_settings, index_web, served_web
from benchmarks.results_files import output_option, save, table
from citewell.browser.episode import Episode, read_episodes
from citewell.browser.evaluation.evaluate import Result, evaluate
from citewell.browser.evaluation.report import as_json, details, markdown, summary
from citewell.browser.evaluation.statistics import statistics
from citewell.core.questions import AnsweredQuestion, read_questions
from citewell.core.settings import Settings
from citewell.generator.estimate import estimate_tokens
from citewell.pipeline.browsing_systems import open_systems

PROMPTED, CLONED = "SmolLM2-135M-Instruct", "citewell-browser"
SYSTEMS = ("random", "scripted", PROMPTED, CLONED, f"4*{CLONED}", "pipeline")
ACTIONS = 12
SEARCH_SECONDS, PAGE_SECONDS = 1.81, 2.38
"""Seconds per search and per page, as WebGLM measured them on the web (its appendix B)."""


class Published(NamedTuple):
    """WebGPT's tokens and seconds per question (WebGLM, Tables 11 and 12)."""

    name: str
    tokens: float
    seconds: float


WEBGPT = (Published("WebGPT-175B", 580.08, 52.48), Published("WebGPT-13B", 580.89, 31.12))


class BrowsingPlan(NamedTuple):
    """The systems to run, the folder of their episodes, and the replacement of the shipped policy."""

    systems: Sequence[str]
    folder: Path
    policy: Path | None
    free: bool = False

    def file(self, label: str) -> Path:
        """Return the file of a system's episodes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{label}.jsonl"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the collection")
    parser.add_argument("--questions", type=Path, required=True, help="folder of `browsing_questions`")
    parser.add_argument("--episodes", type=Path, required=True, help="folder that keeps all episodes")
    parser.add_argument("--splits", nargs="+", default=["dev", "test"], help="splits of the questions to ask")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--policy", type=Path, help=f"folder of a policy to use instead of {CLONED}")
    parser.add_argument("--limit", type=int, help="questions of each split")
    parser.add_argument("--free", type=int, default=20, help="questions to ask without constraints")
    output_option(parser)
    arguments = parser.parse_args()
    settings = browse_settings(arguments.data_dir)
    index_web(settings)
    result = asyncio.run(measure(settings, arguments))
    save("browsing", result, arguments.output)


async def measure(settings: Settings, arguments: argparse.Namespace) -> dict[str, Any]:
    """Evaluate all systems on each split, and models without constraints on some questions."""
    result: dict[str, Any] = {"actions": ACTIONS}
    async with served_web():
        for split in arguments.splits:
            asked = read_questions(arguments.questions / f"{split}.jsonl", arguments.limit)
            plan = BrowsingPlan(arguments.systems, arguments.episodes / split, arguments.policy)
            outcomes = await run(settings, plan, asked)
            print(f"\n{split}:\n\n{markdown(outcomes, arguments.systems[0])}")
            result[split] = summary(outcomes)
            kept = arguments.episodes / f"{split}.json"
            kept.write_text(as_json(outcomes), encoding="utf-8")
            kept.with_suffix(".details.json").write_text(details(outcomes), encoding="utf-8")
        models = [name for name in (PROMPTED, CLONED) if name in arguments.systems]
        if arguments.free and models:
            plan = BrowsingPlan(models, arguments.episodes / "free", arguments.policy, free=True)
            outcomes = await run(settings, plan, asked[: arguments.free])
            print(f"\nWithout constraints:\n\n{markdown(outcomes, models[0])}")
            result["free"] = summary(outcomes)
    result["cost"] = cost(arguments)
    return result


async def run(
    settings: Settings, plan: BrowsingPlan, asked: Sequence[AnsweredQuestion]
) -> dict[str, dict[str, Result]]:
    """Return the results of each system."""
    found = {}
    async with AsyncExitStack() as opened:
        systems = await opened.enter_async_context(
            open_systems(settings, actions=ACTIONS, free=plan.free, log=log)
        )
        for label in plan.systems:
            n, _, name = label.rpartition("*")
            place = str(plan.policy) if plan.policy and name == CLONED else name
            system = await systems.open(label, place, int(n or 1))
            found[label] = await evaluate(system, asked, plan.file(label), log)
    return found


def cost(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the cost of a question, beside WebGPT's published cost."""
    rows: list[list[object]] = [[each.name, each.tokens, "", each.seconds] for each in WEBGPT]
    found = {}
    for label in arguments.systems:
        files = [arguments.episodes / split / f"{label}.jsonl" for split in arguments.splits]
        episodes = [episode for file in files for episode in read_episodes(file)]
        if not any(episode.steps for episode in episodes):
            continue
        found[label] = reckon(episodes)
        rows.append([label, *found[label].values()])
        if label == CLONED:
            print(f"Actions of {label}:\n\n{statistics(episodes, estimate_tokens).table()}\n")
    header = ["system", "tokens a question", "seconds measured", "seconds with WebGLM's search and pages"]
    print(table(header, rows))
    return found


def reckon(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return tokens and seconds per question over all its episodes, and seconds by WebGLM's equation 2."""
    questions = len({episode.question for episode in episodes})
    steps = [step for episode in episodes for step in episode.steps]
    seconds = sum(step.seconds for step in steps)
    away = SEARCH_SECONDS * sum(step.kind == "search" for step in steps)
    away += PAGE_SECONDS * sum(step.kind == "click_link" for step in steps)
    return {
        "tokens": round(sum(step.tokens for step in steps) / questions, 1),
        "seconds": round(seconds / questions, 2),
        "with_webglm_times": round((seconds + away) / questions, 2),
    }


def log(text: str) -> None:
    """Log the progress."""
    print(text, flush=True)


if __name__ == "__main__":
    main()
