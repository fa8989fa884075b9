"""Opening of a browsing policy by its name in the settings."""

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
from citewell.core.relevance import Relevance
from citewell.core.settings import Settings
from citewell.generator.estimate import estimate_tokens
from citewell.generator.load import open_completer

SCRIPTED, RANDOM = "scripted", "random"

ADAPTERS = Path(__file__).parent.parent / "adapters"
"""The trained policies that come with Citewell: one folder each, with the policy's name."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A policy, its token counter, and the limits of its training, if it was trained."""

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
    """Open the policy `name`; close its connections at the end.

    A name is `scripted`, `random`, the name of a trained policy that comes with Citewell, a folder of one, or
    the name of any generator except `extractive`, which then gets instructions for browsing. `relevance`
    guides the script. Without `constrained`, language models may write any text. Raises `WeightsMissingError`
    and `ModelError` as `open_completer` does.
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
    """Return the folder of the trained policy `name`; None if it is not a trained policy."""
    shipped = ADAPTERS / name
    folder = shipped if Path(name).name == name and (shipped / FILE).is_file() else Path(name)
    return folder if (folder / FILE).is_file() else None
