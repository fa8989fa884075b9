"""The settings of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from citewell.core.section import Section


class ServerSettings(Section):
    """The service that `citewell serve` starts."""

    host: str = Field("127.0.0.1", description="Address that the service listens on.")
    port: int = Field(8090, ge=0, le=65535, description="Port of the service; 0 is any free one.")
    workers: int = Field(1, ge=1, le=64, description="Processes; each loads the models for itself.")
    database_url: SecretStr = Field(
        SecretStr(""),
        description="Database of answers and feedback, as `postgresql+psycopg://user:password@host/name`; by "
        "default SQLite, `citewell.sqlite3` in `data_dir`.",
    )
    redis_url: SecretStr = Field(
        SecretStr(""),
        description="Redis or Valkey that counts requests for all replicas, as "
        "`redis://:password@host:6379/0`; by default each process counts for itself.",
    )
    concurrency: int = Field(2, ge=1, description="Questions of a process that are answered at a time.")
    queue: int = Field(32, ge=0, description="Questions that may wait; those beyond are refused at once.")
    queue_seconds: float = Field(30.0, gt=0, description="Time limit of waiting, in seconds.")
    answer_seconds: float = Field(
        300.0, gt=0, description="Time limit of answering a question, without its waiting, in seconds."
    )
    resume_seconds: float = Field(
        5.0,
        ge=0,
        description="Seconds that a question goes on after the last client that streams it has left, so that "
        "the client can come back.",
    )
    cache_seconds: float = Field(
        300.0, ge=0, description="Seconds for which a finished answer is given again to the same question."
    )
    drain_seconds: float = Field(
        30.0, ge=0, description="Seconds that running questions get when the service is stopped."
    )
    sources: Path | None = Field(
        None, description="Folder whose files may be indexed through the API; by default none."
    )
    hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Names in the header `Host` that are answered; on loopback, by default its own."
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Origins whose pages may call the API from a browser."
    )
    max_body: int = Field(1_000_000, ge=10_000, description="Largest body of a request, bytes.")
    rate_per_minute: int = Field(
        60, ge=0, description="Requests a minute of a key that says nothing else; 0 is no limit."
    )
    daily: int = Field(0, ge=0, description="Requests a day of a key that says nothing else; 0 is no limit.")
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Addresses of proxies whose header `X-Forwarded-For` is believed."
    )
    otlp_endpoint: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="Collector that takes traces with OpenTelemetry's protocol over HTTP, such as "
        "`http://127.0.0.1:4318`; by default there are no traces.",
    )

    @field_validator("hosts", "cors_origins", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value
