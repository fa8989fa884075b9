"""The systems that are compared in browsing: policies in one web, and the pipeline's references."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from browser.environment import Browser
from browser.episode import Episode
from browser.evaluation.systems import PolicySystem, System
from browser.limits import BrowserLimits
from browser.policies.best_of import by_quotes
from browser.policies.opening import Opened, open_policy
from browser.state import TakenQuote
from browser.web import Web
from core.events import Done
from core.settings import Settings
from generator.extractive import Relevance
from pipeline.build import build_ranker, open_pipeline
from pipeline.pipeline import Pipeline
from pipeline.web import open_web
from retriever.search.urls import host_of

PIPELINE = "pipeline"


class PipelineSystem:
    """The references of the pipeline, as the quotes of an episode without steps."""

    name = PIPELINE

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def browse(self, question: str) -> list[Episode]:
        """Find the references of a question."""
        started = time.perf_counter()
        async with aclosing(self._pipeline.retrieve(question)) as events:
            answer = await anext(event.answer async for event in events if isinstance(event, Done))
        quotes = tuple(
            TakenQuote(reference.title, host_of(reference.url), reference.url, reference.text)
            for reference in answer.references
        )
        seconds = round(time.perf_counter() - started, 6)
        return [Episode(uuid.uuid4().hex, question, PIPELINE, (), quotes, "Answer", seconds=seconds)]


@dataclass
class Systems:
    """Opens systems by their names; a policy that several are made of is opened once."""

    settings: Settings
    actions: int | None
    free: bool
    web: Web
    relevance: Relevance
    stack: AsyncExitStack

    def __post_init__(self) -> None:
        self._opened: dict[str, Opened] = {}

    async def open(self, label: str, name: str, n: int) -> System:
        """The system `label`: the policy `name`, or the best of `n` of its episodes by their quotes.

        Raises what `browser.policies.opening.open_policy` and `pipeline.build.open_pipeline` raise.
        """
        if name == PIPELINE:
            return PipelineSystem(await self.stack.enter_async_context(open_pipeline(self.settings)))
        if name not in self._opened:
            self._opened[name] = await self.stack.enter_async_context(
                open_policy(name, self.settings, relevance=self.relevance, constrained=not self.free)
            )
        opened = self._opened[name]
        limits = opened.limits or BrowserLimits()
        if self.actions:
            limits = replace(limits, actions=self.actions)

        def start() -> Browser:
            return Browser(self.web, limits, opened.count)

        rate: Any = by_quotes(self.relevance)
        return PolicySystem(label, opened.policy, start, n=n, actions=limits.actions, rate=rate)


@asynccontextmanager
async def open_systems(
    settings: Settings, *, actions: int | None, free: bool
) -> AsyncGenerator[Systems, None]:
    """What opens systems; all of their connections are closed at the end.

    `actions` are the most of an episode, by default those of each policy's own limits. With `free`, language
    models may write what they like.
    """
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(open_web(settings))
        yield Systems(settings, actions, free, web, build_ranker(settings).scores, stack)
