"""Compare rules for the end of waiting by their loss and time, in virtual time over thousands of draws.

`python -m benchmarks.waiting_rules` draws delays for the pages of each question (`benchmarks.delays`), ranks
the available pages after every arrival with the real ranking, and records when each rule would have stopped.
Extraction and ranking take no time here; `coarse_latency` measures them. The rules' parameters are chosen on
the split `dev`, and so are those of `citewell.retriever.expected_references`, which are fitted here; `test`
is held out.

`kept` and `kept_strictly` are as in `coarse_latency`: WebGLM's rule on the same draw is the baseline.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import statistics
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.ask_wikispeedia import TRIAL
from benchmarks.coarse_latency import WEBGLM, at
from benchmarks.delays import PASSING, Fate, fitted
from benchmarks.local_web import Case, LocalWeb
from benchmarks.results_files import output_option, save, table
from citewell.core.settings import Settings
from citewell.core.text import encoded_text
from citewell.core.types import Reference
from citewell.pipeline.parts import build_ranker
from citewell.retriever.choosing import PER_PAGE
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.expected_references import expected_references
from citewell.retriever.rank import Ranker
from citewell.retriever.stage import WaitPolicy

K = 5
Ids = frozenset[tuple[str, str]]


class RuleState(NamedTuple):
    """The input of a rule. `snippets` are the scores of all hits' titles and snippets, by rank."""

    seconds: float
    pending: frozenset[int]
    least: float | None
    snippets: Sequence[float]
    half: float | None
    """The time at which half of the pages were there or had failed."""


Rule = Callable[[RuleState], float]
"""Returns the time until which to wait, in seconds from the start."""


class WaitStep(NamedTuple):
    """The state after a page's requests have ended.

    `best` are the references from these pages and the baseline's together.
    """

    seconds: float
    settled: int
    references: tuple[Reference, ...]
    best: Ids


class DelayDraw(NamedTuple):
    """One question under one draw of delays; the steps without a second request, and with it."""

    snippets: Sequence[float]
    urls: Sequence[str]
    baseline_seconds: float
    baseline: Ids
    everything: tuple[Reference, ...]
    once: list[WaitStep]
    hedged: list[WaitStep]


