"""An answer as Markdown with footnotes, to be pasted elsewhere."""

from __future__ import annotations

import re

from citewell.core.markdown import harmless, is_code, laid_out
from citewell.core.text import squeeze
from citewell.core.types import STATUS_WORDS, Reference, Sentence
from citewell.server.api.schemas import AnswerResponse, ThreadResponse
from citewell.server.pages.links import site_of, web_address

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&$!])")
_LIST = re.compile(r"^(\d+)([.)])|^([-+=])")


def thread_as_markdown(thread: ThreadResponse) -> str:
    """Return a conversation as Markdown: its title, and its questions with their answers and footnotes."""
    asked = enumerate(thread.answers, start=1)
    answers = (as_markdown(answer, f"{number}-") for number, answer in asked)
    return "\n".join([f"# {_escaped(thread.title)}\n", *answers])


def as_markdown(answer: AnswerResponse, prefix: str = "") -> str:
    """Return a finished answer as Markdown: the question, the sentences, the notices, and cited sources.

    Sources are footnotes, whose names begin with `prefix`. Markdown's special characters are escaped in
    quotations and titles, and links in what a model wrote. A sentence that is not supported says so.
    """
    sentences = answer.sentences
    references = {reference.number: reference for reference in answer.references}
    cited = sorted({number for sentence in sentences for number in sentence.citations})
    text = laid_out((each.before and harmless(each.before), _sentence(each, prefix)) for each in sentences)
    notes = "\n".join(
        f"[^{prefix}{number}]: {_note(references[number])}" for number in cited if number in references
    )
    asked = f"Answered as: {_escaped(answer.rewritten)}" if answer.rewritten else ""
    notices = (f"*Note: {_escaped(notice)}*" for notice in answer.notices)
    written = text or _escaped(answer.answer or "")
    parts = (f"**{_escaped(answer.question)}**", asked, written, *notices, notes)
    return "\n\n".join(part for part in parts if part) + "\n"


def _sentence(sentence: Sentence, prefix: str) -> str:
    text = _escaped(sentence.text) if sentence.before is None else harmless(sentence.text)
    notes = "".join(f"[^{prefix}{number}]" for number in sentence.citations)
    about = notes if sentence.supported else f"{notes} *({STATUS_WORDS[sentence.status]})*"
    return f"{text}\n\n{about.strip()}" if is_code(sentence) and about else text + about


def _note(reference: Reference) -> str:
    title = _escaped(reference.title or reference.url)
    address = web_address(reference.url)
    if address is None:
        return f"{title} ({_escaped(site_of(reference.url))})"
    address = address.replace("<", "%3C").replace(">", "%3E")
    return f"[{title}](<{address}>), {_escaped(site_of(address))}"


def _escaped(text: str) -> str:
    escaped = _MARKS.sub(r"\\\1", squeeze(text))
    return _LIST.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", escaped)
