"""An answer as HTML, for notebooks and files. All text is escaped, and only web addresses become links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from citewell.core.addresses import shown_address
from citewell.core.markdown import is_code, sentences_html
from citewell.core.types import LEFT_OUT, STATUS_WORDS, shown_references

if TYPE_CHECKING:
    from citewell.core.types import Answer, Reference, Sentence
_PAGE = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ max-width: 42rem; margin: 2rem auto; padding: 0 1rem; font: 1.0625rem/1.6 Georgia, serif; }}
mtd.right {{ text-align: right; justify-items: end; padding-right: 0; }}
mtd.left {{ text-align: left; justify-items: start; }}
mtd.right + mtd.left {{ padding-left: 0; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def answer_page(answer: Answer) -> str:
    """Return `answer_html` as a page of its own."""
    return _PAGE.format(title=escape(answer.question), body=answer_html(answer))


def answer_html(answer: Answer) -> str:
    """Return the sentences with their citations, the cited references with their passages, and the notices.

    A follow-up question is followed by the one that was answered in its place. Without an answer, all
    references are shown.
    """
    known = {reference.number: reference for reference in answer.references}
    shown = shown_references(answer.sentences, answer.references)
    text = _text(answer.sentences, known) or f"<p>{escape(answer.answer)}</p>"
    asked = f"<p>Answered as: {escape(answer.rewritten)}</p>" if answer.rewritten else ""
    parts = [f"<p><b>{escape(answer.question)}</b></p>", asked, text]
    if shown:
        parts.append(f"<ol>{''.join(_references(shown))}</ol>")
    parts += [f"<p><small>Note: {escape(notice)}</small></p>" for notice in answer.notices]
    return f"<div>{''.join(parts)}</div>"


def _text(sentences: Sequence[Sentence], known: Mapping[int, Reference]) -> str:
    shown, end = sentences_html(sentences)
    pieces = zip(shown, sentences, strict=True)
    return "".join(each.before + _sentence(each.html, of, known) for each, of in pieces) + end.strip()


def _sentence(text: str, sentence: Sentence, known: Mapping[int, Reference]) -> str:
    if not sentence.supported:
        part = "div" if is_code(sentence) else "span"
        return f'<{part} style="opacity: 0.6">{text} ({escape(STATUS_WORDS[sentence.status])})</{part}>'
    marks = "".join(_mark(number, known.get(number)) for number in sentence.citations)
    return f"{text}{f'<sup>{marks}</sup>' if marks else ''}"


def _mark(number: int, reference: Reference | None) -> str:
    return f"[{number}]" if reference is None else _link(reference.url, f"[{number}]", reference.place)


def _references(references: Iterable[Reference]) -> Iterator[str]:
    for reference in references:
        address = shown_address(reference.url)
        about = ", ".join(filter(None, (reference.place or address, reference.dated)))
        yield (
            f'<li value="{reference.number}">{_link(reference.url, about, address)}'
            f'<details><summary>Passage</summary><div style="white-space: pre-wrap">{escape(reference.text)}'
            f"</div>{_orders(reference)}</details></li>"
        )


def _orders(reference: Reference) -> str:
    return "".join(f"<p><small>{LEFT_OUT}: {escape(order)}</small></p>" for order in reference.orders)


def _link(url: str, text: str, title: str) -> str:
    if not url.startswith(("https://", "http://")):
        return f'<span title="{escape(title)}">{escape(text)}</span>'
    address = escape(quote(url, safe="!#$%&'()*+,/:;=?@[]~"))
    return (
        f'<a href="{address}" title="{escape(title)}" target="_blank" rel="noopener noreferrer">'
        f"{escape(text)}</a>"
    )
