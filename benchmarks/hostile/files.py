"""Attack the folder of sources and the files that people add: what is outside, and what has no end.

`python -m benchmarks.hostile.files` names sources outside of `server.sources`; puts links, devices and pipes
into an indexed folder; and adds archives whose members would land elsewhere or unpack to much. Nothing
outside may be read or written, and every job ends in time.
"""

from __future__ import annotations

import gzip
import io
import os
import socket
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx

from benchmarks.hostile.hidden import await_job
from benchmarks.hostile.tally import Tally, attack_command
from benchmarks.hostile.target import Target, open_target
from citewell.server.access.keys import SCOPES, NewKey, new_key

SECRET = "green cheese"
_TEXT = f"# The secret\n\nThe moon is made of {SECRET}, which is nobody's business but the owner's.\n"
_ROW = f'{{"url": "https://secret.example/", "title": "A secret", "text": "The moon is made of {SECRET}."}}\n'
_GOOD = "# Kites\n\nA kite flies because the wind lifts it while its line holds it against the wind.\n"
_SECONDS = 30.0  # for a job
_PREFIX = "citewell-hostile-files-"
_BOMB_BYTES = 1_500_000_000

SOURCES = (
    *(
        "../secret.md",
        "/etc/passwd",
        "kites/../../secret.md",
        "..",
        "../",
        "/",
        "",
        ".",
        "~",
        "~/.ssh/id_rsa",
    ),
    *("kites/\0", "kites\0/../../secret.md", "file:///etc/passwd", "file:secret.md", "FILE:///etc/passwd"),
    *(
        "..\\secret.md",
        "kites/..%2f..%2fsecret.md",
        "%2e%2e/secret.md",
        "．．/secret.md",
        "..\u2215secret.md",
    ),
    *(
        "{outside}/secret.md",
        "{sources}/../secret.md",
        "//{outside}/secret.md",
        "./../secret.md",
        "kites/./../..",
    ),
    *(
        "/proc/self/environ",
        "/proc/self/cwd/secret.md",
        "/proc/self/root/etc/passwd",
        "/dev/stdin",
        "/dev/zero",
    ),
    *(
        "/dev/fd/0",
        "link.md",
        "folder",
        "folder/secret.md",
        "chain",
        "loop",
        "relative",
        "process",
        "zero",
        "pipe",
    ),
    *(
        "a" * 300,
        "a/" * 3000,
        "$HOME",
        "$(cat /etc/passwd)",
        "`id`",
        "kites;id",
        "|id",
        "*",
        "kites/*",
        "{a,b}",
    ),
    *(
        "http://127.0.0.1/secret.md",
        "ftp://example.org/",
        "gopher://127.0.0.1/",
        "data:text/html,x",
        "jar:file:/x!/",
    ),
)
"""Sources that a key may not index, but for the folder of sources itself."""
_INSIDE = frozenset({"."})


class _Folders(NamedTuple):
    outside: Path
    sources: Path


def _prepare(folder: Path) -> _Folders:
    """Make a folder of sources beside a secret, with links out of it, devices and a pipe."""
    found = _Folders(folder, folder / "sources")
    (found.sources / "kites").mkdir(parents=True)
    (found.sources / "kites" / "kites.md").write_text(_GOOD)
    (folder / "secret.md").write_text(_TEXT)
    (folder / "rows.jsonl").write_text(_ROW)
    for place in (found.sources, found.sources / "kites"):
        for name, target in {
            "link.md": folder / "secret.md",
            "rows.jsonl": folder / "rows.jsonl",
            "folder": folder,
            "chain": place / "link.md",
            "loop": place / "loop",
            "relative": Path(os.path.relpath(folder / "secret.md", place)),
            "process": Path("/proc/self/environ"),
            "root": Path("/proc/self/root"),
            "zero": Path("/dev/zero"),
            "zero.md": Path("/dev/zero"),
            "random.txt": Path("/dev/urandom"),
            "stdin.md": Path("/dev/stdin"),
        }.items():
            (place / name).symlink_to(target)
        os.mkfifo(place / "pipe")
        os.mkfifo(place / "pipe.md")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.relpath(place / "socket.md"))
    return found


def attack(target: Target, key: NewKey, folders: _Folders, *, small: bool = False) -> Tally:
    """Name sources, index a folder full of traps, and add hostile files."""
    tally = Tally()
    with target.client(key) as client:
        for source in SOURCES[:: 7 if small else 1]:
            named = source.replace("{outside}", str(folders.outside)).replace(
                "{sources}", str(folders.sources)
            )
            is_inside = named in (".", "", "kites/./../..", "kites/*") and source == "."
            tally.note(
                "sources", f"{source[:60]!a}", _index(client, "named", named, is_refused=not is_inside)
            )
        tally.note("links, devices and pipes", "a folder", _index(client, "traps", "kites", is_refused=False))
        for name, file, body in list(_uploads())[:: 6 if small else 1]:
            tally.note("added files", name, _add(client, file, body()))
        for name, link in (
            ("a file", "file:///etc/passwd"),
            ("a path", "/etc/passwd"),
            ("a name", "../secret.md"),
        ):
            tally.note("added links", name, _add_link(client, link))
        for name in ("named", "traps", "added"):
            tally.note("what was read", name, _leak(client, name))
    for name in ("slip.md", "slip"):
        found = [*folders.outside.rglob(name), *Path("/tmp").glob(name)]
        tally.note("what was written", name, f"it was written to {found[0]}" if found else "")
    tally.note("afterwards", "the service answers", target.is_well())
    tally.note("afterwards", "tracebacks in the log", "; ".join(target.tracebacks()[:3]))
    return tally


