"""Measure the time to the references if pages are as slow as real ones, hang and fail.

`python -m benchmarks.coarse_latency` asks questions of a local web (`benchmarks.local_web`) whose pages are
delayed by a law fitted to WebGLM's figures (`benchmarks.delays`), over real sockets, with the real fetcher,
extraction and ranking. It compares three rules on the same draws:

  webglm   every page, 5 s each: the stage ends with its slowest page (the total limit of 10 s is never
  reached)

WebGLM's references are the best of all passages of the pages that its rule fetched. Questions are those of
the held-out split; the parameters of our rule were chosen on the other (`waiting_rules`). `ours` runs one
question at a time. The other two mostly sleep and run several questions at a time, which can only favor ours
by their overhead, a few hundredths of their seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.delays import FETCH_MEAN, DelayLaw, fitted, stage_mean
from benchmarks.local_web import Case, LocalWeb
from benchmarks.loopback import Loopback
from benchmarks.replay import name, plan, running
from benchmarks.results_files import output_option, save, table
from citewell.core.settings import Settings
from citewell.core.types import Failure, Hit, Page, Reference
from citewell.pipeline.fetching import open_extractor, sandbox_limits, wait_policy
from citewell.pipeline.parts import build_ranker
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.download import Download, FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.rank import Ranker
from citewell.retriever.stage import RetrievalStage, WaitPolicy

WEBGLM = WaitPolicy(deadline=5.0, patience=1000.0, hedges=0)
SHARES = (0.5, 0.0, 1.0)


class LatencyResult(NamedTuple):
    """The outcome of one question: seconds to the references, and `overhead` of them after the last request.

    `pages` holds the fetched pages, by their ranks among the hits.
    """

    seconds: float
    overhead: float
    references: frozenset[tuple[str, str]]
    pages: Mapping[int, Page]
    requests: int
    late: int


class CountedFetch:
    """A fetch with `fetcher` that records the number of requests and the end of the last one."""

    def __init__(self, fetcher: HttpFetcher) -> None:
        self._fetcher = fetcher
        self.requests = 0
        self.ended = time.perf_counter()

    async def fetch(self, request: PageRequest) -> Download:
        """Fetch a page; a canceled fetch is recorded as ended too."""
        self.requests += 1
        try:
            return await self._fetcher.fetch(request)
        finally:
            self.ended = time.perf_counter()


class Bench:
    """Questions to the local web by different rules."""

    def __init__(
        self, ranker: Ranker, extractor: Extractor, fetcher: HttpFetcher, settings: Settings, port: int
    ) -> None:
        self._ranker = ranker
        self._extractor = extractor
        self._fetcher = fetcher
        self._k = settings.retriever.k
        self._port = port
        self._runs = 0

    async def ask(self, case: Case, law: DelayLaw, seed: int, rule: WaitPolicy) -> LatencyResult:
        """Read the pages of a case by a rule; the same law and seed give the same delays."""
        watched = CountedFetch(self._fetcher)
        before = time.perf_counter()
        reading = self._reading(case, self._hits(case, law, seed), watched, rule)
        read = await _read(reading)
        references = await reading.references()
        now = time.perf_counter()
        pages = {int(page.url.split("/p")[1].split(".")[0]): page for page in read.pages}
        return LatencyResult(
            now - before, now - watched.ended, _ids(references), pages, watched.requests, read.late
        )

    async def ask_one_by_one(self, case: Case, law: DelayLaw, seed: int, rule: WaitPolicy) -> LatencyResult:
        """Read one page after the other; ranking is not timed, since it would equal that of all at once."""
        watched = CountedFetch(self._fetcher)
        before = time.perf_counter()
        late = 0
        for hit in self._hits(case, law, seed):
            late += (await _read(self._reading(case, [hit], watched, rule))).late
        now = time.perf_counter()
        return LatencyResult(now - before, now - watched.ended, frozenset(), {}, watched.requests, late)

    def best(self, case: Case, *outcomes: LatencyResult) -> frozenset[tuple[str, str]]:
        """Return the references among all pages that were fetched in any of the outcomes."""
        ranking = self._ranker.begin(case.question)
        for outcome in outcomes:
            for place, page in outcome.pages.items():
                ranking.add(place, page.passages)
        return _ids(ranking.top(self._k))

    def _hits(self, case: Case, law: DelayLaw, seed: int) -> list[Hit]:
        rng = random.Random(f"{case.question} {seed}")
        self._runs += 1
        run = self._runs
        return [
            replace(
                hit,
                url=f"http://p{place}.r{run}.test:{self._port}/{run}/{plan(law.draw(rng))}/{name(hit.url)}",
            )
            for place, hit in enumerate(case.hits)
        ]

    def _reading(
        self, case: Case, hits: list[Hit], watched: CountedFetch, rule: WaitPolicy
    ) -> RetrievalStage:
        return RetrievalStage(
            ranking=self._ranker.begin(case.question),
            hits=hits,
            k=self._k,
            fetch=watched.fetch,
            extractor=self._extractor,
            wait=rule,
        )


class _TimedSearch(NamedTuple):
    pages: list[Page]
    late: int


async def _read(reading: RetrievalStage) -> _TimedSearch:
    async with aclosing(reading.pages()) as outcomes:
        found = [outcome async for outcome in outcomes]
    pages = [outcome for outcome in found if isinstance(outcome, Page)]
    return _TimedSearch(pages, sum(isinstance(o, Failure) and o.kind == "late" for o in found))


def _ids(references: Sequence[Reference]) -> frozenset[tuple[str, str]]:
    return frozenset((reference.url.rsplit("/", 1)[1], reference.text) for reference in references)


async def in_turn(
    jobs: Sequence[Callable[[], Awaitable[LatencyResult]]], at_a_time: int
) -> list[LatencyResult]:
    """Run the jobs, a few at a time, and return their outcomes in order."""
    slots = asyncio.Semaphore(at_a_time)

    async def run(job: Callable[[], Awaitable[LatencyResult]]) -> LatencyResult:
        async with slots:
            return await job()

    return list(await asyncio.gather(*(run(job) for job in jobs)))


async def measure(
    bench: Bench, cases: Sequence[Case], ours: WaitPolicy, share: float, *, at_a_time: int, one_by_one: int
) -> dict[str, Any]:
    """Ask all cases by each rule under the law with one share of the request; return each rule's numbers."""
    law = fitted(share)
    asked = await in_turn([partial(bench.ask, case, law, 0, WEBGLM) for case in cases], at_a_time)
    # WebGLM ranks all passages of its pages; ours skips some of the last arrivals.
    webglm = [
        outcome._replace(references=bench.best(case, outcome))
        for case, outcome in zip(cases, asked, strict=True)
    ]
    singles = await in_turn(
        [partial(bench.ask_one_by_one, case, law, 0, WEBGLM) for case in cases[:one_by_one]], at_a_time
    )
    mine = await in_turn([partial(bench.ask, case, law, 0, ours) for case in cases], 1)
    best = [bench.best(*three) for three in zip(cases, webglm, mine, strict=True)]
    result = {"webglm": summary(webglm, webglm, best), "ours": summary(mine, webglm, best)}
    return result | ({"one_by_one": summary(singles, [], [])} if singles else {})


