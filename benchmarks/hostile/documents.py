"""Pages that try to harm their reader: made by hand, and random mutations of real ones."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

SENTENCE = b"The wind that lifts a kite blows steadily from the sea in the afternoon of most summer days. "
_CHUNK = 1_000_000
_WORDS = (
    *(
        b"<div>",
        b"</div>",
        b"<table>",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"<script>",
        b"</",
        b"<p ",
        b'"',
        b"&#x",
        b"&",
    ),
    *(
        b"\0",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\r",
        b"\xe2\x80\xae",
        b"<svg><math>",
        b"<base href=",
        b"<noscript>",
    ),
    *(b"obj", b"endobj", b"stream", b"<<", b">>", b"/Length 99999999999", b"/Kids", b" 0 R", b"xref", b"["),
)


def handmade(megabytes: int = 1000) -> dict[str, bytes]:
    """Return documents that are known to trouble parsers, by name; PDF bombs have at least `megabytes`."""
    html = b"<!doctype html><html><head><title>Kites</title></head><body>%s</body></html>"
    return {
        "100,000 nested tags": html % (b"<div>" * 100_000 + SENTENCE + b"</div>" * 100_000),
        "100,000 nested lists": html % (b"<ul><li>" * 50_000 + SENTENCE),
        "30,000 nested tables": html % (b"<table><tr><td>" * 30_000 + SENTENCE),
        "300,000 open tags": html % (b"<p>a<b><i>" * 100_000),
        "300,000 attributes": html
        % (b"<p " + b" ".join(b"a%d=1" % n for n in range(300_000)) + b">" + SENTENCE),
        "3,000,000 times <": html % (b"<" * 3_000_000),
        "unclosed comments": html % (b"<!--" * 500_000),
        "entities": html % (b"&amp;" * 800_000),
        "10 MB in one paragraph": html % (b"<p>" + SENTENCE * 105_000),
        "10 MB in 105,000 paragraphs": html % ((b"<p>" + SENTENCE + b"</p>") * 105_000),
        "10 MB without a space": html % (b"<p>" + b"kite" * 2_500_000),
        "NULs": html % (b"<p>" + SENTENCE.replace(b" ", b"\0 ") * 10),
        "invalid UTF-8": html % (b"<p>" + SENTENCE.replace(b"wind", b"wi\xff\xfe\xc3nd") * 10),
        "lone surrogates": html % (b"<p>&#xD800; \xed\xa0\x80 " + SENTENCE * 5),
        "JSON, 300,000 deep": b"[" * 300_000,
        "JSON, a million numbers": b"[" + b",".join(b"%d" % n for n in range(1_000_000)) + b"]",
        "Markdown, nested quotes": b"# Kites\n\n" + b">" * 5_000 + SENTENCE,
        "Markdown, open brackets": b"# Kites\n\n" + b"[" * 50_000 + SENTENCE,
        "Markdown, emphasis": b"# Kites\n\n" + b"*a _b " * 20_000,
        "PDF, spaces": flate_pdf(megabytes),
        "PDF, packed twice": flate_pdf(4 * megabytes, twice=True),
        "PDF, an object that is itself": objects_pdf([b"1 0 R"]),
        "PDF, pages that are their own parents": objects_pdf(
            [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"]
        ),
        "PDF, a tree 20,000 deep": objects_pdf(
            [b"<< /Type /Catalog /Pages 2 0 R >>"]
            + [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (n + 1) for n in range(2, 20_000)]
        ),
        "PDF, 200,000 nested arrays": objects_pdf([b"[" * 200_000]),
    }


def objects_pdf(objects: list[bytes]) -> bytes:
    """Return a PDF file of these objects, of which the first is the root."""
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % numbered for numbered in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer\n<< /Size %d /Root 1 0 R >>\n%%%%EOF\n" % (len(objects) + 1)


def page_pdf(content: bytes, filters: bytes = b"") -> bytes:
    """Return a PDF file with one page, drawn by `content`."""
    return objects_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R "
            b"/Resources << /Font << /F1 4 0 R >> >> >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< %s /Length %d >>\nstream\n%s\nendstream" % (filters, len(content), content),
        ]
    )


def flate_pdf(megabytes: int, *, twice: bool = False) -> bytes:
    """Return a PDF file whose page begins with this many megabytes of spaces, compressed."""
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(b" " * _CHUNK) for _ in range(megabytes)) + packer.flush()
    if twice:
        return page_pdf(zlib.compress(packed, 9), b"/Filter [/FlateDecode /FlateDecode]")
    return page_pdf(packed, b"/Filter /FlateDecode")


def seeds(folder: Path) -> list[bytes]:
    """Return real pages to mutate: those of two files of CITEWELL_DATA, and a few PDF files made here."""
    pages = []
    for name in ("article_extraction_benchmark", "wcxb_dev-00"):
        with gzip.open(folder / "pages" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            pages += [json.loads(line)["html"].encode(errors="replace") for line in lines]
    drawn = [b"BT /F1 11 Tf 72 %d Td (%s) Tj ET" % (700 - 13 * n, SENTENCE) for n in range(40)]
    text = b"\n".join(drawn)
    pdfs = [page_pdf(text), page_pdf(zlib.compress(text), b"/Filter /FlateDecode"), objects_pdf([b"<< >>"])]
    return [page for page in pages if len(page) <= 1_000_000] + pdfs * (len(pages) // 12)


def mutated(sources: list[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Yield `count` pages, each a random source after up to twenty random changes."""
    chance = random.Random(seed)
    for _ in range(count):
        body = bytearray(chance.choice(sources))
        for _ in range(chance.randint(1, 20)):
            _mutate(body, chance, sources)
        yield bytes(body)


def _mutate(body: bytearray, chance: random.Random, sources: list[bytes]) -> None:
    start = chance.randrange(len(body) + 1)
    end = min(len(body), start + chance.choice([1, 8, 100, 5000]))
    match chance.randrange(7):
        case 0:  # flip bits
            for place in range(start, end):
                body[place] ^= 1 << chance.randrange(8)
        case 1:
            body[start:end] = chance.randbytes(end - start)
        case 2:
            del body[start:end]
        case 3:  # repeat a part
            body[start:start] = body[start:end] * chance.choice([2, 20, 200])
        case 4:
            body[start:start] = chance.choice(_WORDS) * chance.choice([1, 1, 10, 3000])
        case 5:  # a part of another page
            other = chance.choice(sources)
            place = chance.randrange(len(other) + 1)
            body[start:end] = other[place : place + 5000]
        case 6:
            del body[max(start, 100) :]
