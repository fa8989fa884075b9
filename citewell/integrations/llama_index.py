"""A retriever for LlamaIndex (https://developers.llamaindex.ai/python/framework/module_guides/querying/retriever/)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from citewell.core.types import Passage, Reference
from citewell.integrations.holding import HeldPassages
from citewell.integrations.passages import chosen_passages, metadata_of


class CitewellNodeRetriever(BaseRetriever):
    """Finds the best passages for a question as nodes, best first.

    They come from the service at `url`, with a `key` if it needs one, or from this installation: then
    `settings` may have those of `citewell.ask`, such as `{"search": "wikipedia"}`. The metadata of a node
    has its `source`, `title` and `score`, and if known its `section`, `date` and `page_number`.

    Raises `CitewellError`.
    """

    def __init__(
        self,
        *,
        url: str = "",
        key: str = "",
        k: int = 5,
        collection: str | None = None,
        settings: Mapping[str, Any] = MappingProxyType({}),
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Choose the source of the passages, which is opened at the first question."""
        super().__init__(callback_manager=callback_manager)
        self._passages = HeldPassages(
            chosen_passages(url=url, key=key, k=k, collection=collection, settings=settings)
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(map(_node, self._passages.find(query_bundle.query_str)))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(map(_node, await self._passages.find_later(query_bundle.query_str)))


def _node(reference: Reference) -> NodeWithScore:
    passage = Passage(reference.url, reference.title, reference.text)
    node = TextNode(text=reference.text, id_=passage.id, metadata=metadata_of(reference))
    return NodeWithScore(node=node, score=reference.score)
