"""The names of `citewell`: docs/python.md shows every one of them and runs, and importing is quick."""

from __future__ import annotations

import asyncio
import doctest
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import citewell
from citewell.core.types import Answer

PAGE = Path(__file__).parent.parent / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder without settings, and data of its own: the handbook is indexed when it is first asked."""
    folder = tmp_path_factory.mktemp("api")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("CITEWELL_DATA_DIR", str(folder / "data"))
        yield


def failures(tests: Iterator[doctest.DocTest]) -> int:
    runner = doctest.DocTestRunner()
    for test in tests:
        runner.run(test, clear_globs=False)
    return runner.failures


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    shared: dict[str, object] = {}
    for number, block in enumerate(BLOCKS):
        if block.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, shared, f"block {number}", str(PAGE), 0)
            test.globs = shared
            assert failures(iter([test])) == 0, capsys.readouterr().out
        else:
            exec(compile(block, str(PAGE), "exec"), {"__name__": "__main__"})
    assert "[1]" in capsys.readouterr().out


@pytest.mark.parametrize("module", ["citewell", "citewell.api"])
def test_the_docstrings_run(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = doctest.DocTestFinder().find(import_module(module))
    assert failures(iter(found)) == 0, capsys.readouterr().out


def test_the_page_shows_every_name() -> None:
    code = "\n".join(BLOCKS) + PAGE.read_text(encoding="utf-8")
    assert [name for name in citewell.__all__ if not re.search(rf"\b{name}\b", code)] == []


def test_every_name_is_there_and_nothing_else() -> None:
    assert all(getattr(citewell, name) is not None for name in citewell.__all__)
    assert dir(citewell) == citewell.__all__
    with pytest.raises(AttributeError, match="citewell' has no attribute 'aks'"):
        _ = citewell.aks  # type: ignore[attr-defined]


async def test_it_works_where_an_event_loop_runs() -> None:
    """As in a notebook."""
    seen: list[object] = []
    answer = citewell.ask("What is a collection in Citewell?", on_event=seen.append)
    assert isinstance(answer, Answer)
    assert isinstance(seen[-1], citewell.events.Done)
    assert seen[-1].answer is answer
    await asyncio.sleep(0)


@pytest.mark.parametrize("name", ["serch", "retriever__kk"])
def test_a_wrong_setting_is_named(name: str) -> None:
    with pytest.raises(citewell.CitewellError, match=name.replace("__", ".")):
        citewell.ask("Why?", **{name: 1})


@pytest.mark.alone
def test_importing_takes_less_than_a_fifth_of_a_second() -> None:
    def seconds(program: str) -> float:
        times = []
        for _ in range(5):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            times.append(time.perf_counter() - started)
        return min(times)

    assert seconds("import citewell") - seconds("pass") < 0.2
