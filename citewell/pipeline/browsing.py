"""Answering by browsing: episodes of a policy find the references, and the pipeline answers from them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

import msgspec

from citewell.browser.answering import AnsweringPolicy, PolicyAnswerer
from citewell.browser.environment import Browser
from citewell.browser.episode import Episode
from citewell.browser.episodes import StepTaken, run_episode
from citewell.browser.limits import BrowserLimits
from citewell.browser.policies.best_of import variants
from citewell.browser.policies.opening import Opened, open_policy
from citewell.browser.policy import Policy
from citewell.browser.web import Web
from citewell.core.build_cache import OnStep
from citewell.core.errors import CitewellError, InputError
from citewell.core.events import Browsed, Done, Event, Notice, Ranked
from citewell.core.settings import BrowserSettings, Settings
from citewell.core.types import Answer, Reference
from citewell.pipeline.build import pipeline_of
from citewell.pipeline.parts import open_parts, silent
from citewell.pipeline.pipeline import Pipeline
from citewell.pipeline.web import web_of
from citewell.scorer.choice import mean_support

Keep = Callable[[Episode], object]
"""Receives every episode of a question; the one that is answered from comes first, broken off ones last."""


class _EpisodeKeeper:
    """Hands each episode on once: with its answer, or else at the end."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._waiting: dict[str, Episode] = {}

    def add(self, episode: Episode) -> None:
        """Note an episode that may still be answered from."""
        if episode.steps:
            self._waiting[episode.id] = episode

    def keep(self, episode: Episode) -> None:
        """Hand on an episode with its answer."""
        self._waiting.pop(episode.id, None)
        self._keep(episode)

    def keep_rest(self) -> None:
        """Hand on all other episodes."""
        for episode in list(self._waiting.values()):
            self.keep(episode)


