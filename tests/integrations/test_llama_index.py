"""LlamaIndex finds passages through the retriever, from a service and from this installation."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="the extra `llama-index` is not installed")

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine

from benchmarks.small_service import BATS
from citewell.integrations.llama_index import CitewellNodeRetriever


def test_passages_come_as_nodes(source: dict[str, Any]) -> None:
    nodes = CitewellNodeRetriever(k=2, **source).retrieve(BATS)
    assert 1 <= len(nodes) <= 2
    assert "echolocation" in nodes[0].text
    assert nodes[0].metadata["source"] == "https://notes.example/bats"
    assert nodes[0].score == nodes[0].metadata["score"]
    assert len({node.node_id for node in nodes}) == len(nodes)


async def test_a_query_engine_answers_from_them(source: dict[str, Any]) -> None:
    retriever = CitewellNodeRetriever(**source)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    response = await engine.aquery(BATS)
    assert response.source_nodes[0].metadata["title"] == "Bats"
    assert engine.query(BATS).source_nodes[0].node_id == response.source_nodes[0].node_id
