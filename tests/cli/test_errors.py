"""Everything that can go wrong: a message that names it and says what to do, and no traceback."""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli, Result

ASK = ("ask", "What causes the tides?", "--collection", "notes")


def assert_explained(result: Result, code: int, *words: str) -> None:
    assert result.code == code, result.err
    assert result.out == ""
    assert "Traceback" not in result.err
    message, *hint = result.err.removesuffix("\n").split("\n")
    assert message.startswith(("citewell: ", "Usage: ")), result.err
    assert hint, "it does not say what to do"
    for word in words:
        assert word in result.err, result.err


class Mistake(NamedTuple):
    arguments: tuple[str, ...]
    code: int
    words: tuple[str, ...]


MISTAKES = {
    "empty question": Mistake(("ask", "", *ASK[2:]), 2, ("The question is empty.",)),
    "blank question": Mistake(("retrieve", " \n", *ASK[2:]), 2, ("The question is empty.",)),
    "100 kB question": Mistake(
        ("ask", "why " * 25_000, *ASK[2:]), 2, ("99,999 characters; at most 4,000", "question_characters")
    ),
    "no question": Mistake(("ask",), 2, ("Missing argument 'QUESTION'", "--help")),
    "unknown command": Mistake(("aks", "What?"), 2, ("Did you mean ask?", "--help")),
    "unknown command with words": Mistake(("extrakt", "my", "page.html"), 2, ("Did you mean extract?",)),
    "question without a command": Mistake(
        ("why", "is", "the", "sky", "blue"), 2, ("citewell ask 'why is the sky blue'",)
    ),
    "question that looks like a command": Mistake(
        ("what is it?",), 2, ("To ask a question: citewell ask 'what is it?'",)
    ),
    "unknown option": Mistake((*ASK, "--best"), 2, ("No such option", "--best-of")),
    "missing collection": Mistake(
        ("ask", "What?", "--collection", "nothing"),
        2,
        ("no collection 'nothing' (there are: notes)", "citewell index SOURCE --collection nothing"),
    ),
    "missing collection to search": Mistake(
        ("search", "tides", "--collection", "nothing"), 2, ("no collection 'nothing'",)
    ),
    "missing collection to remove": Mistake(
        ("collections", "--remove", "nothing"), 2, ("no collection 'nothing'",)
    ),
    "missing collection to refresh": Mistake(
        ("index", "--collection", "nothing", "--refresh"), 2, ("no collection 'nothing' to refresh",)
    ),
    "unknown profile": Mistake((*ASK, "--profile", "none"), 2, ("'none' is not one of 'webglm'",)),
    "bad collection name": Mistake(
        ("ask", "What?", "--collection", "../notes"),
        2,
        ("'../notes' is not a valid collection name", "letters"),
    ),
    "bad name to index": Mistake(
        ("index", __file__, "--collection", "a/b"), 2, ("'a/b' is not a valid collection name", "letters")
    ),
    "unknown provider": Mistake(
        (*ASK, "--search", "altavista"), 2, ("'altavista'", "collection, searxng, wikipedia")
    ),
    "provider without its address": Mistake(
        (*ASK, "--search", "searxng"), 2, ("needs the address", "CITEWELL_SEARCH__SEARXNG_URL")
    ),
    "unknown encoder": Mistake(
        (*ASK, "--encoder", "all-MiniLM"), 2, ("Unknown model 'all-MiniLM'", "all-MiniLM-L6-v2")
    ),
    "unknown generator": Mistake(
        (*ASK, "--generator", "smollm"), 2, ("Unknown model 'smollm'", "Did you mean smollm2-1.7b?")
    ),
    "scorer as a generator": Mistake(
        (*ASK, "--generator", "citewell-scorer"),
        2,
        ("cannot be used as a generator: it is a scorer", "writer"),
    ),
    "unknown model like one of another kind": Mistake(
        (*ASK, "--generator", "citewell-scorers"), 2, ("Unknown model 'citewell-scorers'", "citewell-smollm2")
    ),
    "scorer as an encoder": Mistake(
        (*ASK, "--encoder", "citewell-scorer"), 2, ("cannot be used as an encoder: it is a scorer", "encoder")
    ),
    "missing generator file": Mistake((*ASK, "--generator", "./my.gguf"), 2, ("./my.gguf", "path")),
    "unknown scorer": Mistake((*ASK, "--scorer", "none"), 2, ("Unknown scorer 'none'",)),
    "encoder as a generator": Mistake(
        (*ASK, "--generator", "all-MiniLM-L6-v2"), 2, ("cannot be used as a generator", "extractive")
    ),
    "unknown setting": Mistake(
        (*ASK, "--set", "retriever.topk=3"), 2, ("Unknown setting 'retriever.topk'", "Did you mean")
    ),
    "section as a setting": Mistake(
        (*ASK, "--set", "retriever=5"), 2, ("a section of settings", "retriever.k")
    ),
    "setting without a value": Mistake((*ASK, "--set", "retriever.k"), 2, ("--set retriever.k is not",)),
    "k of nothing": Mistake((*ASK, "--k", "0"), 2, ("retriever.k", "greater than or equal to 1")),
    "k that is not a number": Mistake((*ASK, "--k", "five"), 2, ("'--k'", "'five' is not a valid integer")),
    "no network": Mistake((*ASK, "--allow-network", "home"), 2, ("fetch.allow_networks", "10.0.0.0/8")),
    "no settings file": Mistake(("--config", "no.toml", *ASK), 2, ("no.toml", "CITEWELL_CONFIG")),
    "no file of questions": Mistake(
        ("retrieve", "--questions", "none.txt", *ASK[2:]), 2, ("none.txt", "No such file")
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_explained(cli: Cli, mistake: Mistake) -> None:
    assert_explained(cli.run(*mistake.arguments), mistake.code, *mistake.words)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that is taken and that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_unreachable_provider_is_named(cli: Cli, closed_port: int) -> None:
    address = f"http://127.0.0.1:{closed_port}"
    result = cli.run("ask", "Why?", "--search", "searxng", "--set", f"search.searxng_url={address}")
    assert_explained(result, 1, f"SearXNG at {address}/search cannot be reached", "is running")


@pytest.mark.parametrize("command", ["ask", "retrieve"])
def test_a_name_that_cannot_be_resolved_is_explained_before_a_model_is_loaded(cli: Cli, command: str) -> None:
    models = ("--set", "generator.name=none.gguf", "--set", "retriever.encoder=none")
    wiki = ("--search", "wikipedia", "--set", "search.wikipedia_url=https://wiki.invalid/w/api.php")
    result = cli.run(command, "Who was Ada Lovelace?", *wiki, *models)
    assert_explained(result, 1, "Offline? The name wiki.invalid cannot be resolved.", "ask your own files")
    assert len(result.err.splitlines()) == 2
    # With a search that succeeds, the models that do not exist are what is explained.
    assert "none" in cli.run(command, *ASK[1:], *models).err


@pytest.fixture
def copied(cli: Cli, tmp_path: Path) -> Cli:
    """The command line with a collection of its own, to be damaged."""
    shutil.copytree(cli.data_dir, tmp_path / "copy")
    return replace(cli, data_dir=tmp_path / "copy")


def _zero_index(folder: Path) -> None:
    for file in (folder / "index").iterdir():
        file.write_bytes(b"\x00" * 10)


def _lose_index(folder: Path) -> None:
    shutil.rmtree(folder / "index")


def _scribble_pages(folder: Path) -> None:
    (folder / "pages.db").write_bytes(b"no database at all" * 500)
    for suffix in ("-wal", "-shm"):
        (folder / f"pages.db{suffix}").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_zero_index, ("index of the collection 'notes'", "citewell index --collection notes --rebuild")),
        (_lose_index, ("'notes' has no search index", "citewell index --collection notes --rebuild")),
        (_scribble_pages, ("pages of the collection 'notes' are damaged", "Delete")),
    ],
)
def test_damaged_collection_is_named(
    copied: Cli, damage: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    damage(copied.data_dir / "collections" / "notes")
    assert_explained(copied.run(*ASK), 1, *words)


def test_data_folder_that_cannot_be_written_is_named(cli: Cli, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    there = replace(cli, data_dir=tmp_path / "file" / "data")
    for command in (("index", notes, "--collection", "mine"), ("ask", "What is Citewell?")):
        assert_explained(there.run(*command), 1, str(there.data_dir), "CITEWELL_DATA_DIR")


def test_cache_folder_that_cannot_be_written_is_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = cli.run(*ASK, env={"CITEWELL_CACHE_DIR": str(tmp_path / "file" / "cache")})
    assert_explained(result, 1, "e5-small", str(tmp_path / "file" / "cache"), "CITEWELL_CACHE_DIR")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of file sizes on this system")
@pytest.mark.parametrize("size", [0, 10_000, 40_000])
def test_full_disk_is_named_and_the_next_run_goes_on(fresh: Cli, notes: Path, size: int) -> None:
    import resource

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    index = ("index", notes, "--collection", "mine")
    assert_explained(fresh.run(*index, preexec_fn=fill), 1, "'mine'", "free space")
    code, out, err = fresh.run(*index)
    assert (code, err) == (0, "")
    assert "The collection mine holds 8 pages." in out
