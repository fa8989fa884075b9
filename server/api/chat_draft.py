"""The beginning of an answer while the rest is being written: sentences whose citations are checked."""

from __future__ import annotations

import re

from citewell.core.events import Ranked, Token
from citewell.core.formulas import before_unfinished
from citewell.core.types import Reference, Sentence
from citewell.generator.citations.correction import check_citations, check_quotations, kept
from citewell.generator.orders.marking import evidence_of
from citewell.server.api.chat_text import sentences_text
from citewell.server.work.event_log import QuestionEvent

_UNFINISHED_MARK = re.compile(r"\s?\[[\d,; ]*$")
_SENTENCE_END = re.compile(r"[.?!:;\]\n。！？…]")
_NEAR = 12  # characters after the end of a sentence, in which the next one begins
AGAIN = "\n\nThe final answer, after another check: "


class Draft:
    """A filter of a generator's output that only lets text pass which is final.

    A stream cannot recall what it has sent. So a sentence is sent once the next one begins, with its checked
    citations, and nothing is sent before a sentence is supported: without one, there is no answer.
    """

    def __init__(self, threshold: float, *, drop_unsupported: bool, markdown: bool = False) -> None:
        """Check as the pipeline does, with its settings; `markdown` is what a language model writes."""
        self.sent = ""
        self._threshold = threshold
        self._drops = drop_unsupported
        self._markdown = markdown
        self._references: tuple[Reference, ...] = ()
        self._raw = ""

    def add(self, event: QuestionEvent) -> str:
        """Take an event of the question, and return the text that can be sent now, which is often empty."""
        if isinstance(event, Ranked):
            self._references = evidence_of(event.references)
        elif isinstance(event, Token) and not event.candidate:
            self._raw += event.text
            if _SENTENCE_END.search(self._raw[-_NEAR - len(event.text) :]):  # checking takes time
                return self._more(self._checked())
        return ""

    def end(self, text: str) -> str:
        """Return the rest of the whole answer."""
        return self._more(text) if text.startswith(self.sent) else AGAIN + text

    def _checked(self) -> str:
        sentences = self._sentences()[:-1]  # the last one may still grow
        if not any(sentence.supported for sentence in sentences):
            return ""
        shown = [place for place, each in enumerate(sentences) if each.supported or not self._drops]
        return sentences_text(kept(sentences, shown))

    def _sentences(self) -> tuple[Sentence, ...]:
        if not self._markdown:
            return check_quotations(self._raw, self._references, self._threshold)
        # A formula and a mark belong to the sentence before them.
        raw = before_unfinished(_UNFINISHED_MARK.sub("", self._raw))
        return check_citations(raw, self._references, self._threshold, markdown=True)

    def _more(self, text: str) -> str:
        if not text.startswith(self.sent):
            return ""
        more, self.sent = text[len(self.sent) :], text
        return more
