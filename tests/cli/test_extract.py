"""`citewell extract`: what is read, or why nothing is, for each source."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.conftest import Serve

DATA = Path(__file__).parents[1] / "retriever" / "extract" / "data"
HTML = "<html><head><title>Café</title></head><body><main><p>{}</p></main></body></html>"
SENTENCE = "The café in Château-d’Œx opens at nine o’clock and closes when the last guest has left."


def test_each_source_gives_one_object_in_order(cli: Cli, tmp_path: Path) -> None:
    wrong = HTML.replace("<head>", '<head><meta charset="utf-8">').format(SENTENCE).encode("windows-1252")
    latin = os.fsdecode(b"caf\xe9.md")
    files = {
        "wrong.html": wrong,
        "notes.md": b"# Notes\n\nOne paragraph.\n\n## More\n\nAnother one.\n",
        "image.html": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
        "broken.pdf": (DATA / "no_password.pdf").read_bytes()[:300],
        "empty.txt": b"",
        latin: b"# Latin 1\n\nThe name of this file is no UTF-8.\n",
    }
    for name, body in files.items():
        (tmp_path / name).write_bytes(body)
    sources = [
        *("wrong.html", "notes.md", "image.html", "broken.pdf", str(DATA / "password.pdf")),
        *(str(DATA / "no_password.pdf"), "missing.html", ".", "empty.txt", latin, "ftp://example.org/a"),
    ]
    code, _, err = result = cli.run("extract", "--json", *sources)
    rows = dict(zip(sources, result.objects(), strict=True))
    assert (code, err) == (1, "")
    for source, row in rows.items():
        assert list(row) == ["source", "title", "author", "date", "paragraphs", "notice", "error", "kind"]
        assert row["source"] == source
        assert (row["error"] is None) == bool(row["paragraphs"]) == (row["title"] is not None)
        assert (row["error"] is None) == (row["kind"] is None)
    assert (rows["wrong.html"]["title"], rows["wrong.html"]["paragraphs"]) == ("Café", [SENTENCE])
    assert rows["notes.md"]["paragraphs"] == ["One paragraph.\nMore\nAnother one."]
    assert rows[str(DATA / "no_password.pdf")]["error"] is None
    assert rows[latin]["title"] == "Latin 1"
    for source, reason in {
        str(DATA / "password.pdf"): "encrypted",
        "broken.pdf": "PDF",
        "missing.html": "No such file",
        ".": "directory",
        "ftp://example.org/a": "only http and https",
    }.items():
        assert reason in rows[source]["error"], rows[source]
    kinds = {"image.html": "extract", "empty.txt": "extract", ".": "file", "ftp://example.org/a": "scheme"}
    assert {source: rows[source]["kind"] for source in kinds} == kinds


def test_plain_text_on_standard_output_and_reasons_on_standard_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nOne paragraph.\n\n## More\n\nAnother one.\n")
    assert cli.run("extract", "notes.md") == (0, "Notes\n\nOne paragraph.\nMore\nAnother one.\n\n", "")
    code, out, err = cli.run("extract", "missing.md", "notes.md")
    assert (code, out) == (1, "Notes\n\nOne paragraph.\nMore\nAnother one.\n\n")
    assert err == "citewell: missing.md: the file cannot be read: No such file or directory\n"


async def test_page_on_a_private_network_is_read_when_that_is_allowed(cli: Cli, serve: Serve) -> None:
    async def page(request: web.Request) -> web.Response:
        return web.Response(text=HTML.format(SENTENCE), content_type="text/html")

    base = await serve({"/page": page})
    run = partial(cli.run, "extract", "--json", f"{base}/page", f"{base}/gone")
    allowed = await asyncio.to_thread(run, "--allow-network", "127.0.0.0/8")
    good, gone = allowed.objects()
    assert allowed.code == 1
    assert (good["title"], good["paragraphs"], good["error"]) == ("Café", [SENTENCE], None)
    assert "404" in gone["error"]
    refused = await asyncio.to_thread(run)
    assert refused.code == 1
    for row in refused.objects():
        assert "127.0.0.1 is not a public address" in row["error"]
        assert "--allow-network" in row["error"]
