"""`citewell index` and `citewell collections`: making, renewing, listing and removing collections."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from citewell.pipeline.handbook import handbook_folder

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.conftest import Handler, Serve

STORE = "CITEWELL_COLLECTION__STORE"
COUNTS = ("added", "changed", "unchanged", "removed")


def counts(row: dict[str, int]) -> tuple[int, ...]:
    return tuple(row[name] for name in COUNTS)


def without_seconds(out: str) -> str:
    return re.sub(r" in [\d.]+ s", "", out)


def references(cli: Cli, question: str, collection: str) -> list[str]:
    result = cli.run("retrieve", question, "--json", "--collection", collection)
    assert result.code == 0, result.err
    return [reference["title"] for reference in result.objects()[0]["references"]]


def test_second_run_counts_only_what_changed(fresh: Cli, notes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(notes, folder)
    run = ("index", "mine", "--collection", "mine")
    code, out, err = fresh.run(*run)
    assert (code, err) == (0, "")
    assert without_seconds(out) == (
        "mine: 8 added, 0 changed, 0 unchanged, 0 removed, 0 failed\n"
        "Vectors: 8 passages encoded with e5-small, 0 reused, 0 pages removed\n"
        "The collection mine holds 8 pages. Try: citewell ask … --collection mine\n"
    )
    (folder / "honey.md").write_text("# Honey\n\nHoney never spoils, since it is dry and sour.\n")
    (folder / "glass.md").unlink()
    (folder / "silk.md").write_text("# Silk\n\nSilk is spun by the larvae of a moth.\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing more")
    code, out, err = result = fresh.run(*run, "--json")
    row, dense = result.objects()
    assert (code, err) == (0, "")
    assert dense["encoded"]["passages"] == 2
    assert list(row) == ["source", *COUNTS, "elsewhere", "failures", "skipped", "notices", "gone"]
    assert (row["source"], counts(row)) == ("mine", (1, 1, 6, 1))
    ((failure),) = row["failures"]
    assert failure["url"] == (folder / "broken.pdf").as_uri()
    assert failure["reason"]
    assert row["gone"] == [(folder / "glass.md").as_uri()]
    assert counts(fresh.run(*run, "--json").objects()[0]) == (0, 0, 8, 0)


def test_a_refresh_reads_the_sources_again_and_names_what_is_gone(
    fresh: Cli, notes: Path, tmp_path: Path
) -> None:
    folder, single = tmp_path / "mine", tmp_path / "single.md"
    shutil.copytree(notes, folder)
    single.write_text("# Amber\n\nAmber is the resin of trees that died long ago.\n")
    assert fresh.run("index", folder, single, "--collection", "mine").code == 0
    (folder / "honey.md").write_text("# Honey\n\nHoney never spoils, since it is dry and sour.\n")
    (folder / "glass.md").unlink()
    single.unlink()
    code, out, err = fresh.run("index", "--collection", "mine", "--refresh")
    assert code == 0
    assert without_seconds(out) == (
        f"{folder}: 0 added, 1 changed, 6 unchanged, 1 removed, 0 failed\n"
        f"{single}: 0 added, 0 changed, 0 unchanged, 1 removed, 0 failed\n"
        "Vectors: 1 passages encoded with e5-small, 0 reused, 2 pages removed\n"
        "The collection mine holds 7 pages. Try: citewell ask … --collection mine\n"
    )
    assert err == f"  {(folder / 'glass.md').as_uri()}: gone\n  {single.as_uri()}: gone\n"
    assert "Amber" not in references(fresh, "What is amber?", "mine")

    folder.rename(tmp_path / "unplugged")
    row, _ = fresh.run("index", "--collection", "mine", "--refresh", "--json").objects()
    assert (counts(row), row["gone"]) == ((0, 0, 0, 0), [])
    assert row["failures"] == [
        {
            "url": str(folder),
            "reason": f"There is nothing to index: {folder} does not exist. Its documents stay.",
        }
    ]
    assert references(fresh, "What is honey?", "mine")[0] == "Honey"


def test_a_refresh_needs_a_collection_and_takes_no_source(fresh: Cli, notes: Path) -> None:
    missing = fresh.run("index", "--collection", "mine", "--refresh")
    assert (missing.code, "There is no collection 'mine' to refresh." in missing.err) == (2, True)
    both = fresh.run("index", notes, "--collection", "mine", "--refresh")
    assert (both.code, "Leave out SOURCE" in both.err) == (2, True)
    assert fresh.run("collections", "--json").objects() == []


def test_damaged_index_is_built_anew_from_the_pages(fresh: Cli, notes: Path) -> None:
    index = ("index", notes, "--collection", "mine")
    assert fresh.run(*index).code == 0
    for file in (fresh.data_dir / "collections" / "mine" / "index").iterdir():
        file.write_bytes(b"\x00" * 10)
    for command in (("retrieve", "What causes the tides?", "--collection", "mine"), index):
        code, out, err = fresh.run(*command)
        assert (code, out) == (1, "")
        assert "citewell index --collection mine --rebuild" in err
        assert "Traceback" not in err
    assert fresh.run("index", "--collection", "mine", "--rebuild").code == 0
    assert references(fresh, "What causes the tides?", "mine")[0] == "Tides"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "There is nothing to index: missing does not exist."),
        (["notes", "missing"], "There is nothing to index: missing does not exist."),
        (["empty"], "There is nothing to index: empty has no files of the types .html"),
        (["--rebuild"], "There is no collection 'mine' to rebuild."),
        ([], "There is nothing to index."),
    ],
)
def test_run_with_nothing_to_index_leaves_no_collection(
    fresh: Cli, notes: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").symlink_to(notes)
    code, out, err = fresh.run("index", *arguments, "--collection", "mine")
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert fresh.run("collections", "--json") == (0, "", "")


def test_options_of_a_cluster_need_one(fresh: Cli, notes: Path) -> None:
    run = ("index", notes, "--collection", "mine")
    for options, said in (
        (("--workers", "3"), "--engine ray"),
        (("--engine", "ray"), "--store postgresql://"),
        (("--engine", "ray", "--rebuild"), "Leave out --engine ray"),
        (("--engine", "ray", "--refresh"), "Leave out --engine ray"),
    ):
        code, out, err = fresh.run(*run, *options)
        assert (code, out) == (2, "")
        assert said in err
    assert fresh.run("collections", "--json").objects() == []


def test_file_name_that_is_no_utf_8_is_indexed(fresh: Cli, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    try:
        (tmp_path / name).write_text("# Latin 1\n\nThe name of this file is no UTF-8.\n")
    except OSError:
        pytest.skip("this file system takes only file names in UTF-8")
    for expected in ((1, 0, 0, 0), (0, 0, 1, 0)):
        result = fresh.run("index", name, "--collection", "mine", "--json")
        assert result.code == 0, result.err
        assert counts(result.objects()[0]) == expected
    (row,) = fresh.run("collections", "--json").objects()
    assert (row["pages"], row["error"]) == (1, None)


async def test_site_is_crawled(fresh: Cli, serve: Serve) -> None:
    def page(title: str, text: str, *links: str) -> Handler:
        anchors = "".join(f'<p><a href="{link}">another page</a></p>' for link in links)
        body = f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1><p>{text}</p>{anchors}"

        async def answer(request: web.Request) -> web.Response:
            return web.Response(text=body + "</main></body></html>", content_type="text/html")

        return answer

    base = await serve(
        {
            "/": page(
                "Home", "This site is about the birds of the fens and their nests.", "/storks", "/gone"
            ),
            "/storks": page("Storks", "White storks spend the winter in Africa, south of the Sahara."),
        }
    )
    run = partial(fresh.run, "index", f"{base}/", "--collection", "site", "--delay", "0")
    result = await asyncio.to_thread(run, "--json", "--allow-network", "127.0.0.0/8")
    row, _ = result.objects()
    assert (result.code, row["added"]) == (0, 2)
    assert [failure["url"] for failure in row["failures"]] == [f"{base}/gone"]
    refused = await asyncio.to_thread(run)
    assert refused.code == 1
    assert f"{base}/ cannot be crawled" in refused.err
    assert "--allow-network" in refused.err


def test_collections_are_listed_and_removed(fresh: Cli, notes: Path) -> None:
    code, out, err = fresh.run("collections")
    assert (code, err) == (0, "")
    assert "There are no collections yet. Create one: citewell index" in out
    for name in ("whole", "broken"):
        fresh.run("index", notes, "--collection", name)
    database = fresh.data_dir / "collections" / "broken" / "pages.db"
    database.write_bytes(b"no database at all" * 500)
    for suffix in ("-wal", "-shm"):
        database.with_name(f"pages.db{suffix}").unlink(missing_ok=True)
    broken, whole = fresh.run("collections", "--json").objects()
    assert list(whole) == list(broken) == ["name", "pages", "bytes", "sources", "vectors", "error"]
    assert whole["vectors"] == ["e5-small"]
    assert (whole["name"], whole["pages"], whole["sources"]) == ("whole", 8, [str(notes)])
    assert whole["bytes"] > 1000
    assert whole["error"] is None
    assert (broken["name"], broken["pages"], broken["bytes"]) == ("broken", None, None)
    assert "damaged" in broken["error"]
    code, out, err = fresh.run("collections")
    assert (code, out) == (
        0,
        f"whole: 8 pages, {whole['bytes'] / 1e6:.1f} MB, from {notes}\n  with vectors of e5-small\n",
    )
    assert err.startswith("broken: The pages of the collection 'broken' are damaged")

    assert fresh.run("collections", "--remove", "broken") == (0, "Removed the collection broken.\n", "")
    code, _, err = fresh.run("collections", "--remove", "broken")
    assert code == 2
    assert "There is no collection 'broken' (there are: whole)." in err
    assert [row["name"] for row in fresh.run("collections", "--json").objects()] == ["whole"]


def test_a_crawl_that_is_refused_leaves_no_collection_behind(fresh: Cli) -> None:
    assert fresh.run("index", "http://127.0.0.1/", "--collection", "site").code == 1
    assert fresh.run("collections", "--json").objects() == []


def test_a_dense_collection_stays_dense(fresh: Cli, notes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(notes, folder)
    run = ("index", "mine", "--collection", "mine", "--encoder", "all-MiniLM-L6-v2")
    code, out, err = fresh.run(*run, "--dense")
    assert code == 0, err
    assert re.search(r"Vectors: \d+ passages encoded with all-MiniLM-L6-v2 in [\d.]+ s, 0 reused", out)
    (folder / "silk.md").write_text(
        "# Silk\n\nThe threads of cocoons are woven into a fine and shiny cloth.\n"
    )
    _, dense = fresh.run(*run, "--json").objects()
    assert (dense["collection"], dense["encoder"]) == ("mine", "all-MiniLM-L6-v2")
    assert dense["encoded"]["passages"] == 1
    (row,) = fresh.run("collections", "--json").objects()
    assert row["vectors"] == ["all-MiniLM-L6-v2"]
    assert "with vectors of all-MiniLM-L6-v2" in fresh.run("collections").out

    asked = ("--collection", "mine", "--set", "retriever.encoder=all-MiniLM-L6-v2")
    found = fresh.run("search", "luxurious garments", "--json", *asked)
    assert found.code == 0, found.err
    assert found.objects()[0]["hits"][0]["title"] == "Silk"  # not one of its words is in the page
    other = (
        "--collection",
        "mine",
        "--set",
        "retriever.encoder=all-MiniLM-L6-v2",
        "--set",
        "retriever.max_tokens=64",
    )
    code, out, err = fresh.run("search", "textile", *other)
    assert (code, out) == (0, "No results.\n")
    assert "is searched by words only. The vectors of the collection 'mine' are from the encoder all-" in err
    assert "citewell index --collection mine --dense" in err

    code, out, err = fresh.run("index", "--collection", "mine", "--no-dense")
    assert (code, err) == (0, "")
    assert fresh.run("search", "textile", "--json", *asked).objects()[0]["hits"] == []


def test_how_to_make_a_large_collection_dense_is_told(fresh: Cli, notes: Path) -> None:
    run = ("index", notes, "--collection", "mine", "--set", "collection.dense_up_to=7")
    hint = "Only its words are searched. To find other words for the same thing: "
    assert f"{hint}citewell index --collection mine --dense\n" in fresh.run(*run).out
    assert len(fresh.run(*run, "--json").objects()) == 1
    assert fresh.run("index", "--collection", "mine", "--no-dense").code == 0
    assert hint not in fresh.run(*run).out


def test_two_computers_share_a_collection_in_postgres(
    fresh: Cli, notes: Path, database: str, tmp_path: Path
) -> None:
    other = replace(fresh, data_dir=tmp_path / "other", environment={**fresh.environment, STORE: database})
    code, out, err = fresh.run("index", notes, "--collection", "mine", "--store", database)
    assert (code, err) == (0, "")
    assert "The collection mine holds 8 pages." in out
    assert fresh.run("collections", "--json").objects() == []  # without its address
    (row,) = other.run("collections", "--json").objects()
    assert (row["name"], row["pages"], row["sources"], row["error"]) == ("mine", 8, [str(notes)], None)
    assert row["bytes"] > 1000
    found = other.run("search", "bats dark", "--json", "--collection", "mine")
    assert found.objects()[0]["hits"][0]["title"] == "How bats find their way"
    assert "8 pages" in other.run("doctor").out
    assert other.run("index", notes, "--collection", "mine").out.startswith(
        f"{notes}: 0 added, 0 changed, 8 unchanged, 0 removed, 0 failed\n"
    )
    assert other.run("collections", "--remove", "mine") == (0, "Removed the collection mine.\n", "")
    code, _, err = other.run("search", "silk", "--collection", "mine")
    assert code == 2
    assert "There is no collection 'mine' (there are: none yet)." in err


def test_a_database_without_a_server_reads_no_page(fresh: Cli, notes: Path) -> None:
    store = "postgresql://me:s3cret@127.0.0.1:1/none"
    code, out, err = fresh.run("index", notes, "--collection", "mine", "--store", store)
    assert (code, out) == (1, "")
    assert "PostgreSQL at 127.0.0.1:1, which holds the collections, cannot be used" in err
    assert "s3cret" not in err


def test_files_that_are_not_documents_are_told_by_name_and_reason(fresh: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "honey.md").write_text("# Honey\n\nHoney never spoils, since it is dry and sour.\n")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    code, out, err = fresh.run("index", "mixed", "--collection", "mixed")
    assert (code, "1 added" in out, "0 failed, 1 skipped" in out) == (0, True, True)
    assert err == f"  {folder.as_uri()}/photo.jpg: .jpg files are not read\n"


def test_an_empty_source_and_one_without_pages_leave_no_collection(cli: Cli, tmp_path: Path) -> None:
    empty = cli.run("index", "", "--collection", "none")
    assert (empty.code, "A source is empty" in empty.err) == (2, True)
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 broken")
    failed = cli.run("index", broken, "--collection", "none")
    assert failed.code == 1
    assert "The collection none was not created" in failed.err
    assert "none" not in cli.run("collections").out


def test_the_handbook_takes_only_citewell_s_documentation(fresh: Cli, notes: Path) -> None:
    docs = handbook_folder()
    assert docs is not None
    into = ("--collection", "handbook", "--no-dense")
    for source in (notes, docs.parent, "https://docs.example.org/"):
        code, out, err = fresh.run("index", source, *into)
        assert (code, out) == (2, "")
        assert f"{source} is not part of it." in err
        assert "Name another collection." in err
    code, out, err = fresh.run("index", docs, notes, *into)
    assert (code, out) == (2, "")
    assert fresh.run("collections", "--json").objects() == []
    assert fresh.run("index", docs, *into).code == 0
    (handbook,) = fresh.run("collections", "--json").objects()
    assert handbook["sources"] == [str(docs)]
    assert references(fresh, "How does Citewell check a citation?", "handbook")
    code, out, err = fresh.run("index", "--collection", "handbook", "--refresh")
    assert (code, out) == (2, "")
    assert "before each question" in err
