"""The systems whose answers are evaluated: a generator or a browsing policy, and what it answers from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from citewell.core.build_cache import OnStep
from citewell.core.errors import InputError
from citewell.core.questions import AnsweredQuestion
from citewell.core.settings import Settings
from citewell.generator.evaluation.answers import GeneratedAnswer, Write
from citewell.pipeline.browsing import open_browsing
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.chosen_providers import chosen_providers, is_collection, searched_collections
from citewell.pipeline.collections import catalog_of
from citewell.pipeline.evaluation.answering import check_writer, generated
from citewell.pipeline.evaluation.closed_book import open_closed_book
from citewell.pipeline.evaluation.coverage import PassageSearch
from citewell.pipeline.evaluation.identity import identity_of, with_generator
from citewell.pipeline.evaluation.prompts import NONE, PROMPTS
from citewell.pipeline.pipeline import Hides


class Arm(StrEnum):
    """What a system answers from."""

    ON = "on"
    """The references that the pipeline retrieves."""
    CLOSED_BOOK = "closed-book"
    """Nothing: no reference is sent to the generator."""
    ORACLE = "oracle"
    """Passages of the collection that hold an accepted answer and are about the question."""
    BROWSE = "browse"
    """The quotes of a browsing policy."""


@dataclass(frozen=True, kw_only=True)
class AnswerSystem:
    """A system called `label`: the generator `name`, or with `Arm.BROWSE` the policy `name`.

    With `n` above 1, it is the best of n answers or episodes. A closed-book system is asked with `prompt`.
    """

    label: str
    arm: Arm
    name: str
    n: int = 1
    prompt: str = NONE

    def of(self, settings: Settings) -> Settings:
        """Return the settings of this system."""
        several = {"best_of": self.n} if self.n > 1 else {}
        if self.arm is Arm.BROWSE:
            browser = settings.browser.model_copy(update={"policy": self.name} | several)
            return with_generator(settings.model_copy(update={"browser": browser}), settings.generator.name)
        own = with_generator(settings, self.name)
        return own.model_copy(update={"generator": own.generator.model_copy(update=several)})

    def identity(self, settings: Settings, *, hides: Hides | None = None) -> str:
        """Return a digest of all that its answers depend on, besides the questions."""
        own = self.of(settings)
        if self.arm is Arm.CLOSED_BOOK:
            return identity_of(own, arm=self.arm, prompt=self.prompt)
        more: dict[str, Any] = {
            "retriever": own.retriever.model_dump(mode="json"),
            "search": own.search.model_dump(mode="json"),
            "scorer": own.scorer.model_dump(mode="json"),
            "collection": _collection_version(own),
            "hides": "" if hides is None else hides.__name__,
        }
        if self.arm is Arm.BROWSE:
            more["browser"] = own.browser.model_dump(mode="json")
        return identity_of(own, arm=self.arm, **more)


def read_system(label: str, name: str, n: int, arm: Arm) -> AnswerSystem:
    """Return the system of `NAME`, or of `ARM:NAME`, which overrides `arm`.

    Raises `InputError` for several closed-book answers, which would have nothing to be chosen by.
    """
    prefix, colon, rest = name.partition(":")
    if colon and rest and prefix in {*Arm}:
        arm, name = Arm(prefix), rest
    if arm is Arm.CLOSED_BOOK and n > 1:
        raise InputError(
            f"{label} has no references by which the best of {n} answers could be chosen.",
            f"Name {Arm.CLOSED_BOOK}:{name}.",
        )
    return AnswerSystem(label=label, arm=arm, name=name, n=n)


@asynccontextmanager
async def open_system(
    system: AnswerSystem,
    settings: Settings,
    passages: Callable[[], PassageSearch],
    on_step: OnStep,
    *,
    hides: Hides | None = None,
) -> AsyncGenerator[Write[AnsweredQuestion], None]:
    """Open a system and close its connections at the end.

    `passages` are those of the collection, for the oracle. `hides` says which pages the pipeline must not
    see. Raises as `open_pipeline`, `open_completer` and `open_browsing` do, and `ModelError` where weights
    are missing.
    """
    own = system.of(settings)
    if system.arm is Arm.CLOSED_BOOK:
        async with open_closed_book(own, PROMPTS[system.prompt], on_step) as write:
            yield write
    elif system.arm is Arm.BROWSE:
        async with open_browsing(own, on_step=on_step) as browsing:

            async def browse(row: AnsweredQuestion) -> GeneratedAnswer:
                return await generated(browsing.ask(row.question))

            yield browse
    else:
        async with open_pipeline(own, on_step=on_step) as opened:
            check_writer(opened, own)
            pipeline = replace(opened, hides=hides)

            async def ask(row: AnsweredQuestion) -> GeneratedAnswer:
                return await generated(pipeline.ask(row.question))

            async def write_from_right(row: AnsweredQuestion) -> GeneratedAnswer:
                right = passages().right_passages(row.question, row.answers, own.retriever.k)
                return await generated(pipeline.write(row.question, right))

            yield ask if system.arm is Arm.ON else write_from_right


def asks_a_collection(settings: Settings) -> bool:
    """Return whether collections alone are searched, so that what they can answer is known."""
    return all(map(is_collection, chosen_providers(settings.search)))


def _collection_version(settings: Settings) -> str:
    if not asks_a_collection(settings):
        return ""
    names = searched_collections(chosen_providers(settings.search), settings.search)
    return " ".join(str(catalog_of(settings, name).version(name)) for name in names)
