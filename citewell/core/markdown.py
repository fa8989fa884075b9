"""The Markdown around the sentences that a model wrote: joined again, made harmless, and as HTML with MathML.

`Sentence.before` is the Markdown between a sentence and the one before, such as the bullet of an item. It is
None for a literal text, such as a quotation, whose asterisks are asterisks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.formulas import formula_at, held, mathml, restored, without_tags

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

    from citewell.core.types import Sentence

FENCE = re.compile(r"(`{3,}|~{3,})")
"""The beginning of the text of a sentence that is code."""
_INLINE_CODE = re.compile(r"((?<![`\\])(`+)(?!`).+?(?<!`)\2(?!`))", re.DOTALL)
_BACKTICK = re.compile(r"(\\*)`")
_TAG = re.compile(r"(\\*)<(?=[A-Za-z/!?])")  # together with a backslash that would escape ours
_CELL_END = re.compile(r"(?<!\\)\|")
_PLACE = re.compile("\ue000\\d+\ue001")
_PLACE_SIGNS = re.compile("[\ue000\ue001]")


def is_code(sentence: Sentence) -> bool:
    """Return whether a sentence is a block of code."""
    return sentence.before is not None and FENCE.match(sentence.text) is not None


def laid_out(parts: Iterable[tuple[str | None, str]]) -> str:
    """Join texts, each with what stands before it; literal ones by spaces."""
    joined = ""
    for before, text in parts:
        joined += (" " if joined else "") if before is None else before
        joined += text
    return joined.strip("\n")


def before_next(dropped: str | None, own: str | None) -> str | None:
    """Return what stands before a sentence if the one before it, after `dropped`, is left out.

    The first sentence that is left of a paragraph, a list or a table opens it.
    """
    if dropped is None or own is None or own.startswith("\n\n") or dropped == " ":
        return own
    if own == " " or dropped.endswith(own):
        return dropped
    return f"\n{own}" if dropped.startswith("\n\n") else own


def harmless(markdown: str) -> str:
    """Escape links, images and HTML, except in code and formulas, of what a model wrote."""
    if FENCE.match(markdown):
        return markdown
    pieces = _INLINE_CODE.split(markdown)  # every third one is code, and the one after it its backticks alone
    return "".join(
        piece if place % 3 == 1 else _harmless_text(piece)
        for place, piece in enumerate(pieces)
        if place % 3 != 2
    )


def _harmless_text(piece: str) -> str:
    text, formulas = held(piece)
    escaped = _BACKTICK.sub(r"\1\1\`", without_links(text))
    return restored(escaped, [without_tags(formula) for formula in formulas])


def without_links(text: str) -> str:
    """Escape links, images and HTML: a page or a model must not decide what a reader's computer loads."""
    return _TAG.sub(r"\1\1\\<", text.replace("](", r"]\("))


class SentenceHtml(NamedTuple):
    """A sentence as HTML, and what stands before it, which begins or continues a block such as a list."""

    before: str
    html: str


def sentences_html(sentences: Sequence[Sentence]) -> tuple[list[SentenceHtml], str]:
    """Return sentences as HTML, and what ends the last block.

    Of a row of a table, the last cell is the sentence's own, and the others stand before it.
    """
    skeleton, texts, in_row = [], [], False
    for number, sentence in enumerate(sentences):
        cells, before = [sentence.text], sentence.before
        if before is not None:
            in_row = before.endswith("| ") or (in_row and before == " ")
            cells = _CELL_END.split(sentence.text) if in_row else cells
            before = _PLACE_SIGNS.sub("", before)
        first = _PLACE_SIGNS.sub("", "".join(f"{cell}|" for cell in cells[:-1]))
        skeleton.append((before, f"{first}\ue000{number}\ue001"))
        texts.append(cells[-1].strip())
    html = _blocks_html(laid_out(skeleton))
    for number, sentence in enumerate(sentences):
        if is_code(sentence):
            html = html.replace(f"<p>\ue000{number}\ue001</p>", f"\ue000{number}\ue001")
    *befores, end = _PLACE.split(html)
    if len(befores) < len(sentences):  # a renderer leaves out the cells that a header does not have
        return sentences_html([replace(each, before=None) for each in sentences])
    each = zip(befores, sentences, texts, strict=True)
    return [SentenceHtml(before, _html(sentence, text)) for before, sentence, text in each], end


def _blocks_html(markdown: str) -> str:
    tokens = _renderer().parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h2"  # below the question
    return str(_renderer().renderer.render(tokens, _renderer().options, {}))


def _html(sentence: Sentence, text: str) -> str:
    if sentence.before is None:
        return escape(text)
    if not is_code(sentence):
        return str(_renderer().renderInline(text))
    indentation = len(sentence.before) - len(sentence.before.rstrip(" "))
    return str(_renderer().render(re.sub(rf"(?m)^ {{0,{indentation}}}", "", text)))


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    renderer.disable(["link", "image", "autolink"]).inline.ruler.before("escape", "formula", _formula)
    renderer.add_render_rule("formula", lambda _, tokens, place, options, env: tokens[place].content)
    return renderer


def _formula(state: StateInline, silent: bool) -> bool:
    """Read a formula, as a rule of the renderer."""
    found = formula_at(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = mathml(found)
    state.pos += len(found.source)
    return True
