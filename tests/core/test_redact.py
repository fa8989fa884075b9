from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.redact import published_address, published_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/home/me/models/tutor.gguf", "tutor.gguf"),
        ("../models/tutor", "tutor"),
        ("~/tutor", "tutor"),
        ("openai:/srv/models/tutor", "openai:tutor"),
        ("self:openai:/srv/models/tutor", "self:openai:tutor"),
        ("openai:Qwen/Qwen3-8B", "openai:Qwen/Qwen3-8B"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("recorded", "recorded"),
        ("-", "-"),
    ],
)
def test_paths_become_names_and_names_stay(name: str, shown: str) -> None:
    assert published_name(name) == shown


def test_a_file_that_is_there_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tutor").mkdir()
    monkeypatch.chdir(tmp_path)
    assert published_name("models/tutor") == "tutor"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1/"),
        ("http://me:secret@example.org:8000/v1?key=secret", "http://example.org:8000/v1"),
        ("http://secret:port/", ""),
    ],
)
def test_addresses_lose_what_may_be_secret(address: str, shown: str) -> None:
    assert published_address(address) == shown
