"""Ctrl-C at any moment: exit code 130, no traceback, and the same command works afterwards."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from aiohttp import web

from tests.core.tiny_gguf import write_gguf

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.conftest import Serve

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="/proc tells which libraries a process has loaded"
)
ASK = ("ask", "What causes the tides?", "--collection", "notes")
INTERRUPTED = "citewell: interrupted; everything stored so far is kept."
Moment = Callable[[subprocess.Popen[str]], bool]


def loaded(library: str) -> Moment:
    def has(process: subprocess.Popen[str]) -> bool:
        return library in Path(f"/proc/{process.pid}/maps").read_text()

    return has


def interrupt(process: subprocess.Popen[str], moment: Moment) -> tuple[int, str]:
    """Send Ctrl-C to the whole process group, as a terminal does, as soon as the moment has come."""
    end = time.monotonic() + 120
    while process.poll() is None and not moment(process):
        assert time.monotonic() < end, "the moment did not come"
        time.sleep(0.002)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    return process.returncode, err


def assert_quiet(code: int, err: str) -> None:
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    # At its very end Python hands the signal back to the system, of which shells make 130, too.
    assert (code, err.strip()) in [(130, INTERRUPTED), (0, ""), (-signal.SIGINT, "")]


@pytest.mark.parametrize("library", ["_pydantic_core", "_multiarray_umath", "tokenizers", "openvino"])
def test_ask_while_its_parts_are_loaded(cli: Cli, library: str) -> None:
    code, err = interrupt(cli.start(*ASK), loaded(library))
    assert_quiet(code, err)
    assert code == 130


@pytest.mark.parametrize("seconds", [0, 2])
def test_ask_while_a_language_model_is_loaded_and_writes(
    cli: Cli, smollm2_folder: Path, seconds: int
) -> None:
    model = loaded(smollm2_folder.name)

    def moment(process: subprocess.Popen[str]) -> bool:
        there = model(process)
        if there:
            time.sleep(seconds)
        return there

    code, err = interrupt(cli.start(*ASK, "--generator", "SmolLM2-135M-Instruct"), moment)
    assert_quiet(code, err)
    assert code == 130


def test_ask_while_a_language_model_is_converted(cli: Cli, tmp_path: Path) -> None:
    file = str(write_gguf(tmp_path / "tiny.gguf"))
    ask = (*ASK, "--generator", file, "--set", "generator.answer_tokens=16")
    code, err = interrupt(cli.start(*ask), has_children(1))
    assert "Traceback" not in err
    assert (code, err.splitlines()[-1]) == (130, INTERRUPTED)
    result = cli.run(*ask)
    assert result.code == 0, result.err


def test_ask_while_the_answer_is_printed(cli: Cli) -> None:
    process = cli.start(*ASK)
    assert process.stdout is not None
    assert process.stdout.read(10) == "The tides "
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert_quiet(process.returncode, err)


def test_when_all_is_done_and_python_waits_for_its_threads(cli: Cli) -> None:
    program = """
import os, signal, sys, threading
from citewell.cli.main import main

def interrupt():
    threading.main_thread().join()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
main(["--version"])
"""
    done = subprocess.run([sys.executable, "-c", program], env=cli.env, capture_output=True, text=True)
    assert done.stdout.startswith("citewell ")
    assert_quiet(done.returncode, done.stderr)


@pytest.mark.parametrize("stage", ["search", "fetch"])
async def test_ask_while_it_waits_for_the_network(cli: Cli, serve: Serve, stage: str) -> None:
    waiting, over = asyncio.Event(), asyncio.Event()

    async def hang(request: web.Request) -> web.Response:
        waiting.set()
        await asyncio.wait_for(over.wait(), 60)
        return web.json_response({"results": []})

    async def search(request: web.Request) -> web.Response:
        return web.json_response({"results": [{"url": f"http://{request.host}/page", "title": "Tides"}]})

    base = await serve({"/search": hang if stage == "search" else search, "/page": hang})
    settings = (f"search.searxng_url={base}", "fetch.deadline=60", "search.seconds=60")
    process = cli.start(
        *("ask", "What causes the tides?", "--search", "searxng", "--allow-network", "127.0.0.0/8"),
        *(part for setting in settings for part in ("--set", setting)),
    )
    await asyncio.wait_for(waiting.wait(), 60)
    started = time.monotonic()
    code, err = await asyncio.to_thread(interrupt, process, lambda process: True)
    over.set()
    assert_quiet(code, err)
    assert code == 130
    assert time.monotonic() - started < 10


def has_children(number: int) -> Moment:
    def has(process: subprocess.Popen[str]) -> bool:
        return len(psutil.Process(process.pid).children()) >= number

    return has


def stored(kilobytes: int) -> Moment:
    def has(process: subprocess.Popen[str]) -> bool:
        folder = Path(f"/proc/{process.pid}/cwd") / "data" / "collections" / "mine"
        files = [folder / "pages.db", folder / "pages.db-wal"]
        return sum(file.stat().st_size for file in files if file.exists()) > 1000 * kilobytes

    return has


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(loaded("_pydantic_core"), id="its parts are loaded"),
        pytest.param(has_children(1), id="the first worker starts"),
        pytest.param(has_children(2), id="the last worker starts"),
        pytest.param(stored(200), id="pages are stored"),
    ],
)
def test_index_and_its_second_run(fresh: Cli, tmp_path: Path, moment: Moment) -> None:
    lines = [f'{{"url": "https://a.example/{n}", "text": "Page {n} is about tides."}}' for n in range(3000)]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    run = ("index", "pages.jsonl", "--collection", "mine", "--set", "extract.workers=2")
    code, err = interrupt(fresh.start(*run), moment)
    assert_quiet(code, err)
    assert code == 130
    code, out, err = fresh.run(*run)
    assert (code, err) == (0, "")
    assert "The collection mine holds 3,000 pages." in out
    again = fresh.run(*run, "--json").objects()[0]
    assert (again["added"], again["unchanged"]) == (0, 3000)


def test_terminal_gets_its_cursor_back(cli: Cli) -> None:
    leader, follower = os.openpty()
    process = subprocess.Popen(
        [cli.command, *ASK],
        env=cli.env,
        cwd=cli.folder,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    output = b""
    interrupted = False
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        output += chunk
        if b"loading the models" in output and not interrupted:
            os.killpg(process.pid, signal.SIGINT)
            interrupted = True
        if not chunk:
            break
    os.close(leader)
    assert process.wait(30) == 130
    assert INTERRUPTED.encode() in output
    assert b"Traceback" not in output
    assert output.rfind(b"\x1b[?25h") > output.rfind(b"\x1b[?25l") >= 0
