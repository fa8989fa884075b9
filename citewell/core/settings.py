"""The settings: one typed object, filled from `citewell.toml`, environment variables and options.

`[retriever] k = 3` in the file, `CITEWELL_RETRIEVER__K=3` in the environment and the option `--k 3` set the
same value; options override the environment, which overrides the file. An unknown key is an error that
suggests the nearest one.
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

from pydantic import BaseModel, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from citewell.core.addresses import ascii_host
from citewell.core.errors import SettingsError
from citewell.core.identity import USER_AGENT
from citewell.core.paths import cache_dir, data_dir
from citewell.core.profiles import ProfileName, profile_settings
from citewell.core.section import Section
from citewell.core.server_settings import ServerSettings

PREFIX = "CITEWELL_"
CONFIG_VARIABLE = "CITEWELL_CONFIG"

Port = Annotated[int, Field(ge=1, le=65535)]


class SearchSettings(Section):
    """Where to search for pages."""

    providers: Annotated[tuple[str, ...], NoDecode] = Field(
        ("auto",), description="Search providers, queried in parallel, or `auto` (search.md)."
    )
    collection: str = Field("handbook", description="Collection to search.")
    hits: int = Field(10, ge=1, le=50, description="Max pages per search.")
    per_domain: int = Field(3, ge=1, description="Max pages per domain, if there are enough others.")
    language: str = Field(
        "",
        pattern=r"^([A-Za-z]{2,3}(-[A-Za-z]{4})?(-[A-Za-z]{2})?)?$",
        description="Language of the pages, such as `de`.",
    )
    country: str = Field("", pattern=r"^([A-Za-z]{2})?$", description="Country to search from, such as `DE`.")
    recency: Literal["", "day", "week", "month", "year"] = Field("", description="Max age of a page.")
    sites: Annotated[tuple[str, ...], NoDecode] = Field((), description="Return only pages of these domains.")
    deny_domains: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Skip pages of these domains; `webgpt` stands for reddit.com and quora.com."
    )
    seconds: float = Field(
        10.0,
        gt=0,
        description="Time limit per provider, in seconds (search.md).",
    )
    searxng_url: str = Field("", description="Base URL of a SearXNG instance.")
    wikipedia_url: str = Field(
        "https://en.wikipedia.org/w/api.php", description="URL of a MediaWiki `api.php`."
    )
    brave_key: SecretStr = Field(SecretStr(""), description="API key of Brave Search.")
    tavily_key: SecretStr = Field(SecretStr(""), description="API key of Tavily.")
    serpapi_key: SecretStr = Field(SecretStr(""), description="API key of SerpApi.")
    google_key: SecretStr = Field(SecretStr(""), description="API key of the Google Custom Search JSON API.")
    google_engine: str = Field("", description="ID of a Programmable Search Engine (`cx`).")
    bing_key: SecretStr = Field(SecretStr(""), description="API key of the Bing-compatible endpoint.")
    bing_endpoint: str = Field("", description="URL of a Bing-compatible search API, version 7.")

    @field_validator("providers", "sites", "deny_domains", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value

    @field_validator("sites", "deny_domains")
    @classmethod
    def _domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_domain(name) for name in value))


def _domain(name: str) -> str:
    """Return the domain in lower case, given as `example.org`, `*.example.org` or a URL."""
    host = name.lower().partition("://")[2] or name.lower()
    host = host.partition("/")[0].partition(":")[0].removeprefix("*.").strip(".")
    try:
        host = ascii_host(host)
    except ValueError:
        host = ""
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", host):
        raise ValueError(f"{name!r} is not a domain such as example.org")
    return host


class FetchSettings(Section):
    """How pages are fetched from the web."""

    deadline: float = Field(
        5.0,
        gt=0,
        description="Time limit of the fetch stage, in seconds (fetching.md).",
    )
    max_bytes: int = Field(5_000_000, gt=0, description="Max size of a page after decompression, in bytes.")
    allow_networks: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = Field(
        (), description="Private networks to allow, such as `10.0.0.0/8`."
    )
    refuse_networks: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = Field(
        (), description="Public networks to refuse, such as your own."
    )
    allow_ports: Annotated[tuple[Port, ...], NoDecode] = Field(
        (80, 443, 8080, 8443), description="Ports allowed on public addresses."
    )
    proxy: SecretStr = Field(
        SecretStr(""), description="HTTP proxy, such as `http://user:password@proxy.example.org:3128`."
    )
    user_agent: str = Field(
        USER_AGENT,
        pattern=r"^[!-~]+( [!-~]+)*$",
        description="Name of the crawler in the `User-Agent` header and for robots.txt.",
    )
    robots: bool = Field(True, description="Obey robots.txt.")
    host_connections: int = Field(6, ge=1, description="Max concurrent requests per host.")
    host_delay: float = Field(0.0, ge=0, description="Delay between requests to the same host, in seconds.")
    cache: bool = Field(True, description="Cache pages as HTTP allows.")
    cache_bytes: int = Field(
        500_000_000, ge=1_000_000, description="Max size of the cache on disk, in bytes."
    )
    cache_seconds: float = Field(
        300.0, ge=0, description="Seconds to cache a page that has no caching headers."
    )
    render: Literal["never", "auto", "always"] = Field(
        "never", description="Which pages to render in Chromium, so that their scripts run."
    )
    render_seconds: float = Field(10.0, gt=0, description="Time limit per rendered page, in seconds.")
    chromium: str = Field("", description="Path of Chromium or Chrome; by default the one on PATH.")

    @field_validator("allow_networks", "refuse_networks", "allow_ports", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value


class ExtractSettings(Section):
    """How text is extracted from pages, in separate processes."""

    extractor: Literal["main", "paper"] = Field(
        "main", description="HTML extractor: `main`, Citewell's own, or `paper`, WebGLM's html2text."
    )
    workers: int = Field(
        default_factory=lambda: min(os.cpu_count() or 1, 8),
        ge=1,
        description="Number of extraction processes.",
    )
    seconds: float = Field(20.0, gt=0, description="Time limit per page, in seconds.")
    memory_bytes: int = Field(
        750_000_000, ge=100_000_000, description="Memory limit per process, in bytes (Linux)."
    )
    pdf_pages: int = Field(500, ge=1, description="Max PDF pages to read.")


class CrawlSettings(Section):
    """How `citewell index URL` crawls a website."""

    pages: int = Field(200, ge=1, description="Max pages per crawl.")
    depth: int = Field(3, ge=0, description="Max links from the start page.")
    delay: float = Field(0.5, ge=0, description="Delay between requests, in seconds.")


class CollectionSettings(Section):
    """Where collections are stored."""

    store: SecretStr = Field(
        SecretStr(""),
        description="PostgreSQL database that holds the collections, as "
        "`postgresql://user:password@host/name`; by default the data folder.",
    )
    dense_up_to: int = Field(
        5000,
        ge=0,
        description="Passages up to which a collection in the data folder is made dense without being told.",
    )


class RetrieverSettings(Section):
    """How references are chosen."""

    encoder: str = Field(
        "e5-small", description="Dual encoder: a packaged or shipped model, a folder or a hub id."
    )
    engine: Literal["auto", "openvino", "torch"] = Field(
        "auto", description="Inference engine of the encoder; `auto` is PyTorch on a GPU, else OpenVINO."
    )
    k: int = Field(5, ge=1, le=20, description="References per answer.")
    max_tokens: int = Field(128, ge=16, le=512, description="Max tokens per passage.")
    prefilter: int = Field(100, ge=1, description="Passages that BM25 passes on to the dual encoder.")
    reranker: str = Field(
        "none",
        description="Cross-encoder that reads the best candidates: `none`, a folder or a hub id.",
    )
    rerank: int = Field(20, ge=1, le=200, description="Candidates that the cross-encoder reads.")
    rerank_weight: float = Field(
        0.05, gt=0, description="Weight of the cross-encoder's logit beside the inner product."
    )
    reader: str = Field(
        "citewell-answers",
        description="Cross-encoder that reads the sentences of references, to find those that answer: the "
        "shipped one, a folder, or `none`.",
    )
    min_relevance: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Min evidence for answering a question; by default by the number of pages that are "
        "searched (no-evidence.md).",
    )


class GeneratorSettings(Section):
    """How answers are written."""

    name: str = Field(
        "auto",
        description="`auto` (generation.md), `extractive` (quotations), a name of `citewell models`, a GGUF "
        "file, a folder, a hub id, or `openai:MODEL`.",
    )
    best_of: int = Field(1, ge=1, le=64, description="Candidate answers per question.")
    temperature: float = Field(0.8, gt=0, le=2, description="Sampling temperature for several candidates.")
    frequency_penalty: float | None = Field(
        None,
        ge=0,
        le=2,
        description="Penalty on a token's logit per earlier occurrence in the answer, for local models; by "
        "default from the model's `citewell.json`, or 1.",
    )
    refusal: float = Field(
        0.25,
        gt=0,
        le=1,
        description="A local language model refuses to answer where it would write a refusal with at least "
        "this probability; with less where no quotation seems to answer, with more where one does; 1 never "
        "refuses.",
    )
    judge_adapter: str = Field(
        "",
        description="Adapter that a GGUF model judges with: a folder that `citewell train judge` wrote.",
    )
    demonstration: bool | None = Field(
        None,
        description="Include worked examples in the prompt if they fit; by default from the model's "
        "`citewell.json`, or true.",
    )
    prompt_tokens: int = Field(1600, ge=300, description="Max tokens per prompt.")
    reference_words: int = Field(
        160, ge=50, description="Approximate max words of the references that a local model reads."
    )
    answer_tokens: int = Field(150, ge=16, description="Max tokens per answer.")
    sentences: int = Field(5, ge=1, le=20, description="Max sentences of an extractive answer.")
    quotations: int = Field(
        3, ge=1, le=20, description="Max sentences to quote while a language model writes."
    )
    seed: int = Field(0, ge=0, description="Sampling seed.")
    base_url: str = Field("https://api.openai.com/v1", description="Base URL of the API for `openai:MODEL`.")
    key: SecretStr = Field(
        SecretStr(""), description="API key; by default the environment variable `OPENAI_API_KEY`."
    )
    grammar: Literal["", "structured_outputs", "guided_grammar", "grammar"] = Field(
        "",
        description="Parameter that passes a grammar to that API: `structured_outputs` (vLLM), "
        "`guided_grammar` (older vLLM) or `grammar` (llama.cpp).",
    )
    together: bool = Field(False, description="Request all candidates in one call, with the parameter `n`.")
    concurrency: int = Field(
        8,
        ge=1,
        description="Max concurrent requests to the API, or texts written together by a local model.",
    )
    seconds: float = Field(
        300.0,
        gt=0,
        description="Time limit per answer, with retries, in seconds; a fifth of it for the first token.",
    )


class ScorerSettings(Section):
    """How the best candidate is chosen."""

    name: str = Field(
        "citation-support",
        description="`citation-support`, a shipped scorer, or the folder of a trained one.",
    )
    min_gain: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="Min expected gain for writing more candidates, in standard deviations of a trained "
        "scorer's scores; 0 always writes `generator.best_of`.",
    )


class CitationSettings(Section):
    """How citations are checked."""

    threshold: float = Field(
        0.5, gt=0, le=1, description="Min ROUGE-1 precision at which a reference supports a sentence."
    )
    judge: Literal["auto", "words", "writer"] = Field(
        "auto",
        description="What decides on support: shared `words`, or the language model that writes (`writer`), "
        "asked about each sentence; `auto` is the latter where that model is known to judge well.",
    )
    drop_unsupported: bool = Field(False, description="Drop unsupported sentences from the answer.")


class BrowserSettings(Section):
    """How questions are answered by browsing."""

    always: bool = Field(False, description="Let `citewell ask` browse as `citewell browse` does.")
    policy: str = Field(
        "scripted",
        description="Browsing policy: `scripted`, `random`, a trained policy or its folder, or a generator.",
    )
    actions: int = Field(
        100, ge=1, le=1000, description="Max actions per episode; unset, a trained policy has its own."
    )
    best_of: int = Field(1, ge=1, le=64, description="Episodes per question; the best answer wins.")
    constrained: bool = Field(True, description="Constrain language models to valid commands.")
    answerer: Literal["generator", "policy"] = Field(
        "generator",
        description="Who answers from the quotes: the `generator`, or the `policy` itself if it learned to. "
        "A generator that a request to the service names answers in any case.",
    )


class Settings(BaseSettings):
    """All settings of Citewell. The defaults work on a fresh machine."""

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
    profile: ProfileName | Literal[""] = Field(
        "",
        description="Settings that belong together and apply where nothing else is set: `webglm`, `webgpt`, "
        "`fast` or `quality`.",
    )
    data: Path | None = Field(None, description="Folder of evaluation and training data.")
    data_dir: Path = Field(default_factory=data_dir, description="Folder of collections.")
    cache_dir: Path = Field(
        default_factory=cache_dir, description="Folder of converted weights and cached web pages."
    )
    threads: int = Field(
        default_factory=lambda: os.cpu_count() or 1, ge=1, description="CPU threads for models."
    )
    question_characters: int = Field(4000, ge=1, le=20_000, description="Max characters of a question.")

    @field_validator("data", "data_dir", "cache_dir", mode="before")
    @classmethod
    def _folder(cls, value: Any, info: ValidationInfo) -> Any:
        # An empty CITEWELL_DATA would otherwise name the working directory.
        if value in (None, ""):
            return cls.model_fields[str(info.field_name)].get_default(call_default_factory=True)
        try:
            return Path(value).expanduser() if isinstance(value, str | Path) else value
        except RuntimeError as error:  # of a user that does not exist
            raise ValueError(str(error)) from error

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Options override environment variables, which override the file, which overrides the profile."""
        file = os.environ.get(CONFIG_VARIABLE, "citewell.toml")
        toml = TomlConfigSettingsSource(settings_cls, file)
        return init_settings, env_settings, toml, _ProfileSource(settings_cls)


