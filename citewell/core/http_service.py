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
    """Return the explanation in an error body, wherever services put it; empty if there is none.

    Problem details (RFC 9457) say in `errors` which values are wrong: it includes the first.
    """
    errors = body.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    detail = body.get("detail")
    if isinstance(detail, str) and isinstance(first, dict) and (wrong := _said(first)):
        where = first.get("where") or first.get("pointer")
        return f"{detail} {where}: {wrong}"[:SHOWN] if where else f"{detail} {wrong}"[:SHOWN]
    parts = (body.get("error"), detail, first, body)
    return next(filter(None, map(_said, parts)), "")[:SHOWN]


def _said(part: object) -> str:
    """Return the text of a part of an error body; empty if it has none."""
    if isinstance(part, dict):
        texts = (part.get(key) for key in ("message", "detail", "error"))
        return next((text for text in texts if isinstance(text, str)), "")
    return part if isinstance(part, str) else ""


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