class Remembering:
    """An encoder that encodes each passage once, for all rankings."""

    def __init__(self, encoder: DualEncoder) -> None:
        self.name = encoder.name
        self.fingerprint = encoder.fingerprint
        self.dimension = encoder.dimension
        self.scale = encoder.scale
        self._encoder = encoder
        self._vectors: dict[str, Vectors] = {}

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        """Encode questions."""
        return self._encoder.encode_questions(questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        """Encode new passages."""
        if new := [passage for passage in dict.fromkeys(passages) if passage not in self._vectors]:
            self._vectors.update(zip(new, self._encoder.encode_passages(new), strict=True))
        return np.stack([self._vectors[passage] for passage in passages])


def draw_all(case: Case, settings: Settings, draws: int) -> list[DelayDraw]:
    """Play the arrivals of a case, `draws` times."""
    ranker = build_ranker(settings)
    encoder = Remembering(ranker.encoder)
    known: dict[frozenset[int], tuple[Reference, ...]] = {}

    def top(places: frozenset[int]) -> tuple[Reference, ...]:
        if places not in known:
            ranking = Ranker(encoder, prefilter=settings.retriever.prefilter).begin(case.question)
            for place in places:
                ranking.add(place, case.pages[place].passages)
            known[places] = ranking.top(K)
        return known[places]

    def steps(fates: Sequence[Fate], after: float, baseline: frozenset[int]) -> list[WaitStep]:
        ends = sorted((*end(fate, after), place) for place, fate in enumerate(fates))
        there: frozenset[int] = frozenset()
        played = [WaitStep(0.0, -1, (), ids(top(baseline)))]
        for seconds, is_page, place in ends:
            if seconds > WEBGLM.deadline:
                break
            there |= {place} if is_page else frozenset()
            played.append(WaitStep(seconds, place, top(there), ids(top(there | baseline))))
        return played

    texts = [encoded_text(hit.title, hit.snippet) for hit in case.hits]
    snippets = Ranker(encoder, prefilter=1).begin(case.question).relevance(texts)
    everything = top(frozenset(range(len(case.hits))))
    rng, law = random.Random(case.question), fitted()
    played = []
    for _ in range(draws):
        fates = [law.draw(rng) for _ in case.hits]
        firsts = [fate.first for fate in fates]
        baseline = frozenset(
            place
            for place, first in enumerate(firsts)
            if first.kind == "page" and first.seconds <= WEBGLM.deadline
        )
        played.append(
            DelayDraw(
                snippets,
                [hit.url for hit in case.hits],
                max(min(WEBGLM.deadline, first.seconds) for first in firsts),
                ids(top(baseline)),
                everything,
                steps(fates, math.inf, baseline),
                steps(fates, WaitPolicy().hedge_after, baseline),
            )
        )
    return played


class PageEnd(NamedTuple):
    """The end of the requests for a page, and whether there is a page then."""

    seconds: float
    is_page: bool


def end(fate: Fate, after: float) -> PageEnd:
    """Return the end of a page's requests if a second one is sent `after` seconds (infinity: never)."""
    first, second = fate
    if first.kind == "error":
        if first.status in PASSING and after < math.inf:
            return PageEnd(first.seconds + second.seconds, second.kind == "page")
        return PageEnd(first.seconds, False)
    if first.seconds > after and second.kind == "page" and after + second.seconds < first.seconds:
        return PageEnd(after + second.seconds, True)
    return PageEnd(first.seconds, first.kind == "page")


def ids(references: Sequence[Reference]) -> Ids:
    """Return the keys that identify references."""
    return frozenset((reference.url, reference.text) for reference in references)


def promised(state: RuleState) -> float:
    """Return the expected number of references from the pending pages."""
    return sum(expected_references(state.snippets[place], place, state.least) for place in state.pending)


def deadline(seconds: float) -> Rule:
    """Wait for a fixed time."""
    return lambda _: seconds


def share_of_pages(share: float) -> Rule:
    """Wait until a share of the pages is there or has failed."""

    def until(state: RuleState) -> float:
        settled = len(state.snippets) - len(state.pending)
        return 0.0 if settled >= share * len(state.snippets) else WEBGLM.deadline

    return until


def times_half(times: float) -> Rule:
    """Wait for a multiple of the time that half of the pages took."""
    return lambda state: WEBGLM.deadline if state.half is None else times * state.half


def linear(seconds: float) -> Rule:
    """Wait a fixed time per expected reference."""
    return lambda state: seconds * promised(state)


def root(seconds: float) -> Rule:
    """Wait by the root of the expected references: the rule of `citewell.retriever.stage`."""
    return lambda state: seconds * math.sqrt(promised(state))


def rules() -> dict[str, Rule]:
    """Return the rules to compare."""
    compared = {f"deadline of {seconds} s": deadline(seconds) for seconds in (1.5, 2.0, 2.5, 5.0)}
    compared |= {f"{share:.0%} of the pages": share_of_pages(share) for share in (0.7, 0.8, 0.9)}
    compared |= {f"{times} × the time of half of the pages": times_half(times) for times in (4, 8, 12)}
    compared |= {f"{seconds} s × promised references": linear(seconds) for seconds in (3.0, 5.0, 8.0)}
    compared |= {
        f"{seconds} s × √ promised references": root(seconds) for seconds in (2.0, 2.5, 3.0, 3.5, 4.0)
    }
    return compared


class Stop(NamedTuple):
    """The time at which a rule stopped, and the last step before it."""

    seconds: float
    step: WaitStep


def stop(draw: DelayDraw, steps: Sequence[WaitStep], rule: Rule) -> Stop:
    """Play a rule over the steps of a draw."""
    pending = set(range(len(draw.urls)))
    step, until, half = steps[0], WEBGLM.deadline, None
    for current in steps[1:]:
        if current.seconds > until:
            break
        step = current
        pending.discard(step.settled)
        if not pending:
            return Stop(step.seconds, step)
        if half is None and len(pending) <= len(draw.urls) / 2:
            half = step.seconds
        least = step.references[-1].score if len(step.references) == K else None
        wanted = rule(RuleState(step.seconds, frozenset(pending), least, draw.snippets, half))
        until = min(WEBGLM.deadline, max(step.seconds, wanted))
    return Stop(until, step)


def judge(draws: Sequence[DelayDraw], rule: Rule, *, hedged: bool) -> dict[str, float]:
    """Return the seconds of a rule, and the share of references that it kept."""
    seconds, strictly, kept = [], [], []
    for draw in draws:
        stopped = stop(draw, draw.hedged if hedged else draw.once, rule)
        seconds.append(stopped.seconds)
        if draw.baseline:
            mine = ids(stopped.step.references)
            strictly.append(len(mine & draw.baseline) / len(draw.baseline))
            kept.append(1 - len((draw.baseline & stopped.step.best) - mine) / len(draw.baseline))
    seconds.sort()
    numbers = {
        "mean": statistics.fmean(seconds),
        "p50": at(seconds, 0.5),
        "p90": at(seconds, 0.9),
        "p99": at(seconds, 0.99),
        "kept": statistics.fmean(kept),
        "kept_strictly": statistics.fmean(strictly),
    }
    return {name: round(value, 3) for name, value in numbers.items()}


def fit(draws: Sequence[DelayDraw]) -> list[float]:
    """Fit the four parameters of `citewell.retriever.expected_references` by maximum likelihood (Newton)."""
    rows, won = [], []
    for draw in draws:
        pending = set(range(len(draw.urls)))
        for step in draw.hedged[1:]:
            pending.discard(step.settled)
            if len(step.references) < K:
                continue
            for place in pending:
                rows.append((1.0, draw.snippets[place], step.references[-1].score, math.log(1 + place)))
                won.append(sum(reference.url == draw.urls[place] for reference in draw.everything))
    features, share = np.array(rows), np.array(won) / PER_PAGE
    weights = np.zeros(features.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-features @ weights))
        spread = (chance * (1 - chance))[:, None] * features
        weights += np.linalg.solve(features.T @ spread, features.T @ (share - chance))
    return [round(float(weight), 2) for weight in weights]


