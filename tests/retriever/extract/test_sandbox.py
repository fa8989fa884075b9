"""Pages are read in processes of their own, and a page that harms its process harms no other page."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from citewell.core.errors import ExtractionError
from citewell.core.types import Page
from citewell.retriever.extract.links import Leads
from citewell.retriever.extract.page import extract
from citewell.retriever.extract.sandbox import Sandbox, SandboxLimits

Workers = Callable[[], set[int]]
URL = "https://a.example/kites"
SENTENCE = "The wind that lifts a kite blows steadily from the sea in the afternoon of most summer days."
HTML = f"<html><head><title>Kites</title></head><body><p>{SENTENCE}</p></body></html>".encode()
# An object that is a reference to itself, which pdfminer follows for ever.
ENDLESS_PDF = b"%PDF-1.4\n1 0 obj\n1 0 R\nendobj\ntrailer\n<< /Size 2 /Root 1 0 R >>\n%%EOF\n"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what a process is allowed")


def pdf_bomb(megabytes: int) -> bytes:
    """A PDF whose one page has so many megabytes of spaces before its text."""
    packer = zlib.compressobj(9)
    stream = b"".join(packer.compress(b" " * 1_000_000) for _ in range(megabytes)) + packer.flush()
    content = b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << >> /Contents 4 0 R >>",
        content,
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % numbered for numbered in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer\n<< /Size 5 /Root 1 0 R >>\n%%EOF\n"


def children() -> set[int]:
    """The processes that this one has started, from any of its threads."""
    return {child.pid for child in psutil.Process().children()}


@pytest.fixture
def workers() -> Iterator[Callable[[], set[int]]]:
    """Tell which workers run now; none are left in the end."""
    before = children()
    yield lambda: children() - before
    assert children() <= before


def resident(pids: set[int]) -> int:
    """The bytes of processes that are in memory."""
    return sum(psutil.Process(pid).memory_info().rss for pid in pids)


async def reason(sandbox: Sandbox, body: bytes) -> str:
    with pytest.raises(ExtractionError) as caught:
        await sandbox.extract(body, URL)
    return caught.value.message


async def test_a_page_is_read_as_it_would_be_here(sandbox: Sandbox) -> None:
    assert await sandbox.extract(HTML, URL, "text/html", "Title") == extract(HTML, URL, "text/html", "Title")
    assert await sandbox.extract(b"Text.", URL, title="Wind") == extract(b"Text.", URL, title="Wind")


async def test_a_reason_and_what_to_do_about_it_come_back(sandbox: Sandbox) -> None:
    with pytest.raises(ExtractionError, match="is empty") as caught:
        await sandbox.extract(b"", URL)
    assert "JavaScript" in caught.value.hint


async def test_names_of_files_need_not_be_unicode(sandbox: Sandbox) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    page = await sandbox.extract(b"Some text.", name)
    assert page.url == page.passages[0].url == name
    page.title.encode()


async def test_many_pages_at_a_time_each_get_their_own_result(sandbox: Sandbox) -> None:
    bodies = [f"Page number {n}. {SENTENCE}".encode() for n in range(60)]
    pages = await asyncio.gather(*(sandbox.extract(body, f"{URL}/{n}") for n, body in enumerate(bodies)))
    assert [page.url for page in pages] == [f"{URL}/{n}" for n in range(60)]
    assert [page.passages[0].text for page in pages] == [body.decode() for body in bodies]


async def test_a_page_that_never_ends_is_given_up_and_its_process_replaced(workers: Workers) -> None:
    async with Sandbox(SandboxLimits(workers=1, seconds=2.0)) as sandbox:
        assert await sandbox.extract(HTML, URL)
        endless, page = await asyncio.gather(reason(sandbox, ENDLESS_PDF), sandbox.extract(HTML, URL))
    assert endless == "reading it took longer than 2 s"
    assert page.title == "Kites"


@on_linux
async def test_a_page_that_takes_too_much_memory_is_given_up() -> None:
    async with Sandbox(SandboxLimits(workers=1, memory_bytes=150_000_000)) as sandbox:
        assert await reason(sandbox, pdf_bomb(400)) == "reading it takes more than 150 MB of memory"
        assert (await sandbox.extract(HTML, URL)).title == "Kites"


@on_linux
async def test_a_process_that_is_killed_is_replaced(workers: Workers) -> None:
    async with Sandbox(SandboxLimits(workers=1)) as sandbox:
        await sandbox.extract(HTML, URL)
        (first,) = workers()
        os.kill(first, signal.SIGSEGV)
        while first in children():
            await asyncio.sleep(0.01)
        assert await reason(sandbox, HTML) == "the process that read it was ended by SIGSEGV"
        assert (await sandbox.extract(HTML, URL)).title == "Kites"


@on_linux
async def test_no_process_starts_before_it_is_needed_and_none_stays(workers: Workers) -> None:
    async with Sandbox(SandboxLimits(workers=3)) as sandbox:
        assert not workers()
        await sandbox.extract(HTML, URL)
        await sandbox.extract(HTML, URL)
        assert len(workers()) == 1
        sandbox.warm_up()
        sandbox.warm_up()
        await asyncio.gather(*(sandbox.extract(HTML, URL) for _ in range(20)))
        assert len(workers()) == 3


@on_linux
async def test_closing_does_not_wait_for_the_page_that_is_read(workers: Workers) -> None:
    async with Sandbox(SandboxLimits(workers=1, seconds=60)) as sandbox:
        await sandbox.extract(HTML, URL)
        reading = asyncio.create_task(sandbox.extract(ENDLESS_PDF, URL))
        await asyncio.sleep(0)
        started = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - started < 5
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_a_caller_that_is_cancelled_holds_no_process() -> None:
    async with Sandbox(SandboxLimits(workers=1, seconds=60)) as sandbox:
        reading = asyncio.create_task(sandbox.extract(ENDLESS_PDF, URL))
        await asyncio.sleep(0.1)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        async with asyncio.timeout(15):  # far less than the page would have had
            assert (await sandbox.extract(HTML, URL)).title == "Kites"


async def test_links_are_read_as_they_would_be_here(sandbox: Sandbox) -> None:
    body = b'<meta name="robots" content="noindex"><a href="/wind">x</a><a href="mailto:a@a.example">y</a>'
    assert await sandbox.leads(body, URL, "text/html") == Leads(("https://a.example/wind",), noindex=True)
    assert await sandbox.leads(b"No links.", URL, "text/plain") == Leads()


async def test_a_page_of_many_megabytes_goes_in_and_comes_out_whole(sandbox: Sandbox) -> None:
    sentences = [f"Sentence {n} of a very long page about kites and the wind.\n\n" for n in range(150_000)]
    page = await sandbox.extract("".join(sentences).encode(), URL, "text/plain")
    assert sum(passage.text.count("Sentence") for passage in page.passages) == len(sentences)


@on_linux
async def test_a_process_that_ends_while_it_is_sent_a_page_is_replaced(workers: Workers) -> None:
    async with Sandbox(SandboxLimits(workers=1, seconds=20)) as sandbox:
        await sandbox.extract(HTML, URL)
        (first,) = workers()
        os.kill(first, signal.SIGSTOP)  # it reads nothing, so that most of the page waits to be written
        reading = asyncio.create_task(reason(sandbox, b"word " * 1_000_000))
        for _ in range(5):
            await asyncio.sleep(0)
        os.kill(first, signal.SIGKILL)
        assert await reading == "the process that read it was ended by SIGKILL"
        assert (await sandbox.extract(HTML, URL)).title == "Kites"


@on_linux
async def test_a_process_does_not_keep_the_memory_of_large_pages(workers: Workers) -> None:
    async with Sandbox(SandboxLimits(workers=1)) as sandbox:
        await sandbox.extract(HTML, URL)
        before = resident(workers())
        large = b"<html><body>" + b"".join(b"<p>%d %s</p>" % (n, SENTENCE.encode()) for n in range(20_000))
        for _ in range(4):
            await sandbox.extract(large, URL)
            await sandbox.extract(HTML, URL)
        assert resident(workers()) - before < 70_000_000


@on_linux
async def test_what_a_process_may_do(workers: Workers) -> None:
    async with Sandbox(SandboxLimits(workers=1, memory_bytes=300_000_000)) as sandbox:
        await sandbox.extract(HTML, URL)
        (worker,) = workers()
        process = Path(f"/proc/{worker}")
        variables = {line.split(b"=")[0] for line in (process / "environ").read_bytes().split(b"\0") if line}
        assert variables <= {
            b"PYTHONPATH",
            b"PYTHONHOME",
            b"LANG",
            b"LC_ALL",
            b"LC_CTYPE",
            b"LD_LIBRARY_PATH",
            b"OPENBLAS_NUM_THREADS",
            b"OMP_NUM_THREADS",
            b"MKL_NUM_THREADS",
        }
        assert len(list((process / "task").iterdir())) == 1
        lines = (process / "limits").read_text().splitlines()
        limits = {line[:25].strip(): line[25:].split()[0] for line in lines}
        assert limits["Max file size"] == limits["Max core file size"] == limits["Max processes"] == "0"
        assert int(limits["Max open files"]) <= 32
        assert 300_000_000 < int(limits["Max address space"]) < 500_000_000  # libraries included
        assert os.getsid(worker) == worker  # Ctrl-C in a terminal does not reach it
        if (process / "ns" / "net").readlink() == Path("/proc/self/ns/net").readlink():
            pytest.skip("this system does not let a process leave the network")
        interfaces = (process / "net" / "dev").read_text().splitlines()[2:]
        assert [line.split(":")[0].strip() for line in interfaces] == ["lo"]


@on_linux
async def test_hostile_pages_all_end_in_a_result_or_a_reason() -> None:
    pages = {
        "deep": b"<html><body>" + b"<div>" * 100_000 + SENTENCE.encode() + b"</div>" * 100_000,
        "open": b"<html><body>" + b"<p>a<b><i>" * 20_000,
        "NUL": HTML.replace(b"wind", b"wi\0nd"),
        "no UTF-8": HTML.replace(b"wind", b"wi\xff\xfe\xfdnd"),
        "less than": b"<html><body>" + b"<" * 300_000,
        "10 MB": b"<html><body><p>" + f"{SENTENCE} ".encode() * 100_000,
        "JSON": b"[" * 300_000,
        "bomb": pdf_bomb(2000),
    }
    async with Sandbox(SandboxLimits(workers=2, seconds=5, memory_bytes=400_000_000)) as sandbox:
        readings = [sandbox.extract(body, URL) for body in pages.values()]
        outcomes = dict(zip(pages, await asyncio.gather(*readings, return_exceptions=True), strict=True))
        assert (await sandbox.extract(HTML, URL)).title == "Kites"
    assert all(isinstance(outcome, Page | ExtractionError) for outcome in outcomes.values()), outcomes
    assert isinstance(outcomes["NUL"], Page)
    assert isinstance(outcomes["no UTF-8"], Page)