def summary(
    outcomes: Sequence[LatencyResult],
    baseline: Sequence[LatencyResult],
    best: Sequence[frozenset[tuple[str, str]]],
) -> dict[str, float]:
    """Return the numbers of a rule.

    `kept_strictly` is the share of the baseline's references that are here as well. A second request may
    fetch a page that the baseline never had, whose passages then outrank some of the baseline's: `kept`
    counts as kept the references that are not among the best of all pages fetched by either rule.
    """
    seconds = sorted(outcome.seconds for outcome in outcomes)
    overhead = sorted(outcome.overhead for outcome in outcomes)
    numbers = {
        "questions": len(outcomes),
        "mean": statistics.fmean(seconds),
        "p50": at(seconds, 0.5),
        "p90": at(seconds, 0.9),
        "p99": at(seconds, 0.99),
        "requests": statistics.fmean(outcome.requests for outcome in outcomes),
        "late": statistics.fmean(outcome.late for outcome in outcomes),
    }
    if baseline:
        trios = zip(outcomes, baseline, best, strict=True)
        sets = [(mine.references, base.references, top) for mine, base, top in trios]
        wanted = max(1, sum(len(base) for _, base, _ in sets))
        numbers |= {
            "overhead_mean": statistics.fmean(overhead),
            "overhead_p50": at(overhead, 0.5),
            "overhead_p90": at(overhead, 0.9),
            "kept": 1 - sum(len((base & top) - mine) for mine, base, top in sets) / wanted,
            "kept_strictly": sum(len(mine & base) for mine, base, _ in sets) / wanted,
            "references": statistics.fmean(len(mine) for mine, _, _ in sets),
        }
    return {key: round(value, 3) for key, value in numbers.items()}


