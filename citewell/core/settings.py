"""One typed settings object, filled from `citewell.toml`, then the environment, then flags.

`[fetch] deadline = 3` in the file, `CITEWELL_FETCH__DEADLINE=3` in the environment and the flag
`--deadline 3` are the same setting; the later of the three wins. A key that does not exist is an
error that names the nearest one.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from citewell.core.errors import SettingsError
from citewell.core.identity import USER_AGENT
from citewell.core.paths import cache_dir, data_dir
from citewell.core.section import Section
from citewell.core.server_settings import ServerSettings

PREFIX = "CITEWELL_"
CONFIG_VARIABLE = "CITEWELL_CONFIG"

Port = Annotated[int, Field(ge=1, le=65535)]


class SearchSettings(Section):
    """Where pages are looked for."""

    providers: Annotated[tuple[str, ...], NoDecode] = Field(
        ("auto",), description="Search providers, asked in parallel, or `auto`."
    )
    collection: str = Field("handbook", description="The collection that is searched.")
    hits: int = Field(10, ge=1, le=50, description="Pages taken from a search.")
    per_domain: int = Field(3, ge=1, description="Most pages of one domain, while there are others.")
    language: str = Field(
        "",
        pattern=r"^([A-Za-z]{2,3}(-[A-Za-z]{4})?(-[A-Za-z]{2})?)?$",
        description="Language of the pages, such as `de`.",
    )
    country: str = Field("", pattern=r"^([A-Za-z]{2})?$", description="Country searched from, such as `DE`.")
    recency: Literal["", "day", "week", "month", "year"] = Field("", description="Age of the oldest page.")
    sites: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="The only domains that pages come from."
    )
    deny_domains: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Domains that no pages come from; `webgpt` is reddit.com and quora.com."
    )
    seconds: float = Field(10.0, gt=0, description="Time limit of a provider, in seconds.")
    try_seconds: float = Field(5.0, gt=0, description="Time limit of one request to a provider, in seconds.")
    grace: float = Field(1.0, ge=0, description="Seconds that the others get once a provider has answered.")
    searxng_url: str = Field("", description="Base URL of a SearXNG instance.")
    wikipedia_url: str = Field("https://en.wikipedia.org/w/api.php", description="api.php of a MediaWiki.")
    ddgs_backend: str = Field("duckduckgo", description="Engines that the package ddgs asks.")
    brave_key: SecretStr = Field(SecretStr(""), description="API key of Brave Search.")
    brave_url: str = Field(
        "https://api.search.brave.com/res/v1/web/search", description="Address of Brave's web search."
    )
    tavily_key: SecretStr = Field(SecretStr(""), description="API key of Tavily.")
    tavily_url: str = Field("https://api.tavily.com/search", description="Address of Tavily's search.")
    serpapi_key: SecretStr = Field(SecretStr(""), description="API key of SerpApi.")
    serpapi_url: str = Field("https://serpapi.com/search.json", description="Address of SerpApi's search.")
    google_key: SecretStr = Field(SecretStr(""), description="API key of Google's Custom Search JSON API.")
    google_engine: str = Field("", description="Id of a Programmable Search Engine (`cx`).")
    google_url: str = Field(
        "https://www.googleapis.com/customsearch/v1", description="Address of Google's custom search."
    )
    bing_key: SecretStr = Field(SecretStr(""), description="Key of the Bing-compatible endpoint.")
    bing_endpoint: str = Field("", description="Address of a search that speaks Bing's API, version 7.")

    @field_validator("providers", "sites", "deny_domains", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value

    @field_validator("sites", "deny_domains")
    @classmethod
    def _domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_domain(name) for name in value))


def _domain(name: str) -> str:
    """A domain in lower case, whether given as such, as `*.example.org` or as an address."""
    host = name.lower().partition("://")[2] or name.lower()
    host = host.partition("/")[0].partition(":")[0].removeprefix("*.").strip(".")
    try:
        host = host.encode("idna").decode()
    except UnicodeError:
        host = ""
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", host):
        raise ValueError(f"{name!r} is no domain, such as example.org")
    return host


class FetchSettings(Section):
    """How pages are fetched from the web."""

    deadline: float = Field(5.0, gt=0, description="Time limit of the fetch stage, in seconds.")
    patience: float = Field(
        3.0, gt=0, description="Seconds that pages are waited for if they promise one reference."
    )
    hedge_after: float = Field(
        0.75, ge=0, description="Seconds without an answer after which a page is asked for once more."
    )
    hedges: int = Field(3, ge=0, le=50, description="Most pages of a question that are asked for twice.")
    max_bytes: int = Field(5_000_000, gt=0, description="Largest page after decompression, bytes.")
    allow_networks: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = Field(
        (), description="Private networks that may be fetched from, such as `10.0.0.0/8`."
    )
    refuse_networks: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = Field(
        (), description="Public networks that are not fetched from, such as your own."
    )
    allow_ports: Annotated[tuple[Port, ...], NoDecode] = Field(
        (80, 443, 8080, 8443), description="Ports of public addresses that may be fetched from."
    )
    proxy: SecretStr = Field(
        SecretStr(""), description="HTTP proxy, as `http://user:password@proxy.example.org:3128`."
    )
    user_agent: str = Field(
        USER_AGENT,
        pattern=r"^[!-~]+( [!-~]+)*$",
        description="Who asks, as the header `User-Agent` and robots.txt name it.",
    )
    robots: bool = Field(True, description="Whether robots.txt is obeyed.")
    connections: int = Field(256, ge=1, description="Most requests at the same time.")
    host_connections: int = Field(6, ge=1, description="Most requests to one host at the same time.")
    host_delay: float = Field(0.0, ge=0, description="Seconds between two pages of one host.")
    host_pages: int = Field(20, ge=1, description="Most pages of one host for one question.")
    cache: bool = Field(True, description="Whether pages are kept and used again, as HTTP allows.")
    cache_bytes: int = Field(500_000_000, ge=1_000_000, description="Size of the cache on disk, bytes.")
    cache_seconds: float = Field(
        300.0, ge=0, description="Seconds for which a page that says nothing of it is used again."
    )
    stale_seconds: float = Field(
        86_400.0, ge=0, description="Seconds for which an outdated page is used if its server fails."
    )
    render: Literal["never", "auto", "always"] = Field(
        "never", description="Which pages are opened in a browser, for their scripts to run."
    )
    render_seconds: float = Field(10.0, gt=0, description="Time limit of rendering one page, in seconds.")
    chromium: str = Field("", description="Chromium or Chrome that renders; by default the one on PATH.")

    @field_validator("allow_networks", "refuse_networks", "allow_ports", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value


class ExtractSettings(Section):
    """How the text of pages is read, in processes of its own."""

    extractor: Literal["main", "paper"] = Field(
        "main", description="What reads HTML: `main`, or `paper`, WebGLM's html2text and line breaks."
    )
    workers: int = Field(
        default_factory=lambda: min(os.cpu_count() or 1, 8),
        ge=1,
        description="Pages that are read at a time.",
    )
    seconds: float = Field(20.0, gt=0, description="Time limit of reading one page, in seconds.")
    memory_bytes: int = Field(
        750_000_000, ge=100_000_000, description="Most memory that reading a page may take, bytes (Linux)."
    )
    pdf_pages: int = Field(500, ge=1, description="Pages of a PDF after which the rest is left out.")


class CrawlSettings(Section):
    """How `citewell index URL` walks a site."""

    pages: int = Field(200, ge=1, description="Most pages of one crawl.")
    depth: int = Field(3, ge=0, description="Most links between the start page and a page.")
    delay: float = Field(0.5, ge=0, description="Seconds between two requests to the site.")


class CollectionSettings(Section):
    """How collections keep the vectors of their passages."""

    vectors: SecretStr = Field(
        SecretStr(""),
        description="PostgreSQL with pgvector that keeps them, as `postgresql://user:password@host/name`; "
        "by default they are files.",
    )


class RetrieverSettings(Section):
    """How passages are chosen."""

    encoder: str = Field(
        "citewell-minilm", description="Dual encoder: packaged or shipped name, folder or hub id."
    )
    engine: Literal["auto", "openvino", "torch"] = Field(
        "auto", description="What runs the encoder; `auto` is PyTorch on a GPU, and OpenVINO elsewhere."
    )
    k: int = Field(5, ge=1, le=20, description="References of an answer.")
    max_tokens: int = Field(128, ge=16, le=512, description="Tokens of a passage that are read.")
    prefilter: int = Field(48, ge=1, description="Passages that BM25 lets through to the dual encoder.")
    min_relevance: float = Field(
        0.5, ge=-1, le=1, description="Evidence under which a question is not answered (no-evidence.md)."
    )


class GeneratorSettings(Section):
    """How answers are written."""

    name: str = Field(
        "extractive",
        description="`extractive`, a packaged or shipped model, a GGUF file, a folder, a hub id, or "
        "`openai:MODEL`.",
    )
    best_of: int = Field(1, ge=1, le=64, description="Candidates written for each question.")
    temperature: float = Field(
        0.8, gt=0, le=2, description="Sampling temperature when there are several candidates."
    )
    frequency_penalty: float | None = Field(
        None,
        ge=0,
        le=2,
        description="Subtracted from a token's logit for each time that the answer has it, in local models; "
        "by default as the model's `citewell.json` says, or 1.",
    )
    demonstration: bool | None = Field(
        None,
        description="Whether the prompt shows one worked example, where there is room; by default as the "
        "model's `citewell.json` says, or yes.",
    )
    prompt_tokens: int = Field(1000, ge=200, description="Most tokens of a prompt.")
    answer_tokens: int = Field(150, ge=16, description="Most tokens of an answer.")
    sentences: int = Field(5, ge=1, le=20, description="Most sentences of an extractive answer.")
    seed: int = Field(0, ge=0, description="Seed of the sampled candidates.")
    base_url: str = Field(
        "https://api.openai.com/v1", description="Address of the API that `openai:MODEL` is asked at."
    )
    key: SecretStr = Field(
        SecretStr(""), description="API key of that address; by default the variable `OPENAI_API_KEY`."
    )
    grammar: Literal["", "structured_outputs", "guided_grammar", "grammar"] = Field(
        "",
        description="How that API takes the grammar of a policy's commands: `structured_outputs` is vLLM's, "
        "`guided_grammar` was, and `grammar` is llama.cpp's; by default it gets none.",
    )
    together: bool = Field(
        False, description="Whether that API is asked for several candidates at once, with the parameter `n`."
    )
    concurrency: int = Field(8, ge=1, description="Most requests to that API at the same time.")
    first_token_seconds: float = Field(
        60.0, gt=0, description="Time limit of that API's first token, in seconds."
    )
    seconds: float = Field(
        300.0, gt=0, description="Time limit of an answer from it, with all that is tried again, in seconds."
    )


class ScorerSettings(Section):
    """How the best of several candidates is chosen."""

    name: str = Field(
        "citation-support", description="`citation-support`, a shipped scorer, or a folder of a trained one."
    )
    margin: float = Field(
        0.5,
        ge=0,
        allow_inf_nan=False,
        description="What unsupported sentences cost a candidate at least, in standard deviations of a "
        "trained scorer's scores; up to twice that, by their share.",
    )
    min_gain: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="Least expected gain, in the same unit, for which more candidates are written; 0 always "
        "writes as many as `generator.best_of` says.",
    )


class CitationSettings(Section):
    """How citations are checked."""

    threshold: float = Field(
        0.5, gt=0, le=1, description="ROUGE-1 precision at which a reference supports a sentence."
    )
    drop_unsupported: bool = Field(False, description="Leave unsupported sentences out.")


class BrowserSettings(Section):
    """How questions are answered by browsing."""

    policy: str = Field(
        "scripted",
        description="Who browses: `scripted`, `random`, a trained policy or its folder, or a generator.",
    )
    actions: int = Field(100, ge=1, le=1000, description="Most actions of an episode.")
    best_of: int = Field(1, ge=1, le=64, description="Episodes of a question, of which the best answer wins.")
    constrained: bool = Field(
        True, description="Whether language models can write only commands that can be carried out."
    )
    quote_chars: int = Field(6000, ge=100, description="Most characters of all quotes of an episode.")
    state_tokens: int = Field(
        1500, ge=256, description="Most tokens of a state; a trained policy keeps to those of its training."
    )
    window_lines: int = Field(
        20, ge=2, description="Most lines of a page in view; for a trained policy, those of its training."
    )


class Settings(BaseSettings):
    """All settings of Citewell, each with a default that works on a fresh machine."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    search: SearchSettings = SearchSettings()
    fetch: FetchSettings = FetchSettings()
    extract: ExtractSettings = ExtractSettings()
    crawl: CrawlSettings = CrawlSettings()
    collection: CollectionSettings = CollectionSettings()
    retriever: RetrieverSettings = RetrieverSettings()
    generator: GeneratorSettings = GeneratorSettings()
    scorer: ScorerSettings = ScorerSettings()
    citations: CitationSettings = CitationSettings()
    browser: BrowserSettings = BrowserSettings()
    server: ServerSettings = ServerSettings()
    data: Path | None = Field(None, description="Folder of evaluation and training data.")
    data_dir: Path = Field(default_factory=data_dir, description="Folder of collections.")
    cache_dir: Path = Field(
        default_factory=cache_dir, description="Folder of converted weights and of cached web pages."
    )
    threads: int = Field(
        default_factory=lambda: os.cpu_count() or 1, ge=1, description="CPU threads of the models."
    )
    question_characters: int = Field(4000, ge=1, description="Longest question, in characters.")

    @field_validator("data", mode="before")
    @classmethod
    def _unset(cls, value: Any) -> Any:
        # An empty CITEWELL_DATA would otherwise name the working directory.
        return value or None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags win over the environment, which wins over the file."""
        file = os.environ.get(CONFIG_VARIABLE, "citewell.toml")
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, file)


def load_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings. `flags` maps dotted names such as `retriever.k` to values; None is skipped.

    Raises `SettingsError` for an unknown key, a wrong value, or a file that is no TOML.
    """
    file = os.environ.get(CONFIG_VARIABLE)
    if file is not None and not Path(file).is_file():
        raise SettingsError(f"There is no settings file {file}.", f"Mend or unset {CONFIG_VARIABLE}.")
    for name in os.environ:
        if name.startswith(PREFIX):
            _check_variable(name)
    try:
        return Settings(**_nested(flags or {}))
    except ValidationError as error:
        raise SettingsError(*_explain(error)) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file or 'citewell.toml'} is not valid TOML: {error}.") from error
    except ValueError as error:
        raise SettingsError(f"A setting cannot be read: {error}.") from error


