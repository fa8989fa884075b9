"""Malformed addresses have parts too, and nothing else splits what strangers wrote."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from urllib.parse import quote

import pytest

import citewell
from citewell.core.addresses import address_parts
from citewell.retriever.collection.sources import read_source
from citewell.retriever.extract.page import name_of
from citewell.retriever.fetch.urls import web_url
from citewell.retriever.search.results import read_hits
from citewell.server.pages.links import site_of
from citewell.server.work.public_urls import PublicUrls

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


@pytest.mark.parametrize("unseen", ["\u202e", "\u2066", "\u200f", "\u061c", "\u200b", "\ufeff", "\n", "\x9b"])
def test_addresses_are_shown_as_they_are(unseen: str, tmp_path: Path) -> None:
    written = f"https://example.org/{unseen}gpj.exe"
    (hit,) = read_hits("made up", [{"url": written}], "url", "title", "snippet")
    named = name_of(f"https://example.org/{quote(unseen)}gpj.exe")
    line = json.dumps({"url": written, "text": "A kite."})
    (tmp_path / "rows.jsonl").write_text(line)
    (document,) = read_source(tmp_path / "rows.jsonl")
    file = f"file://{tmp_path}/{quote(unseen)}gpj.exe"
    shown = [hit.url, named, document.url, PublicUrls({"notes": [str(tmp_path)]}).name(file), site_of(file)]
    assert not any(unseen in text for text in shown), shown
    assert hit.url == document.url == f"https://example.org/{quote(unseen)}gpj.exe"
    assert str(web_url(hit.url)) == hit.url
