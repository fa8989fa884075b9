"""The benchmark of the first sentences of quoted definitions, on a few articles."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.answer_questions import BearingQuestion
from benchmarks.lead_sentences import ask, summary
from citewell.core.row_log import RowLog
from citewell.core.settings import load_settings
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument

YEAST = "Yeast is a fungus of a single cell that turns sugar into alcohol and carbon dioxide."
BREAD = "Bread is a food made from flour and water, and baked. Yeast makes it rise, and salt gives it taste."


def test_a_quoted_definition_begins_with_its_lead(tmp_path: Path) -> None:
    texts = {"Yeast": f"{YEAST} Bakers use it since the gas makes bread rise.", "Bread": BREAD}
    documents = [
        SourceDocument(f"https://wiki.example/{title}", text.encode(), "text/plain", title)
        for title, text in texts.items()
    ]
    with indexing(EmbeddedCatalog(tmp_path), "tiny") as indexer:
        index_documents(indexer, "tiny", documents)
    settings = load_settings(
        {"data_dir": tmp_path, "search.collection": "tiny", "generator.name": "extractive"}
    )
    details = tmp_path / "details.jsonl"
    asked = [
        BearingQuestion(text="What is yeast?", origin="d", lead=YEAST, url="https://wiki.example/Yeast"),
        # The article on bread is not that on yeast, nor its lead the one that is asked for.
        BearingQuestion(text="What is bread?", origin="d", lead=YEAST, url="https://wiki.example/Yeast"),
        BearingQuestion(
            text="What is a qanat?", origin="d", lead="A qanat", url="https://wiki.example/Qanat"
        ),
    ]
    asyncio.run(ask(settings, asked[:1], details))
    asyncio.run(ask(settings, asked, details))
    rows = RowLog(details).rows
    assert [row["question"] for row in rows] == [question.text for question in asked]
    assert [(row["lead"], row["of the article"], row["no answer"]) for row in rows] == [
        (True, True, False),
        (False, False, False),
        (False, False, True),
    ]
    assert rows[0]["first"] == YEAST
    found = summary(rows)
    assert {name: round(share["value"], 2) for name, share in found.items()} == {
        "lead": 0.33,
        "of the article": 0.33,
        "no answer": 0.33,
    }
    assert all(share["low"] <= share["value"] <= share["high"] for share in found.values())
