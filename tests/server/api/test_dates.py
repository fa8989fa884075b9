"""When the page of a source was published: kept by collections, and told by whatever shows a source."""

from __future__ import annotations

from pathlib import Path

from benchmarks.small_service import BATS
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from tests.server.api.conftest import Start

_PAGE = """<html><head><title>Bats</title>
<meta property="article:published_time" content="2024-05-06T07:08:09Z"></head>
<body><article><h1>Bats</h1><p>Bats find their way in the dark by echolocation: a bat sends out short calls
and listens to the echoes that come back from trees and insects.</p></article></body></html>"""


def test_the_date_of_a_source_is_told(start: Start, tmp_path: Path) -> None:
    with indexing(EmbeddedCatalog(tmp_path), "dated") as indexer:
        index_documents(indexer, "web", [SourceDocument("https://notes.example/bats", _PAGE.encode())])
    service = start(data_dir=tmp_path, search__collection="dated")
    answer = service.ask(BATS).json()
    found = service.client.post("/v1/retrieve", json={"question": BATS}).json()
    chat = service.client.post(
        "/v1/chat/completions", json={"model": "citewell", "messages": [{"role": "user", "content": BATS}]}
    ).json()
    for references in (answer["references"], found["references"], chat["citewell"]["references"]):
        assert [reference["date"] for reference in references] == ["2024-05-06"]
    page = service.client.get(f"/answers/{answer['id']}").text
    assert '<time datetime="2024-05-06">6 May 2024</time>' in page
