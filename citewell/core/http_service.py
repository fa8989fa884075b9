"""What all clients of JSON services over HTTP share: reading their explanations, keeping their secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, quote_plus

JsonObject = dict[str, Any]

SHOWN = 200
"""Most characters of a service's own words in a message."""

_CREDENTIALS = re.compile(r"//[^/?#@]*@")


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` without the secrets, in any form in which an address may hold them, and without credentials."""
    for secret in filter(None, secrets):
        for form in (secret, quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(form, "***")
    return _CREDENTIALS.sub("//***@", text)


def explanation(body: JsonObject) -> str:
    """The explanation in an error body, wherever services put it; empty where there is none."""
    errors = body.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    for place in (body.get("error"), body.get("detail"), first, body):
        if isinstance(place, str):
            return place[:SHOWN]
        if isinstance(place, dict):
            for key in ("message", "detail", "error"):
                if isinstance(place.get(key), str):
                    return str(place[key])[:SHOWN]
    return ""


def json_object(body: bytes | str) -> JsonObject | None:
    """The JSON object that `body` is; None when it is something else, or no JSON."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
