"""A retriever for LangChain (https://docs.langchain.com/oss/python/integrations/retrievers)."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr

from citewell.core.types import Reference
from citewell.integrations.holding import HeldPassages
from citewell.integrations.passages import chosen_passages, metadata_of


class CitewellRetriever(BaseRetriever):
    """Finds the best passages for a question, best first.

    They come from the service at `url`, with a `key` if it needs one, or from this installation: then
    `settings` may have those of `citewell.ask`, such as `{"search": "wikipedia"}`. The metadata of a document
    has its `source`, `title` and `score`, and if known its `section`, `date` and `page_number`. Fields may be
    changed later, and copies may have others.

    Raises `CitewellError`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    url: str = ""
    key: SecretStr = SecretStr("")
    k: int = 5
    collection: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    _held: tuple[dict[str, Any], HeldPassages] | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Choose the source of the passages, which is opened at the first question."""
        super().model_post_init(context)
        self._passages()

    def _passages(self) -> HeldPassages:
        """Return the passages that the fields ask for."""
        asked: dict[str, Any] = {
            "url": self.url,
            "key": self.key.get_secret_value(),
            "k": self.k,
            "collection": self.collection,
            "settings": dict(self.settings),
        }
        if self._held is None or self._held[0] != asked:
            self._held = asked, HeldPassages(chosen_passages(**asked))
        return self._held[1]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return list(map(_document, self._passages().find(query)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return list(map(_document, await self._passages().find_later(query)))


def _document(reference: Reference) -> Document:
    return Document(reference.text, metadata=metadata_of(reference))
