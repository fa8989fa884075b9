"""The benchmark of attacks, smaller: no page and no server does harm."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from benchmarks.hostile_pages import handmade, mutated, page_pdf, seeds

from benchmarks.hostile import addresses, documents, hostile_web, servers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 and /proc are Linux' own")


async def test_no_server_does_harm() -> None:
    with hostile_web(mebibytes=64) as web:
        outcomes = await addresses(web) | await servers(web, mebibytes=64)
    assert {name: outcome.faults for name, outcome in outcomes.items() if outcome.faults} == {}
    assert outcomes["address"].attacks == outcomes["address by a redirect"].attacks > 40
    assert outcomes["bomb of 64 MiB"].reasons == {"it is larger than 5,000,000 bytes": 4}
    assert max(outcome.grown_megabytes for outcome in outcomes.values()) < 100


async def test_no_document_does_harm() -> None:
    quick = (
        "100,000 nested tags",
        "NULs",
        "invalid UTF-8",
        "lone surrogates",
        "PDF, spaces",
        "PDF, pages",
    )
    outcome = await documents(
        {name: body for name, body in handmade(megabytes=500).items() if name.startswith(quick)}
    )
    assert (outcome.attacks, outcome.faults) == (6, [])
    assert outcome.pages >= 3


async def test_no_mutated_page_does_harm() -> None:
    data = os.environ.get("CITEWELL_DATA")
    sources = seeds(Path(data)) if data else [b"<p>Kites fly.</p>" * 50, page_pdf(b"BT (Kites fly.) Tj ET")]
    pages = {f"mutation {n}": body for n, body in enumerate(mutated(sources, 60, seed=1))}
    outcome = await documents(pages)
    assert (outcome.attacks, outcome.faults) == (60, [])
    assert outcome.pages + sum(outcome.reasons.values()) == 60


def test_mutations_can_be_repeated() -> None:
    sources = [b"<p>Kites fly.</p>" * 50]
    assert list(mutated(sources, 5, seed=7)) == list(mutated(sources, 5, seed=7))
    assert list(mutated(sources, 5, seed=7)) != list(mutated(sources, 5, seed=8))
