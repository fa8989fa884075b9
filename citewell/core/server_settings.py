"""The settings of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from citewell.core.section import Section


class ServerSettings(Section):
    """The service that `citewell serve` starts."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8090, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    workers: int = Field(1, ge=1, le=64, description="Number of processes; each loads the models.")
    database_url: SecretStr = Field(
        SecretStr(""),
        description="Database of answers and feedback, as `postgresql+psycopg://user:password@host/name`; by "
        "default SQLite, `citewell.sqlite3` in `data_dir`.",
    )
    training: bool = Field(
        False, description="Say on the Ask page that questions and feedback may train models."
    )
    redis_url: SecretStr = Field(
        SecretStr(""),
        description="Redis or Valkey that counts requests for all replicas, as "
        "`redis://:password@host:6379/0`; by default each process counts for itself.",
    )
    concurrency: int = Field(2, ge=1, description="Max questions answered concurrently per process.")
    queue: int = Field(32, ge=0, description="Max questions waiting; further ones are refused.")
    queue_seconds: float = Field(30.0, gt=0, description="Time limit for waiting in the queue, in seconds.")
    answer_seconds: float = Field(
        300.0, gt=0, description="Time limit per answer, without waiting, in seconds."
    )
    cache_seconds: float = Field(
        300.0, ge=0, description="Seconds for which a repeated question gets the same answer."
    )
    drain_seconds: float = Field(
        30.0, ge=0, description="Seconds that running questions get to finish on shutdown."
    )
    sources: Path | None = Field(None, description="Folder whose files can be indexed through the API.")
    hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Allowed values of the `Host` header; on loopback, by default its own names."
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Origins allowed to call the API from a browser."
    )
    max_body: int = Field(1_000_000, ge=10_000, description="Max size of a request body, in bytes.")
    max_document: int = Field(
        50_000_000, ge=10_000, le=500_000_000, description="Max size of an added document, in bytes."
    )
    max_upload: int = Field(
        200_000_000, ge=10_000, description="Max size of all documents of a request, in bytes."
    )
    rate_per_minute: int = Field(
        60, ge=0, description="Default rate limit per key, in requests per minute; 0 means no limit."
    )
    daily: int = Field(
        0, ge=0, description="Default rate limit per key, in requests per day; 0 means no limit."
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Proxies whose `X-Forwarded-For` header is trusted."
    )
    generators: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Generators that a question may choose besides `generator.name` and `extractive`; each "
        "is loaded at its first use, and stays in memory.",
    )
    otlp_endpoint: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="OpenTelemetry collector (OTLP over HTTP), such as `http://127.0.0.1:4318`.",
    )

    @field_validator("hosts", "cors_origins", "trusted_proxies", "generators", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value