class _ProfileSource(PydanticBaseSettingsSource):
    """The settings of the profile that the other sources name."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return no value: all of them are read at once."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the settings of the profile."""
        return profile_settings(str(self.current_state.get("profile", "")))


def load_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """Load the settings. `flags` maps dotted names such as `retriever.k` to values; None is skipped.

    Raises `SettingsError` for an unknown key, an invalid value or an invalid file.
    """
    file = os.environ.get(CONFIG_VARIABLE)
    if file is not None and not Path(file).is_file():
        raise SettingsError(
            f"The settings file {file!r} does not exist.", f"Fix --config, or fix or unset {CONFIG_VARIABLE}."
        )
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
        raise SettingsError(f"Invalid setting: {error}.") from error


def setting_names(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, str]:
    """Return the description of each setting by its dotted name, in order of definition."""
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
        raise SettingsError(f"Unknown setting: environment variable {name}.", _nearest(name, known))


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
                raise SettingsError(f"{name} cannot be set: {section} is set to a value.")
        level[last] = value
    return values


def _explain(error: ValidationError) -> tuple[str, str]:
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"]]
    prefixes = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    # For a value with several parts, pydantic appends the part and its type to the name.
    name = next((prefix for prefix in prefixes if prefix in setting_names()), prefixes[0])
    if first["type"] == "extra_forbidden":
        return f"Unknown setting {name!r}.", _nearest(name, set(setting_names()))
    problem = first["msg"][0].lower() + first["msg"][1:]
    shown = setting_names().get(name)
    inner = [full for full in setting_names() if full.startswith(f"{name}.")]
    if inner and first["type"] == "model_type":
        return f"{name} is a section of settings, not a setting.", f"Its settings: {', '.join(inner[:12])}."
    return f"Invalid setting {name}: {problem}.", f"{name}: {shown}" if shown else ""


def _nearest(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"{f'Did you mean {close[0]}? ' if close else ''}All settings: docs/settings.md."