async def cases_of(web: LocalWeb, split: str, limit: int) -> list[Case]:
    """Return the cases of a split, at most `limit` of them."""
    questions = web.questions(split, 300 if limit > TRIAL else limit)
    chosen = random.Random(0).sample(questions, min(limit, len(questions)))
    return [await web.case(question.text) for question in chosen]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--questions", type=int, default=150, help="questions of each split")
    parser.add_argument("--draws", type=int, default=8, help="draws of delays for each question")
    parser.add_argument("--data-dir", type=Path, help="folder of the index; temporary by default")
    output_option(parser)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"draws": arguments.draws}
    with tempfile.TemporaryDirectory() as temporary:
        web = LocalWeb(arguments.data_dir or Path(temporary))
        single = web.settings.model_copy(update={"threads": 1})
        with ProcessPoolExecutor(web.settings.threads, get_context("spawn")) as pool:
            for split in ("dev", "test"):
                cases = asyncio.run(cases_of(web, split, arguments.questions))
                played = pool.map(partial(draw_all, settings=single, draws=arguments.draws), cases)
                draws = [draw for case in played for draw in case]
                result[split] = {
                    "questions": len(cases),
                    "promise": fit(draws),
                    "hedged": {name: judge(draws, rule, hedged=True) for name, rule in rules().items()},
                    "once": {name: judge(draws, rule, hedged=False) for name, rule in rules().items()},
                }
    show(result)
    save("waiting_rules", result, arguments.output)


def show(result: dict[str, Any]) -> None:
    """Print the result as tables."""
    print(f"The numbers of the promise, fitted on dev: {result['dev']['promise']}\n")
    for split in ("dev", "test"):
        for kind in ("hedged", "once"):
            print(f"{split}, {result[split]['questions']} questions × {result['draws']} draws, {kind}:\n")
            numbers = result[split][kind]
            keys = list(next(iter(numbers.values())))
            print(table(["rule", *keys], [[name, *row.values()] for name, row in numbers.items()]) + "\n")


if __name__ == "__main__":
    main()
