"""Opens a browsing policy by its name in the settings."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from citewell.browser.limits import BrowserLimits, Count
from citewell.browser.limits_file import FILE, read_limits
from citewell.browser.policies.model import ModelPolicy
from citewell.browser.policies.prompted import cloned, prompted
from citewell.browser.policies.random_legal import RandomLegal
from citewell.browser.policies.scripted import Scripted
from citewell.browser.policy import Policy
from citewell.core.build_cache import OnStep
from citewell.core.settings import Settings
from citewell.generator.estimate import estimate_tokens
from citewell.generator.extractive import Relevance
from citewell.generator.load import open_completer

SCRIPTED, RANDOM = "scripted", "random"

ADAPTERS = Path(__file__).parent.parent / "adapters"
"""The trained policies that come with Citewell: a folder each, named as the policy is."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A policy, how many tokens a text has to it, and the limits that it was trained with, if it was."""

    policy: Policy
    count: Count = estimate_tokens
    limits: BrowserLimits | None = None


@asynccontextmanager
async def open_policy(
    name: str,
    settings: Settings,
    *,
    relevance: Relevance,
    constrained: bool = True,
    on_step: OnStep = lambda name, step: None,
) -> AsyncGenerator[Opened, None]:
    """The policy called `name`; its connections are closed at the end.

    A name is `scripted`, `random`, that of a trained policy that comes with Citewell, the folder of one, or
    that of any generator but `extractive`, which is then told how to browse. `relevance` chooses for the
    script; without `constrained`, language models may write what they like. Raises `WeightsMissingError` and
    `ModelError` as `open_completer` does.
    """
    if name == SCRIPTED:
        yield Opened(Scripted(relevance))
        return
    if name == RANDOM:
        yield Opened(RandomLegal(settings.generator.seed))
        return
    folder = policy_folder(name)
    limits = read_limits(folder) if folder else None
    wanted = settings.generator.model_copy(update={"name": str(folder or name)})
    async with open_completer(
        wanted, settings.cache_dir, threads=settings.threads, on_step=on_step
    ) as completer:
        messages = cloned if folder else prompted
        policy = ModelPolicy(completer, name, messages=messages, constrained=constrained)
        yield Opened(policy, completer.count, limits)


def policy_folder(name: str) -> Path | None:
    """The folder of the trained policy called `name`; None where it is none."""
    shipped = ADAPTERS / name
    folder = shipped if Path(name).name == name and (shipped / FILE).is_file() else Path(name)
    return folder if (folder / FILE).is_file() else None
