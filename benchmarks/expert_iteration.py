"""Expert iteration in the text browser: what a policy found by chance is what it learns next.

    python -m benchmarks.browsing_questions --data-dir FOLDER --out recipes/browsing
    python -m benchmarks.expert_iteration sample --data-dir FOLDER --questions recipes/browsing
    citewell train policy recipes/browser-expert.toml --out my-expert
    python -m benchmarks.expert_iteration compare --data-dir FOLDER --questions recipes/browsing \
        --policy my-expert --episodes EPISODES

`sample` has the shipped policy browse for training questions, four times each, and keeps all episodes in
`sampled.jsonl` beside the questions, with reward 1 where a quote has an accepted answer. The recipe learns
from these alone. `compare` has both policies browse greedily for questions of `dev.jsonl` and `test.jsonl`,
which neither was trained on, and tests the difference in pairs. Both steps continue where they stopped.

For the diagnosis, each episode is followed to where it fails: did it open a page with an accepted answer, was
the answer in view, did it quote anything, and did a quote have the answer?
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.browse_web import browse_settings, index_web, open_shelf, served_web
from benchmarks.browsing import ACTIONS, CLONED, log
from benchmarks.results_files import output_option, save, table
from citewell.browser.characters import stripped
from citewell.browser.episode import Episode, read_episodes
from citewell.browser.evaluation.evaluate import evaluate
from citewell.browser.evaluation.success import succeeds
from citewell.browser.web import Web
from citewell.core.answers import has_answer
from citewell.core.questions import AnsweredQuestion, read_questions
from citewell.core.settings import Settings
from citewell.core.significance import compare_all, differences_table, interval
from citewell.pipeline.browsing_systems import open_systems

SAMPLES = 4
SAMPLED = "sampled.jsonl"
TRAINED = "expert"
STAGES = ("opened a page with an answer", "had an answer in view", "quoted", "found")
_TEXT, _AFTER = "♦Text\n", "\n♦Actions left"


def main() -> None:
    """Run one of the two steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    for name, about in (("sample", "browse for training questions"), ("compare", "compare both policies")):
        step = steps.add_parser(name, help=about)
        step.add_argument("--data-dir", type=Path, required=True, help="folder of the collection")
        step.add_argument("--questions", type=Path, required=True, help="folder of `browsing_questions`")
        step.add_argument("--limit", type=int, help="questions of each split [all]")
        if name == "compare":
            step.add_argument("--policy", type=Path, required=True, help="folder of the trained policy")
            step.add_argument("--episodes", type=Path, required=True, help="folder that keeps all episodes")
            output_option(step)
    arguments = parser.parse_args()
    settings = browse_settings(arguments.data_dir)
    index_web(settings)
    if arguments.step == "sample":
        asyncio.run(sample(settings, arguments.questions, arguments.limit))
    else:
        result = asyncio.run(compare(settings, arguments))
        save("expert_iteration", result, arguments.output)


async def sample(settings: Settings, folder: Path, limit: int | None) -> None:
    """Write the episodes of the shipped policy, and say how many of them found an answer."""
    asked = read_questions(folder / "train.jsonl", limit)
    await _browse(settings, {CLONED: CLONED}, asked, {CLONED: folder / SAMPLED}, n=SAMPLES)
    episodes = list(read_episodes(folder / SAMPLED))
    stages = await _stages(settings, asked, {f"{CLONED}, sampled": episodes})
    print(_stage_table(stages))
    groups = groupby(episodes, key=lambda episode: episode.question)
    solved = [any(episode.reward for episode in some) for _, some in groups]
    kept = sum(bool(episode.reward) for episode in episodes)
    print(f"{kept:,} of {len(episodes):,} episodes found an answer, to {sum(solved):,} of {len(solved):,}")


