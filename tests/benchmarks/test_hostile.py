"""The attacks, smaller: the service holds all, and each command reports a service that does not."""

from __future__ import annotations

import asyncio
import importlib
import json
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from benchmarks.hostile import bodies, keys, limits, logs, remote_code, scripts
from benchmarks.hostile.documents import mutated
from benchmarks.hostile.outcome import AttackResult, tally_of
from benchmarks.hostile.payloads import PAYLOADS
from benchmarks.hostile.searching import LocalServer
from benchmarks.hostile.showing import HostilePage
from benchmarks.hostile.tally import Tally
from benchmarks.hostile.target import Target
from citewell.core.errors import FetchError
from citewell.server.access.keys import SCOPES, new_key
from tests.server.local import ReplyHandler, answering

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2, /proc and pipes are Linux' own"),
]

CHROMIUM = any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")))
COMMANDS = {
    "addresses": 2_000,
    "bodies": 100,
    "crawling": 8,
    "files": 15,
    "hidden": 16,
    "keys": 150,
    "limits": 20,
    "logs": 150,
    "pages": 30,
    "remote_code": 9,
    "scripts": 20,
}
"""The commands, and the number of attempts that each makes at least when it is small."""


@pytest.mark.parametrize("name", COMMANDS)
def test_no_attack_gets_through(name: str, tmp_path: Path) -> None:
    if name == "scripts":
        pytest.importorskip("playwright", reason="the package playwright is not installed")
        if not CHROMIUM:
            pytest.skip("neither Chromium nor Chrome is installed")
    if name == "remote_code":
        pytest.importorskip("transformers", reason="transformers is not installed")
    file = tmp_path / "result.json"
    command = importlib.import_module(f"benchmarks.hostile.{name}")
    with pytest.raises(SystemExit) as ended:
        command.main(["--small", "--output", str(file)])
    result = json.loads(file.read_text(encoding="utf-8"))
    assert result["failures"] == []
    assert (ended.value.code, result["failed"]) == (0, 0)
    assert result["attempts"] == result["held"] >= COMMANDS[name]
    assert all(kind["attempts"] for kind in result["kinds"].values())


Reply = Callable[[str, bytes], tuple[int, bytes]]


@contextmanager
def careless(reply: Reply, lines: list[str] | None = None) -> Iterator[Target]:
    """A service that answers whatever it is asked."""

    class Handler(ReplyHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_any(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = reply(self.path, sent)
            self.reply(body, "text/html", status)

        do_GET = do_POST = do_PATCH = do_DELETE = do_HEAD = do_PUT = handle_any  # noqa: N815

    with answering(Handler) as url:
        yield Target(url, Path("/nonexistent"), [] if lines is None else lines)


def failed(tally: Tally) -> set[str]:
    return {kind for kind, count in tally.kinds.items() if count.failures}


def test_a_service_that_lets_everybody_in_is_reported() -> None:
    with careless(lambda path, sent: (200, b"")) as target:
        tally = keys.attack(target, keys.HostileKeys.make(), small=True)
    assert failed(tally) == {"no key that counts", "scopes", "a key in the address"}
    assert any("revoked: let in, 200" in failure for failure in tally.failures)


def test_a_service_that_repeats_a_key_is_reported() -> None:
    with careless(lambda path, sent: (401, path.encode())) as target:
        tally = keys.attack(target, keys.HostileKeys.make(), small=True)
    assert "a key in the address" in failed(tally)


def test_a_service_that_fails_at_a_body_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_FRAMES", ())
    traceback = ["| Traceback (most recent call last):"]
    with careless(lambda path, sent: (500 if sent else 200, b""), traceback) as target:
        tally = bodies.attack(target, new_key("all", SCOPES), small=True)
    assert failed(tally) == {"content types", "broken JSON", "afterwards"}


def test_a_service_that_counts_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_CONNECTIONS", 8)
    made = limits.LimitedKeys.make(small=True)
    with careless(lambda path, sent: (200, b"")) as target:
        tally = limits.attack(target, made, LocalServer(target.url), small=True)
    assert failed(tally) == {"requests per minute", "requests per day", "a full queue"}
    assert "5 requests instead of 2" in tally.failures[0]


def test_a_forged_line_and_a_secret_are_reported(tmp_path: Path) -> None:
    lines: list[str] = []
    good = "2026-11-25 10:00:00,000 INFO citewell.service: GET "

    def reply(path: str, sent: bytes) -> tuple[int, bytes]:
        lines.extend((good + unquote(path)).split("\n"))
        return 404, f"unknown, {logs.SECRET}-brave".encode()

    with careless(reply, lines) as target:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "settings.txt").write_text(f"{logs.SECRET}-brave")
        target.folder = tmp_path
        tally = logs.attack(target, new_key("all", SCOPES), small=True)
    assert {"paths", "queries", "secrets", "secrets in files"} <= failed(tally)


def test_a_loader_that_runs_code_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")

    def load(folder: str, cache: Path) -> Any:
        weights = Path(folder) / "pytorch_model.bin"
        if weights.exists():
            return pickle.loads(weights.read_bytes())
        raise KeyError(folder)

    tally = remote_code.attack({"careless": load}, tmp_path, small=True)
    assert failed(tally) == {"careless"}
    problems = [failure.split(": ", 2)[2].split(":")[0] for failure in tally.failures]
    assert problems == ["KeyError", "its code ran", "KeyError"]


@pytest.mark.skipif(not CHROMIUM, reason="neither Chromium nor Chrome is installed")
def test_a_page_that_runs_scripts_is_reported() -> None:
    pytest.importorskip("playwright", reason="the package playwright is not installed")
    policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">"
    pages = {
        "/runs": PAYLOADS[1],
        "/blocked": policy + PAYLOADS[1],
        "/link": '<a href=" JavaScript:1">',
        "/asks": "<img src=http://127.0.0.2:9/>",
        "/safe": "<p>&lt;script&gt;",
    }
    tally = Tally()
    with careless(lambda path, sent: (200, pages.get(path, "").encode())) as target:
        asyncio.run(scripts.look(tally, target.url, [HostilePage(path, path) for path in pages]))
    assert failed(tally) == pages.keys() - {"/safe"}
    said = " ".join(tally.failures)
    assert all(words in said for words in ("a script ran", "against the policy", "links", "requests"))


async def test_an_attack_that_ends_in_neither_a_page_nor_a_reason_is_reported() -> None:
    outcome = AttackResult()

    async def end(error: Exception | None) -> None:
        if error:
            raise error

    for error in (None, FetchError("refused"), KeyError("x")):
        await outcome.run("an attack", lambda error=error: end(error), 1)  # type: ignore[misc]
    tally = tally_of({"attacks": outcome})
    assert (outcome.pages, outcome.reasons) == (1, {"refused": 1})
    assert (tally.attempts, tally.failures) == (3, ["an attack: KeyError: 'x'"])


def test_mutations_can_be_repeated() -> None:
    sources = [b"<p>Kites fly.</p>" * 50]
    assert list(mutated(sources, 5, seed=7)) == list(mutated(sources, 5, seed=7))
    assert list(mutated(sources, 5, seed=7)) != list(mutated(sources, 5, seed=8))
