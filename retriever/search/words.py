"""The names of search providers as people read them."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "wikipedia": "Wikipedia",
    "searxng": "SearXNG",
    "ddgs": "DuckDuckGo",
    "brave": "Brave",
    "tavily": "Tavily",
    "serpapi": "SerpApi",
    "google": "Google",
    "bing": "Bing",
}
"""The titles of the search services, by the names of their providers."""

_OF_COLLECTION = "collection:"


def spoken(provider: str) -> str:
    """Return the name of a provider as the beginning of a sentence, such as `The collection notes`."""
    if provider.startswith(_OF_COLLECTION):
        return f"The collection {provider.removeprefix(_OF_COLLECTION)}"
    return TITLES.get(provider, provider)
