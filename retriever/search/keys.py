"""API keys of search providers: where they are looked up, and what to do without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from citewell.core.errors import ServiceKeyMissingError


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a provider: the setting and the environment variables that may hold it, in order."""

    setting: str
    variables: tuple[str, ...]

    def found_in(self, setting: str, environment: Mapping[str, str]) -> str:
        """Return the value of the setting or, failing that, of the first variable that is set; else empty."""
        values = (setting, *(environment.get(name, "") for name in self.variables))
        return next((value.strip() for value in values if value.strip()), "")


@dataclass(frozen=True, slots=True)
class ProviderKeys:
    """The keys that a provider needs, and where to get them."""

    needed: tuple[Key, ...]
    signup: str

    def missing(self, provider: str, *values: str) -> ServiceKeyMissingError:
        """Return the error for missing keys; `values` are those found, in the order of `needed`."""
        absent = [key for key, value in zip(self.needed, values, strict=True) if not value]
        variables = " and ".join(key.variables[0] for key in absent)
        settings = " and ".join(f"search.{key.setting}" for key in absent)
        remedy = f"Set the environment variable {variables} or the setting {settings}"
        return ServiceKeyMissingError(
            f"The search provider {provider} has no API key (not set: {variables}).",
            f"{remedy}. Get a key at {self.signup}",
        )


KEYS: Mapping[str, ProviderKeys] = {
    "brave": ProviderKeys(
        (Key("brave_key", ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")),), "https://brave.com/search/api/"
    ),
    "tavily": ProviderKeys((Key("tavily_key", ("TAVILY_API_KEY",)),), "https://app.tavily.com"),
    "serpapi": ProviderKeys(
        (Key("serpapi_key", ("SERPAPI_API_KEY", "SERPAPI_KEY")),), "https://serpapi.com/manage-api-key"
    ),
    "google": ProviderKeys(
        (
            Key("google_key", ("GOOGLE_API_KEY",)),
            Key("google_engine", ("GOOGLE_CSE_ID", "GOOGLE_SEARCH_ENGINE_ID")),
        ),
        "https://developers.google.com/custom-search/v1/introduction",
    ),
}
"""The providers that require a key, in the order in which `auto` prefers them."""

BING_KEY = Key("bing_key", ("BING_SEARCH_V7_SUBSCRIPTION_KEY", "BING_SUBSCRIPTION_KEY"))
BING_ENDPOINT_VARIABLE = "BING_SEARCH_V7_ENDPOINT"
