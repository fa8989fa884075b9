"""Malformed addresses have parts too, and nothing else splits what strangers wrote."""

from __future__ import annotations

import ast
from pathlib import Path

import citewell
from citewell.core.addresses import address_parts

_PARSERS = {"urlsplit", "urlparse", "URL"}
# The parsers themselves, and modules that parse addresses of settings, of this computer, or guard each call.
_EXCEPTIONS = {
    "citewell/core/addresses.py",
    "citewell/core/models/hub.py",
    "citewell/core/packages.py",
    "citewell/core/redact.py",
    "generator/chat_client.py",
    "retriever/fetch/cache/policy.py",
    "retriever/fetch/proxy.py",
    "retriever/fetch/urls.py",
    "retriever/search/bing.py",
    "retriever/search/urls.py",
    "server/access/redis_limiter.py",
}


def test_a_malformed_address_is_a_path() -> None:
    assert address_parts("https://example.org/a?b").netloc == "example.org"
    assert address_parts("http://[::g]/a").path == "http://[::g]/a"
    assert address_parts("http://\u2100@[").hostname is None


def test_addresses_are_parsed_in_one_place() -> None:
    root = Path(citewell.__file__).parents[1]
    found = set()
    for folder in ("citewell", "retriever", "generator", "scorer", "bootstrap", "server"):
        for path in (root / folder).rglob("*.py"):
            tree = ast.parse(path.read_text())
            calls = {
                node.func.id
                for node in ast.walk(tree)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            if calls & _PARSERS:
                found.add(path.relative_to(root).as_posix())
    assert found == _EXCEPTIONS