def setting_names(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, str]:
    """Every setting's dotted name and its description, in order of definition."""
    names: dict[str, str] = {}
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            names |= setting_names(field.annotation, f"{prefix}{name}.")
        else:
            names[prefix + name] = field.description or ""
    return names


def _check_variable(name: str) -> None:
    known = {PREFIX + key.replace(".", "__").upper() for key in setting_names()}
    known |= {PREFIX + key.split(".")[0].upper() for key in setting_names()} | {CONFIG_VARIABLE}
    if name.upper() not in known:
        raise SettingsError(f"The environment variable {name} is no setting.", _nearest(name, known))


def _nested(flags: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in flags.items():
        if value is None:
            continue
        *sections, last = name.split(".")
        level = values
        for section in sections:
            level = level.setdefault(section, {})
            if not isinstance(level, dict):
                raise SettingsError(f"{name} cannot be set, since {section} itself is set to a value.")
        level[last] = value
    return values


def _explain(error: ValidationError) -> tuple[str, str]:
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"]]
    prefixes = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    # Of a value with several parts, pydantic names the part and how it was read.
    name = next((prefix for prefix in prefixes if prefix in setting_names()), prefixes[0])
    if first["type"] == "extra_forbidden":
        return f"There is no setting {name!r}.", _nearest(name, set(setting_names()))
    problem = first["msg"][0].lower() + first["msg"][1:]
    shown = setting_names().get(name)
    return f"The setting {name} is wrong: {problem}.", f"It means: {shown}" if shown else ""


def _nearest(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.0)
    return f"Did you mean {close[0]}? All settings: docs/settings.md."
