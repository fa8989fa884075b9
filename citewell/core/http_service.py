"""Shared by the clients of JSON services over HTTP: error explanations and hiding of secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, quote_plus

JsonObject = dict[str, Any]

SHOWN = 200
"""Maximum characters of a service's explanation in our messages."""

_CREDENTIALS = re.compile(r"//[^/?#@]*@")


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` with `***` for the secrets, plain or URL-encoded, and for credentials in URLs."""
    for secret in filter(None, secrets):
        for form in (secret, quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(form, "***")
    return _CREDENTIALS.sub("//***@", text)


def explanation(body: JsonObject) -> str:
    """Return the explanation in an error body, wherever services put it; empty if there is none."""
    errors = body.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    for part in (body.get("error"), body.get("detail"), first, body):
        if isinstance(part, str):
            return part[:SHOWN]
        if isinstance(part, dict):
            for key in ("message", "detail", "error"):
                if isinstance(part.get(key), str):
                    return str(part[key])[:SHOWN]
    return ""


def json_object(body: bytes | str) -> JsonObject | None:
    """`body` parsed as a JSON object; None if it is anything else.

    Half surrogate pairs, which JSON can escape and UTF-8 cannot say, become question marks.
    """
    try:
        value = json.loads(body)
        text = body if isinstance(body, str) else body.decode(errors="replace")
        if "\\ud" in text.lower():
            value = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