async def compare(settings: Settings, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how often both policies found an answer, the paired tests, and where their episodes fail."""
    systems = {CLONED: CLONED, TRAINED: str(arguments.policy)}
    result: dict[str, Any] = {"actions": ACTIONS}
    asked: list[AnsweredQuestion] = []
    episodes: dict[str, list[Episode]] = {name: [] for name in systems}
    for split in ("dev", "test"):
        some = read_questions(arguments.questions / f"{split}.jsonl", arguments.limit)
        folder = arguments.episodes / split
        folder.mkdir(parents=True, exist_ok=True)
        files = {name: folder / f"{name}.jsonl" for name in systems}
        await _browse(settings, systems, some, files)
        wanted = {row.question for row in some}
        here = {
            name: [e for e in read_episodes(file) if e.question in wanted] for name, file in files.items()
        }
        result[split] = _compared(here, split)
        asked += some
        for name, of in here.items():
            episodes[name] += of
    result["both"] = _compared(episodes, "dev and test")
    stages = await _stages(settings, asked, episodes)
    print(_stage_table(stages))
    return result | {"stages": stages}


async def _browse(
    settings: Settings,
    systems: Mapping[str, str],
    asked: Sequence[AnsweredQuestion],
    files: Mapping[str, Path],
    *,
    n: int = 1,
) -> None:
    """Have each policy browse for the questions that its file lacks."""
    async with served_web(), AsyncExitStack() as opened:
        source = await opened.enter_async_context(
            open_systems(settings, actions=ACTIONS, free=False, log=log)
        )
        for name, place in systems.items():
            await evaluate(await source.open(name, place, n), asked, files[name], log)


def _compared(episodes: Mapping[str, Sequence[Episode]], split: str) -> dict[str, Any]:
    """Print and return the share of questions with an answer, and the paired test of the difference."""
    found = {name: {each.question: float(bool(each.reward)) for each in of} for name, of in episodes.items()}
    differences = compare_all({TRAINED: found[TRAINED]}, found[CLONED])
    shares = {name: [fmean(of.values()), *interval(of)] for name, of in found.items()}
    rows = [
        [name, len(found[name]), f"{mean:.3f}", f"{low:.3f} to {high:.3f}"]
        for name, (mean, low, high) in shares.items()
    ]
    print(f"\n{split}:\n\n" + table(["policy", "questions", "found", "95% interval"], rows))
    print("\n" + differences_table({"found": differences}) + "\n")
    return {
        "questions": len(found[CLONED]),
        "found": shares,
        "difference": asdict(differences[TRAINED]),
    }


async def _stages(
    settings: Settings, asked: Sequence[AnsweredQuestion], episodes: Mapping[str, Sequence[Episode]]
) -> dict[str, dict[str, float]]:
    """Return the share of episodes that got to each stage."""
    answers = {row.question: row.answers for row in asked}
    shelf = open_shelf(settings)
    found = {}
    for name, of in episodes.items():
        reached = [await stages_of(each, answers[each.question], shelf) for each in of]
        found[name] = {
            stage: round(fmean(each[place] for each in reached), 4) for place, stage in enumerate(STAGES)
        }
    return found


async def stages_of(episode: Episode, answers: Sequence[str], web: Web) -> tuple[bool, bool, bool, bool]:
    """Return which of `STAGES` an episode got to; `web` has its pages."""
    opened = seen = False
    for step, later in zip(episode.steps, [*episode.steps[1:], None], strict=True):
        if step.url is None:
            continue
        page = await web.open(step.url, episode.question)
        opened = opened or has_answer(stripped(page.text), answers)
        seen = seen or (later is not None and has_answer(_in_view(later.state), answers))
    return opened, seen, bool(episode.quotes), succeeds(episode, answers)


def _in_view(state: str) -> str:
    return stripped(state.partition(_TEXT)[2].partition(_AFTER)[0])


def _stage_table(stages: Mapping[str, Mapping[str, float]]) -> str:
    rows = [[name, *(f"{of[stage]:.3f}" for stage in STAGES)] for name, of in stages.items()]
    return table(["share of the episodes that", *STAGES], rows)


if __name__ == "__main__":
    main()
