"""Attack with addresses: those of private networks, and random ones that trouble parsers.

`python -m benchmarks.hostile.addresses` tries spellings of private addresses directly, by redirects, by a
name server that changes its answer and through a proxy: none may be connected to. Then it makes addresses of
pieces that trouble parsers (seeded), and parses each alone, as a link of a page, and for display. Each must
be refused with a `FetchError` or parsed to a URL with which everything works. Otherwise it exits with 1.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import ip_address
from typing import Any

from benchmarks.hostile.outcome import AttackResult, tally_of
from benchmarks.hostile.private import hostile_web, reach
from benchmarks.hostile.tally import AttackCount, Tally, attack_parser, end
from citewell.browser.page import error_page
from citewell.core.errors import FetchError
from citewell.core.redact import published_address
from citewell.retriever.extract.kind import kind_of
from citewell.retriever.extract.links import canonical
from citewell.retriever.extract.page import name_of
from citewell.retriever.fetch.urls import WebUrl, web_url
from citewell.retriever.search.urls import host_of, identity, in_domains, registrable_domain
from citewell.server.pages.links import site_of, web_address
from citewell.server.work.public_urls import PublicUrls

_SCHEMES = ("http://", "https://", "HTTP:", "http:/", "//", "/", "file://", "javascript:", "")
_WRITABLE = (
    "? # @ : [ ] ][@ :: [::g] [1:2.3] [::1%25lo] [v1.a] fe80::1 . / // .. ../ % %00 %2f %zz %5B & = ; , ' < "
    "| - _ + ~ 1.2.3 127.1 0x 0x7f000001 08 999 :80 :0 :99999 :-1 :a user: http:// example.org b.c a xn-- "
    "@example.org xn--a xn--zzzzzz xn--ls8h ;jsessionid=1 utm_source=1"
)
_UNWRITABLE = "\\ \0\n\t\x7f\x85\xdf\u0663\u2028\u202e\u2460\u3002\ufdfa\ufeff\ufffd\ud800\udcff\U0001f600"
_PIECES = (*_WRITABLE.split(), *_UNWRITABLE, "x" * 64, "a." * 130)
_BASE = web_url("https://example.org/a/b?c=d")
_SHOWN: tuple[Callable[[str], object], ...] = (
    *(host_of, identity, registrable_domain, published_address, name_of, site_of, web_address),
    lambda address: in_domains(address, ["example.org"]),
    lambda address: kind_of(b"Kites fly.", address, ""),
    lambda address: error_page(address, "bad"),
    PublicUrls({"notes": ["/notes"]}).name,
    lambda address: PublicUrls({"notes": ["/notes"]}).name(f"file:{address}"),
)


def addresses(count: int, seed: int = 0) -> Iterator[str]:
    """Make random addresses, most of them malformed."""
    pick = random.Random(seed)
    for _ in range(count):
        yield pick.choice(_SCHEMES) + "".join(pick.choices(_PIECES, k=pick.randint(1, 7)))


def attempt(address: str, reasons: Counter[str]) -> Iterator[str]:
    """Parse one address in every way, count how that ends, and yield what should not have happened."""
    for base in (None, _BASE):
        try:
            url = web_url(address, base)
        except FetchError as error:
            reasons[error.kind] += 1
        except Exception as error:  # noqa: BLE001 - which is what this program looks for
            yield f"web_url raised {type(error).__name__}: {error}"
        else:
            reasons["parsed"] += 1
            yield from _unsound(url)
    for show in _SHOWN:
        try:
            show(address)
        except Exception as error:  # noqa: BLE001
            yield f"{show} raised {type(error).__name__}: {error}"


def _unsound(url: WebUrl) -> Iterator[str]:
    try:
        if web_url(str(url)) != url or not str(url).isascii():
            yield f"{url!r} is another URL when it is parsed again"
        if ":" in (url.raw_host or ""):
            ip_address(url.raw_host or "")
        _ = url.host, url.port, url.query, url.origin() / "robots.txt"
        form = canonical(url)
        if canonical(web_url(form)) != form:
            yield f"{url!r} has two canonical forms"
    except Exception as error:  # noqa: BLE001
        yield f"{url!r} raised {type(error).__name__}: {error}"


def attack(tried: Iterable[str]) -> dict[str, Any]:
    """Attempt all addresses; return the number, the ends and the faults, each with its address."""
    reasons: Counter[str] = Counter()
    faults: list[str] = []
    number = 0
    for address in tried:
        number += 1
        faults += [f"{address!a}: {fault!a}" for fault in attempt(address, reasons)]
    return {"addresses": number, "ends": dict(reasons.most_common()), "faults": faults}


async def reach_private() -> dict[str, AttackResult]:
    """Try to reach private addresses; return how each way ends."""
    with hostile_web(mebibytes=1) as web:
        return await reach(web)


def run(count: int, seed: int = 0) -> tuple[Tally, dict[str, Any]]:
    """Make all attempts; return their counts, and how the addresses end."""
    ways = asyncio.run(reach_private())
    tally = tally_of(ways)
    started = time.perf_counter()
    result = attack(addresses(count, seed))
    faults = result.pop("faults")
    tally.kinds["generated address"] = AttackCount(result["addresses"], faults)
    result["seconds"] = round(time.perf_counter() - started, 1)
    return tally, result | {"ways": {name: outcome.to_json() for name, outcome in ways.items()}}


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = attack_parser(__doc__)
    parser.add_argument("--attempts", type=int, default=1_000_000, help="number of generated addresses")
    parser.add_argument("--seed", type=int, default=0, help="seed of the addresses")
    options = parser.parse_args(words)
    tally, result = run(2_000 if options.small else options.attempts, options.seed)
    end("addresses", tally, options, **result)


if __name__ == "__main__":
    main()
