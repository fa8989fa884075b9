"""The systems that a browsing evaluation compares: policies in one web, and the pipeline's references."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from citewell.browser.environment import Browser
from citewell.browser.episode import Episode
from citewell.browser.evaluation.systems import BrowsingSystem, PolicySystem
from citewell.browser.policies.best_of import EpisodeJudge, by_quotes, by_scorer
from citewell.browser.policies.opening import Opened, open_policy
from citewell.browser.state import TakenQuote
from citewell.browser.web import Web
from citewell.core.errors import InputError
from citewell.core.events import final_answer
from citewell.core.progress import Log
from citewell.core.relevance import Relevance
from citewell.core.settings import Settings
from citewell.generator.orders.marking import evidence_of
from citewell.pipeline.browsing import browser_limits
from citewell.pipeline.build import pipeline_of
from citewell.pipeline.choices import choose_scorer, without_writer
from citewell.pipeline.parts import Parts, open_parts
from citewell.pipeline.pipeline import Pipeline
from citewell.pipeline.web import web_of
from citewell.retriever.search.urls import host_of
from citewell.scorer.scorer import PreferenceJudge

PIPELINE = "pipeline"


class PipelineBrowsing:
    """The references of the pipeline, as the quotes of an episode without steps."""

    name = PIPELINE

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def browse(self, question: str) -> list[Episode]:
        """Find the references of a question."""
        started = time.perf_counter()
        answer = await final_answer(self._pipeline.retrieve(question))
        quotes = tuple(
            TakenQuote(reference.title, host_of(reference.url), reference.url, reference.text)
            for reference in evidence_of(answer.references)
            if reference.text
        )
        seconds = round(time.perf_counter() - started, 6)
        return [Episode(uuid.uuid4().hex, question, PIPELINE, (), quotes, "Answer", seconds=seconds)]


@dataclass
class Systems:
    """An opener of systems by name; a policy that several systems use is opened once."""

    parts: Parts
    actions: int | None
    free: bool
    web: Web
    relevance: Relevance
    stack: AsyncExitStack
    log: Log

    def __post_init__(self) -> None:
        self._opened: dict[str, Opened] = {}
        self._chosen: EpisodeJudge | None = None

    async def open(self, label: str, name: str, n: int) -> BrowsingSystem:
        """Return the system `label`: the policy `name`, or the best of `n` of its episodes by the judge.

        Raises `InputError` for several episodes of a deterministic policy, and what
        `citewell.browser.policies.opening.open_policy` and `citewell.pipeline.build.pipeline_of` raise.
        """
        if name == PIPELINE and n > 1:
            raise InputError(
                f"The {PIPELINE} finds the same references each time, so {n} episodes would be equal.",
                f"Name {PIPELINE} alone.",
            )
        if name == PIPELINE:
            parts = replace(self.parts, settings=without_writer(self.parts.settings))
            return PipelineBrowsing(await self.stack.enter_async_context(pipeline_of(parts)))
        if name not in self._opened:
            constrained = self.parts.settings.browser.constrained and not self.free
            self._opened[name] = await self.stack.enter_async_context(
                open_policy(name, self.parts.settings, relevance=self.relevance, constrained=constrained)
            )
        opened = self._opened[name]
        limits = browser_limits(self.parts.settings.browser, opened.limits)
        if self.actions:
            limits = replace(limits, actions=self.actions)

        def start() -> Browser:
            return Browser(self.web, limits, opened.count)

        judge = self._judge() if n > 1 else by_quotes(self.relevance)
        return PolicySystem(label, opened.policy, start, n=n, actions=limits.actions, judge=judge)

    def _judge(self) -> EpisodeJudge:
        """Return the trained scorer of the settings.

        Relevance where they name none, or its base is missing.
        """
        if self._chosen is None:
            chosen = choose_scorer(self.parts.settings)
            for notice in chosen.notices:
                self.log(notice)
            trained = isinstance(chosen.scorer, PreferenceJudge)
            self._chosen = by_scorer(chosen.scorer) if trained else by_quotes(self.relevance)
        return self._chosen


@asynccontextmanager
async def open_systems(
    settings: Settings, *, actions: int | None, free: bool, log: Log
) -> AsyncGenerator[Systems, None]:
    """Open an opener of systems, and close all connections at the end.

    `actions` is the max number of actions per episode, by default each policy's own. With `free`, language
    models write without a grammar. `log` receives notices about the choice of models.
    """
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(open_parts(settings))
        web = web_of(parts, parts.search())
        yield Systems(parts, actions, free, web, parts.ranker.scores, stack, log)
