"""The places that a question may name beside collections: Wikipedia, the web, and its single providers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from citewell.core.errors import InputError
from citewell.core.settings import SearchSettings
from citewell.pipeline.chosen_providers import OF_COLLECTION, chosen_providers, web_providers
from citewell.retriever.search.words import TITLES as PROVIDERS

Place = Literal["wikipedia", "web", "searxng", "ddgs", "brave", "tavily", "serpapi", "google", "bing"]
"""Wikipedia, the web by all providers of the settings, or one of these providers."""

TITLES = {"web": "The web", **PROVIDERS}
"""The places as people read them."""


def place_choices(wanted: SearchSettings) -> tuple[str, ...]:
    """Return the places that a question may name: single providers only where several search the web."""
    web = web_providers(chosen_providers(wanted))
    return ("wikipedia", *(("web",) if web else ()), *(web if len(web) > 1 else ()))


def check_places(search: Iterable[str], wanted: SearchSettings) -> None:
    """Raise `InputError` for a place that the settings do not have."""
    web = web_providers(chosen_providers(wanted))
    for name in search:
        if name == "web" and not web:
            raise InputError("No search provider of the web is set up.", "Set one in search.providers.")
        if name not in ("wikipedia", "web", *web):
            known = ", ".join(("wikipedia", "web", *web) if web else ("wikipedia",))
            raise InputError(
                f"The search provider {name!r} is not set up.",
                f"Name one of {known}; the setting search.providers adds others.",
            )


def named_providers(
    collections: Iterable[str], search: Iterable[str], wanted: SearchSettings
) -> tuple[str, ...]:
    """Return the search providers of the places that a question names."""
    named = [f"{OF_COLLECTION}{name}" for name in collections]
    web = web_providers(chosen_providers(wanted))
    for name in sorted(search, key=_wikipedia_last):
        named += web if name == "web" else (name,)
    return tuple(dict.fromkeys(named))


def _wikipedia_last(name: str) -> bool:
    return name == "wikipedia"