def at(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of sorted values: the smallest with `share` of them at or below it."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


async def run(arguments: argparse.Namespace, data_dir: Path) -> dict[str, Any]:
    """Build the local web, start its server and measure."""
    web = LocalWeb(data_dir)
    questions = web.questions("test", arguments.limit)
    chosen = random.Random(0).sample(questions, min(arguments.questions, len(questions)))
    cases = [await web.case(question.text) for question in chosen]
    settings, law = web.settings, fitted()
    result: dict[str, Any] = {
        "law": {
            "median": round(math.exp(law.mu), 4),
            "sigma": round(law.sigma, 4),
            "stage_mean": round(stage_mean(law), 3),
        },
        "rule": asdict(wait_policy(settings)),
    }
    guard = AddressGuard((ip_network("127.0.0.0/8"),))
    limits = FetchLimits(body_bytes=settings.fetch.max_bytes)
    with running() as port:
        async with (
            web_fetcher(limits, guard, resolver=Loopback()) as fetcher,
            Sandbox(sandbox_limits(settings)) as sandbox,
            open_extractor(settings, fetcher, sandbox) as extractor,
        ):
            bench = Bench(build_ranker(settings), extractor, fetcher, settings, port)
            await in_turn([partial(bench.ask, case, law, 1, WEBGLM) for case in cases[:8]], 4)  # warm
            for share in SHARES[: 1 if arguments.quick else None]:
                extremes = share != SHARES[0]
                result[f"request_share_{share}"] = await measure(
                    bench,
                    cases[: arguments.extremes] if extremes else cases,
                    wait_policy(settings),
                    share,
                    at_a_time=arguments.at_a_time,
                    one_by_one=0 if extremes else arguments.one_by_one,
                )
    return result


def show(result: dict[str, Any]) -> None:
    """Print the result as tables."""
    law = result["law"]
    print(
        f"Law: log-normal, median {law['median']} s, sigma {law['sigma']}; the slowest of ten pages under a\n"
        f"cut-off of 5 s takes {law['stage_mean']} s in the mean (WebGLM: {FETCH_MEAN}).\n"
    )
    for share in SHARES:
        if rules := result.get(f"request_share_{share}"):
            keys = list(rules["webglm"])
            print(f"Share of the log-variance that belongs to the request: {share}\n")
            rows = [[rule, *(numbers.get(key, "") for key in keys)] for rule, numbers in rules.items()]
            print(table(["rule", *keys], rows) + "\n")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--questions", type=int, default=200, help="questions asked")
    parser.add_argument("--extremes", type=int, default=60, help="questions under the two other laws")
    parser.add_argument("--one-by-one", type=int, default=60, help="questions read one page at a time")
    parser.add_argument(
        "--at-a-time", type=int, default=4, help="simultaneous questions for the rules that wait"
    )
    parser.add_argument("--limit", type=int, default=300, help="maximum covered questions per set")
    parser.add_argument("--data-dir", type=Path, help="folder of the index; temporary by default")
    parser.add_argument("--quick", action="store_true", help="skip the extremes")
    output_option(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        result = asyncio.run(run(arguments, arguments.data_dir or Path(temporary)))
    show(result)
    save("coarse_latency", result, arguments.output)


if __name__ == "__main__":
    main()
