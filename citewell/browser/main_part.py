"""The part of an HTML page that the text browser shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree, html
from readability import Document
from readability.readability import Unparseable

from citewell.core.text import squeeze
from citewell.retriever.extract.visibility.pieces import clear_hidden

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_SHORT = 250  # characters; an article shorter than this is more likely a part that was mistaken for one
_MOSTLY = 0.6  # of the text of a page in links: it is a list of them, not an article
_LITTLE = 0.3  # of the text of a page that is not in links
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_UNSEEN = ("script", "style", "template", "select", "textarea", "object", "svg", "iframe")


def main_part(tree: HtmlElement) -> HtmlElement:
    """Return the main part of a page, by [readability-lxml](https://github.com/buriy/python-readability).

    Like Mozilla's Readability.js, which WebGPT used, and unlike readability-lxml itself, this keeps lists of
    links, linked headings and tables with headings in the article. A page that is mostly links, or in which
    almost nothing is found, is kept whole: with its menus, and without elements that browsers do not show.
    The shares were chosen on 500 pages of benchmarks/extraction.py to maximize the words of the main text.
    The tree is consumed.
    """
    etree.strip_elements(tree, etree.Comment, with_tail=False)
    _show_without_scripts(tree)
    etree.strip_elements(tree, *_UNSEEN, with_tail=False)
    article = _article(tree)
    whole = tree if tree.body is None else tree.body
    length, linked = _length(whole), sum(_length(link) for link in whole.iter("a"))
    enough = max(_SHORT, _LITTLE * (length - linked))
    if article is None or linked > _MOSTLY * length or _length(article) < enough:
        return whole
    return article


def _show_without_scripts(tree: HtmlElement) -> None:
    """Change the page to its form for a reader without JavaScript, who does not see what is hidden."""
    for element in tree.xpath("//noscript"):
        if _length(element) < _SHORT:  # a notice that asks for JavaScript, or an image
            element.drop_tree()
        else:
            element.tag = "div"
    clear_hidden(tree)
    most = _length(tree) / 2
    for element in tree.xpath("//*[@hidden or @style]"):
        if len(element.text_content()) > most and _length(element) > most:  # hidden until a script shows it
            element.attrib.pop("hidden", None)
            element.attrib.pop("style", None)


class _Article(Document):  # type: ignore[misc]
    """Readability's document. The article is kept as a tree in `html`."""

    def get_preserved_elements(self, node: HtmlElement) -> dict[HtmlElement, bool]:
        """Return the parts of the article that are kept regardless of their links."""
        kept: dict[HtmlElement, bool] = super().get_preserved_elements(node)
        parts = [*self.tags(node, "ul", "section"), *node.xpath(".//table[.//th or caption]")]
        return kept | {part: True for part in parts if self.class_weight(part) >= 0}

    def get_link_density(self, element: HtmlElement) -> float:
        """Return the share of links in the text, or 0 for headings, where it has no meaning."""
        return 0.0 if element.tag in _HEADINGS else super().get_link_density(element)

    def get_clean_html(self) -> str:
        """Return the article as HTML; Readability uses only its length."""
        return str(html.tostring(self.html, encoding="unicode"))


def _article(tree: HtmlElement) -> HtmlElement | None:
    document = _Article(tree)
    try:
        document.summary(html_partial=True)
    except Unparseable:  # whatever it was that failed
        return None
    return document.html


def _length(element: HtmlElement) -> int:
    return len(squeeze(element.text_content()))
