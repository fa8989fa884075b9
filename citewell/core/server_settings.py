"""The settings of the service."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from citewell.core.section import Section

Scope = Literal["ask", "feedback", "export", "admin"]
"""A permission. Each stands alone: `admin` does not include the others."""


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
        (),
        description="Addresses or networks of proxies, whose `X-Forwarded-For` and `account_header` are "
        "believed.",
    )
    account_header: str = Field(
        "",
        pattern=r"^[A-Za-z0-9-]*$",
        description="Header in which a trusted proxy names the account that it has signed in, such as "
        "`X-Forwarded-Email`.",
    )
    accounts: dict[Annotated[str, Field(min_length=1)], Annotated[tuple[Scope, ...], Field(min_length=1)]] = (
        Field({}, description='Accounts that are let in, with their scopes: `"ada@example.org" = ["ask"]`.')
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

    @model_validator(mode="after")
    def _check_accounts(self) -> Self:
        """Refuse a header that anybody could send, and one without a list."""
        if bool(self.account_header) != bool(self.accounts):
            raise ValueError("account_header and accounts need each other")
        if self.account_header and not self.trusted_proxies:
            raise ValueError("account_header needs trusted_proxies, since only a proxy may name an account")
        for proxy in self.trusted_proxies if self.account_header else ():
            if not ip_network(proxy).prefixlen:
                raise ValueError(f"{proxy} in trusted_proxies lets everybody name an account")
        return self

    @field_validator("hosts", "cors_origins", "trusted_proxies", "generators", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value