class _Answered(NamedTuple):
    """An episode, and the answer written from its quotes; `failures` say what became of other episodes."""

    episode: Episode
    answer: Answer
    events: tuple[Event, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def standing(self) -> tuple[bool, float, float]:
        """The rank of the episode by the rule for candidates; see `citewell.scorer.choice`."""
        if self.answer.outcome != "answered":
            return False, 0.0, 0.0
        score = self.answer.candidates[self.answer.best].adjusted_score if self.answer.candidates else 0.0
        return True, score, mean_support(self.answer.sentences)


class Browsing:
    """A pipeline that answers from the quotes of a browsing policy (WebGPT §2, arXiv:2112.09332).

    The answering phase is the pipeline's: the same generator, unless the policy itself answers, and always
    the same check of citations and scorer. Several episodes run concurrently, and the one with the best
    answer wins; a notice says which error made one fail.
    """

    def __init__(
        self, pipeline: Pipeline, web: Web, opened: Opened, limits: BrowserLimits, *, best_of: int = 1
    ) -> None:
        """Browse `web` within `limits`; raises `InputError` as `variants` does."""
        self._pipeline = pipeline
        self._web = web
        self._count = opened.count
        self.limits = limits
        self._policies = variants(opened.policy, best_of)

    async def ask(
        self, question: str, *, actions: int | None = None, keep: Keep = lambda episode: None
    ) -> AsyncGenerator[Event, None]:
        """Answer a question as a stream of events, of which the last is `Done`.

        Every command is a `Browsed`; the quotes then are the references of a `Ranked`, and what follows is
        what `Pipeline.write` yields. Without quotes, and if the policy ended browsing with `End: Nonsense`
        or `End: Controversial`, no answer is written. Raises as `Pipeline.write` and `run_episode` do, if all
        episodes fail.
        """
        question = self._pipeline.checked(question)
        kept = _EpisodeKeeper(keep)
        try:
            async with aclosing(self._ask(question, actions, kept)) as events:
                async for event in events:
                    yield event
        finally:
            kept.keep_rest()

    async def _ask(
        self, question: str, actions: int | None, kept: _EpisodeKeeper
    ) -> AsyncGenerator[Event, None]:
        started = time.perf_counter()
        episodes: list[Episode] = []
        failures: list[str] = []
        async with aclosing(self._browse(question, actions, kept)) as browsing:
            async for passed in browsing:
                if isinstance(passed, Episode):
                    episodes.append(passed)
                    continue
                if isinstance(passed, Notice):
                    failures.append(passed.text)
                yield passed
        spent = round(time.perf_counter() - started, 4)
        several = len(episodes) > 1
        writing = (
            self._best(question, episodes, kept) if several else self._alone(question, episodes[0], kept)
        )
        async with aclosing(writing) as events:
            async for event in events:
                if isinstance(event, _Answered):
                    answered = event._replace(failures=(*failures, *event.failures))
                    yield Done(_whole(answered, spent, time.perf_counter() - started))
                else:
                    yield event

    async def _alone(
        self, question: str, episode: Episode, kept: _EpisodeKeeper
    ) -> AsyncGenerator[Event | _Answered, None]:
        """Yield the events of writing from an episode."""
        async with aclosing(self._write(question, episode)) as events:
            async for event in events:
                if isinstance(event, Done):
                    answered = _Answered(replace(episode, answer=event.answer.answer), event.answer)
                    kept.keep(answered.episode)
                    yield answered
                else:
                    yield event

    async def _best(
        self, question: str, episodes: Sequence[Episode], kept: _EpisodeKeeper
    ) -> AsyncGenerator[Event | _Answered, None]:
        """Yield the events of writing from the episode with the best answer."""
        answered: list[_Answered] = []
        errors: list[CitewellError] = []
        for episode in episodes:
            try:
                answered.append(await self._answered(question, episode))
            except CitewellError as error:
                errors.append(error)
        if not answered:
            raise errors[0]
        notices = self._failures(errors)
        for notice in notices:
            yield notice
        answered.sort(key=lambda one: one.standing, reverse=True)
        for place, one in enumerate(answered):
            about = {
                "best_of": f"{len(answered)}",
                "place": f"{place + 1}",
                "value": f"{one.standing[1]:.4f}",
            }
            answered[place] = one._replace(episode=replace(one.episode, about=one.episode.about | about))
            kept.keep(answered[place].episode)
        for event in answered[0].events:
            yield event
        yield answered[0]._replace(failures=tuple(notice.text for notice in notices))

    def _failures(self, errors: Iterable[CitewellError]) -> list[Notice]:
        return [Notice(f"One of {len(self._policies)} episodes failed: {error}") for error in errors]

    async def _browse(
        self, question: str, actions: int | None, kept: _EpisodeKeeper
    ) -> AsyncGenerator[Browsed | Notice | Episode, None]:
        """Yield the events of all episodes as they come, and the whole ones in the order of the policies.

        A notice gives the error of each other one; raises the first if none is whole.
        """
        passed: asyncio.Queue[Browsed | None] = asyncio.Queue()

        async def browse(place: int, policy: Policy) -> Episode:
            try:
                return await self._episode(question, policy, place, actions, passed, kept)
            finally:
                passed.put_nowait(None)

        tasks = [asyncio.create_task(browse(*one)) for one in enumerate(self._policies)]
        try:
            left = len(tasks)
            while left:
                event = await passed.get()
                if event is None:
                    left -= 1
                else:
                    yield event
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            whole = [each for each in ended if isinstance(each, Episode)]
            errors = [each for each in ended if isinstance(each, CitewellError)]
            if bugs := [each for each in ended if not isinstance(each, Episode | CitewellError)]:
                raise bugs[0]
            if not whole:
                raise errors[0]
            for notice in self._failures(errors):
                yield notice
            for episode in whole:
                yield episode
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _episode(
        self,
        question: str,
        policy: Policy,
        place: int,
        actions: int | None,
        passed: asyncio.Queue[Browsed | None],
        kept: _EpisodeKeeper,
    ) -> Episode:
        browser = Browser(self._web, self.limits, self._count)
        number = 0
        steps = run_episode(browser, policy, question, actions=actions, broken_off=kept.add)
        async with aclosing(steps) as events:
            async for event in events:
                if not isinstance(event, StepTaken):
                    kept.add(event.episode)
                    return event.episode
                number += 1
                step, state = event
                quote = browser.quotes[-1].text if step.kind == "quote" else None
                passed.put_nowait(
                    Browsed(
                        number,
                        step.command,
                        step.kind != "invalid",
                        reason=step.reason,
                        title=step.title,
                        url=step.url,
                        quote=quote,
                        quotes=len(browser.quotes),
                        actions_left=state.actions_left,
                        episode=place,
                    )
                )
        raise AssertionError("an episode ends")

    async def _write(self, question: str, episode: Episode) -> AsyncGenerator[Event, None]:
        references = _references(episode)
        for notice in _notices(episode):
            yield Notice(notice)
        yield Ranked(references, bool(references))
        async with aclosing(self._pipeline.write(question, references)) as events:
            async for event in events:
                yield event

    async def _answered(self, question: str, episode: Episode) -> _Answered:
        events: list[Event] = []
        async with aclosing(self._write(question, episode)) as stream:
            async for event in stream:
                if isinstance(event, Done):
                    written = replace(episode, answer=event.answer.answer)
                    return _Answered(written, event.answer, tuple(events))
                events.append(event)
        raise AssertionError("a pipeline ends with Done")


def browser_limits(wanted: BrowserSettings, trained: BrowserLimits | None = None) -> BrowserLimits:
    """Return the limits of an episode: those of a `trained` policy's training, but for set actions."""
    limits = trained or BrowserLimits()
    if trained is None or "actions" in wanted.model_fields_set:
        return replace(limits, actions=wanted.actions)
    return limits


@asynccontextmanager
async def open_browsing(
    settings: Settings,
    *,
    on_step: OnStep = silent,
    policy: Policy | None = None,
    over: Callable[[Web], Web] = lambda web: web,
) -> AsyncGenerator[Browsing, None]:
    """Build the browser, policy and pipeline of the settings, and close their connections at the end.

    `policy`, such as a person, replaces the policy of the settings. `over` wraps the web, for example to
    record it. Raises as `open_pipeline`, `open_web` and `open_policy` do.
    """
    async with (
        open_parts(settings, on_step=on_step) as parts,
        pipeline_of(parts, on_step) as pipeline,
        _opened(settings, pipeline, policy, on_step) as opened,
    ):
        yield browsing_of(settings, pipeline, over(web_of(parts, pipeline.search)), opened)


def browsing_of(settings: Settings, pipeline: Pipeline, web: Web, opened: Opened) -> Browsing:
    """Return the browsing that the settings describe, from its open parts.

    Raises `InputError` for a policy that is to answer but writes no answers, and as `variants` does.
    """
    wanted = settings.browser
    limits = browser_limits(wanted, opened.limits)
    if wanted.answerer == "policy":
        pipeline = replace(pipeline, generator=_answerer(opened.policy, limits, settings))
    return Browsing(pipeline, web, opened, limits, best_of=wanted.best_of)


def _answerer(policy: Policy, limits: BrowserLimits, settings: Settings) -> PolicyAnswerer:
    """Return the policy as the writer of answers; raises `InputError` for one that writes none."""
    if not isinstance(policy, AnsweringPolicy):
        raise InputError(
            f"The policy {policy.name} writes no answers.",
            "Set browser.answerer to generator, or browser.policy to a language model.",
        )
    written = settings.generator
    return PolicyAnswerer(
        policy,
        prompt_tokens=limits.state_tokens,
        answer_tokens=written.answer_tokens,
        seed=written.seed,
    )


@asynccontextmanager
async def _opened(
    settings: Settings, pipeline: Pipeline, policy: Policy | None, on_step: OnStep
) -> AsyncGenerator[Opened, None]:
    if policy is not None:
        yield Opened(policy)
        return
    wanted = settings.browser
    async with open_policy(
        wanted.policy,
        settings,
        relevance=pipeline.ranker.scores,
        constrained=wanted.constrained,
        on_step=on_step,
    ) as opened:
        yield opened


def _references(episode: Episode) -> tuple[Reference, ...]:
    """Return the quotes, numbered; none if the question must not be answered."""
    if episode.ending in {"Nonsense", "Controversial"}:
        return ()
    return tuple(
        Reference(number, quote.url, quote.title, quote.text, 0.0)
        for number, quote in enumerate(episode.quotes, 1)
    )


def _notices(episode: Episode) -> tuple[str, ...]:
    if episode.ending in {"Nonsense", "Controversial"}:
        return (f"There is no answer, since the policy ended browsing with `End: {episode.ending}`.",)
    if episode.ending == "actions":
        return (f"Browsing ended after {len(episode.steps)} actions, the most that it may take.",)
    return ()


def _whole(answered: _Answered, browsing: float, total: float) -> Answer:
    """Return the answer with its episode, and with the seconds that browsing and all took."""
    episode, answer = answered.episode, answered.answer
    return replace(
        answer,
        notices=(*answered.failures, *_notices(episode), *answer.notices),
        timings={"browse": browsing} | answer.timings | {"total": round(total, 4)},
        models=answer.models | {"policy": episode.policy},
        episode=msgspec.to_builtins(episode),
    )
