"""Asking a search provider's JSON API over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import aiohttp

from core.errors import SearchError


async def get_json(
    provider: str,
    url: str,
    params: Mapping[str, str],
    *,
    hints: Mapping[int, str],
    seconds: float,
    user_agent: str,
) -> dict[str, Any]:
    """GET `url` and return the JSON object that it answers with.

    `hints` says what to do about an HTTP status; `seconds` bounds the whole request. Raises
    `SearchError` for everything else than a 200 with a JSON object. The address is the operator's
    own choice and is often on a private network, so the address guard of fetching does not apply;
    redirects are not followed, since they would leave what the operator chose.
    """
    check = f"Check that {url} is the right address and that the service runs."
    try:
        async with (
            aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=seconds), headers={"User-Agent": user_agent}
            ) as session,
            session.get(url, params=params, allow_redirects=False) as response,
        ):
            status, body = response.status, await response.read()
            headers = response.headers
    except aiohttp.InvalidURL:
        raise SearchError(f"{provider}: {url!r} is not a valid URL.", check) from None
    except TimeoutError:
        raise SearchError(f"{provider} did not answer within {seconds:g} s.", check) from None
    except aiohttp.ClientError as error:
        raise SearchError(f"{provider} at {url} cannot be reached.", check) from error

    value = _json_object(body)
    if status != HTTPStatus.OK:
        raise _refusal(provider, status, headers, value, hints.get(status, check))
    if value is None:
        kind = headers.get("Content-Type", "nothing named")
        raise SearchError(f"{provider} answered with {kind[:80]} that is not JSON.", check)
    return value


def _refusal(
    provider: str,
    status: int,
    headers: Mapping[str, str],
    value: dict[str, Any] | None,
    hint: str,
) -> SearchError:
    phrase = next((s.phrase for s in HTTPStatus if s == status), "")
    message = f"{provider} answered {status} {phrase}".rstrip()
    if status < HTTPStatus.BAD_REQUEST and "Location" in headers:
        message += f" and points to {headers['Location'][:200]}"
    if value and isinstance(value.get("error"), str):
        message += f": {value['error'][:200]}"
    if "Retry-After" in headers:
        message += f" (retry after {headers['Retry-After'][:40]})"
    return SearchError(f"{message}.", hint)


def _json_object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