def _index(client: httpx.Client, name: str, source: str, *, is_refused: bool) -> str:
    started = time.monotonic()
    reply = client.post("/v1/collections", json={"name": name, "source": source})
    has_path = _PREFIX in reply.text and _PREFIX not in source
    if reply.status_code >= 500 or SECRET in reply.text or has_path:
        return f"{reply.status_code} {reply.text[:200]}"
    if reply.status_code != 202:
        return "" if is_refused else f"refused: {reply.text[:200]}"
    job = await_job(client, reply.headers["Location"], _SECONDS)
    if job["status"] == "running":
        client.delete(reply.headers["Location"])
        return f"still running after {time.monotonic() - started:.0f} s"
    has_failed = job["status"] == "failed" or job["message"].startswith("0 added")
    return "" if has_failed or not is_refused else f"indexed: {job['message'][:200]}"


def _add(client: httpx.Client, file: str, body: bytes) -> str:
    form = [("file", (file, body))]
    reply = client.post("/v1/collections/added/documents", files=form, timeout=120)
    if reply.status_code >= 500:
        return f"{reply.status_code} {reply.text[:200]}"
    if reply.status_code != 202:
        return ""
    job = await_job(client, reply.headers["Location"], _SECONDS)
    shown = [row["name"] for row in job.get("documents") or [] if "/" in row["name"] or "\\" in row["name"]]
    if job.get("status") == "running":
        return "still running"
    return f"named {shown[0]}" if shown else ""


def _add_link(client: httpx.Client, link: str) -> str:
    reply = client.post("/v1/collections/added/documents", files=[("link", (None, link.encode()))])
    if reply.status_code != 202:
        return "" if reply.status_code < 500 else f"{reply.status_code} {reply.text[:200]}"
    job = await_job(client, reply.headers["Location"], _SECONDS)
    added = [row for row in job.get("documents") or [] if row["status"] == "indexed"]
    return "it was read" if added else ""


def _leak(client: httpx.Client, name: str) -> str:
    """Return what a collection has of the secret."""
    reply = client.get(f"/v1/collections/{name}/documents", params={"limit": 100})
    if reply.status_code != 200:
        return ""
    for row in reply.json()["documents"]:
        shown = client.get(f"/collections/{name}/document", params={"url": row["url"]}).text
        if SECRET in shown or "root:x:0" in shown or "PATH=" in shown:
            return f"{row['url']} is there"
    return ""


def _uploads() -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    """Yield hostile files: what each tries, its name, and a function that makes it."""
    good = _GOOD.encode()
    for name in (
        "../slip.md",
        "/tmp/slip.md",
        "..\\..\\slip.md",
        "C:\\slip.md",
        "a/../../slip.md",
        "slip.md\0.png",
    ):
        yield f"the name {name!a}", name, lambda: good
    yield (
        "an archive whose members lead out",
        "slip.docx",
        lambda: _zip({"../../slip": good, "/tmp/slip": good}),
    )
    yield "an archive with a link", "link.docx", _linked
    yield (
        "an archive with a thousand members",
        "many.docx",
        lambda: _zip({f"word/{n}.xml": good for n in range(9999)}),
    )
    for kind, member in (("docx", "word/document.xml"), ("xlsx", "xl/workbook.xml"), ("odt", "content.xml")):
        yield f"a bomb, {kind}", f"bomb.{kind}", lambda member=member: _bomb(member)  # type: ignore[misc]
    yield "a bomb, gzip", "bomb.md.gz", lambda: gzip.compress(bytes(_BOMB_BYTES // 10), 1)
    yield "gzip in gzip", "twice.md.gz", lambda: gzip.compress(gzip.compress(bytes(_BOMB_BYTES // 10)))
    yield "gzip, cut", "cut.md.gz", lambda: gzip.compress(good)[:-5]
    yield "an archive, cut", "cut.docx", lambda: _zip({"word/document.xml": good})[:-9]
    yield "an archive that is none", "none.docx", lambda: b"PK\x03\x04" + bytes(1000)
    yield (
        "entities",
        "entities.docx",
        lambda: _zip({"word/document.xml": _entities(), "[Content_Types].xml": b"<a/>"}),
    )
    yield "an XML that names a file", "file.docx", lambda: _zip({"word/document.xml": _external()})
    yield "HTML that names files", "files.html", _naming_files
    yield "a page that is not text", "zero.md", lambda: bytes(1_000_000)


def _zip(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return file.getvalue()


def _linked() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        link = zipfile.ZipInfo("word/document.xml")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return file.getvalue()


def _bomb(member: str) -> bytes:
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(member, "w", force_zip64=True) as stream,
    ):
        for _ in range(_BOMB_BYTES // 10_000_000):
            stream.write(b"<a>" * 3_333_333)
    return file.getvalue()


def _entities() -> bytes:
    names = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    return f'<!DOCTYPE a [<!ENTITY e0 "kite">{names}]><a>&e11;</a>'.encode()


def _external() -> bytes:
    return b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'


def _naming_files() -> bytes:
    names = (
        '<iframe src="file:///etc/passwd">',
        '<object data="/etc/passwd">',
        '<link href="file:///etc/passwd">',
    )
    return f"<h1>Kites</h1><p>{_GOOD}</p>{''.join(names)}<!--#include file='/etc/passwd' -->".encode()


def run(small: bool) -> Tally:
    """Attack a service of its own, whose folder of sources is full of traps."""
    key = new_key("everything", SCOPES)
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folders = _prepare(Path(name))
        settings = {"server__sources": folders.sources, "extract__seconds": 8}
        with open_target([key], **settings) as target:
            return attack(target, key, folders, small=small)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("files", __doc__, run, words)


if __name__ == "__main__":
    main()
