"""An answer as plain text with numbered sources, to be pasted elsewhere."""

from __future__ import annotations

from citewell.core.markdown import laid_out
from citewell.core.text import squeeze
from citewell.core.types import STATUS_WORDS, Reference, Sentence, marked, shown_references
from citewell.server.api.schemas import AnswerResponse
from citewell.server.pages.links import site_of, web_address


def as_plain_text(answer: AnswerResponse) -> str:
    """Return a finished answer as text: the question, the sentences with their marks, and the cited sources.

    A follow-up question is followed by the one that was answered in its place. A sentence that is not
    supported says so.
    """
    sentences = answer.sentences
    text = laid_out((each.before, _sentence(each)) for each in sentences) or answer.answer or ""
    cited = shown_references(sentences, answer.references) if sentences else []
    asked = f"Answered as: {answer.rewritten}" if answer.rewritten else ""
    parts = (answer.question, asked, text, "\n".join(map(_source, cited)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _sentence(sentence: Sentence) -> str:
    text = marked(sentence, sentence.text)
    return text if sentence.supported else f"{text} ({STATUS_WORDS[sentence.status]})"


def _source(reference: Reference) -> str:
    place = web_address(reference.url) or site_of(reference.url)
    title = squeeze(reference.title)
    return f"[{reference.number}] " + (f"{title}, {place}" if title and title != place else place)
