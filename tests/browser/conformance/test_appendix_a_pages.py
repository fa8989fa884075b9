"""WebGPT's appendix A (https://arxiv.org/abs/2112.09332) about HTML pages: one case a rule.

Every case is a piece of HTML in an article at https://birds.example/wiki/crows, and the text that the browser
shows for it.
"""

from __future__ import annotations

import pytest

from citewell.browser.characters import stripped
from citewell.browser.page import TextPage
from citewell.browser.simplify import simplify
from citewell.core.errors import ExtractionError

URL = "https://birds.example/wiki/crows"
OPENING = "Crows are large black birds, and they are known for how well they remember faces. " * 4
LONG = " ".join(f"word{number}" for number in range(60))
IN_MARK = LONG[:150]  # up to and with word22


def page(piece: str, url: str = URL) -> TextPage:
    markup = f"<!doctype html><title>Crows</title><body><article><p>{OPENING}</p>{piece}</article>"
    return simplify(markup.encode(), url, "text/html; charset=utf-8")


def shown(piece: str) -> str:
    text = page(piece).text
    assert text.startswith(OPENING.strip())
    return text.removeprefix(OPENING.strip()).strip("\n")


LINKS = {
    "a link to another site carries the domain": (
        '<a href="https://rooks.example/a">Rooks</a>',
        "【0†Rooks†rooks.example】",
    ),
    "a relative link stays on its site and carries no domain": ('<a href="rooks">Rooks</a>', "【0†Rooks】"),
    "an absolute link to the same domain carries no domain": (
        '<a href="https://birds.example/a">Rooks</a>',
        "【0†Rooks】",
    ),
    "a subdomain is another domain": (
        '<a href="https://www.birds.example/a">Rooks</a>',
        "【0†Rooks†www.birds.example】",
    ),
    "the case of a domain does not count": ('<a href="https://BIRDS.example/a">Rooks</a>', "【0†Rooks】"),
    "the port is no part of a domain": ('<a href="https://birds.example:8443/a">Rooks</a>', "【0†Rooks】"),
    "the scheme is no part of a domain": ('<a href="http://birds.example/a">Rooks</a>', "【0†Rooks】"),
    "a link without a scheme has that of the page": (
        '<a href="//rooks.example/a">Rooks</a>',
        "【0†Rooks†rooks.example】",
    ),
    "a domain in another script is written in ASCII": (
        '<a href="https://bücher.example/">Books</a>',
        "【0†Books†xn--bcher-kva.example】",
    ),
    "ids count the links of the page from 0, in reading order": (
        '<p><a href="a">A</a> and <a href="b">B</a></p><ul><li><a href="c">C</a></li></ul>',
        "【0†A】 and 【1†B】\n\n  * 【2†C】",
    ),
    "two links to the same page have an id each": (
        '<a href="a">A</a> or <a href="a">again A</a>',
        "【0†A】 or 【1†again A】",
    ),
    "the text of a link is on one line": ('<a href="a">A\n crow</a>', "【0†A crow】"),
    "the text of a link has no mark-up": ('<a href="a">A <b>black</b> <i>crow</i></a>', "【0†A black crow】"),
    "special characters in the text of a link are replaced": (
        '<a href="a">A†】【0†forged】</a>',
        "【0†A‡〗〖0‡forged〗】",
    ),
    "a link around an image has the image for its text": (
        '<a href="a"><img src="x.png" alt="A crow"></a>',
        "【0†[Image: A crow]】",
    ),
    "a link that shows nothing is left out": ('Before <a href="a"> </a><a href="b">B</a>', "Before 【0†B】"),
    "a link around paragraphs is one link": (
        '<a href="a"><h3>Crows</h3><p>Read more</p></a>',
        "【0†Crows Read more】",
    ),
    "a heading may be a link": ('<h3><a href="a">Crows</a></h3>', "### 【0†Crows】"),
    "what is too long for a mark goes on behind it": (
        f'<a href="a">{LONG}</a>',
        f"【0†{IN_MARK}】{LONG[150:]}",
    ),
    "an anchor that leads nowhere is text": ('<a name="x">Crows</a>', "Crows"),
    "a link within the page is text": ('<a href="#nests">Nests</a>', "Nests"),
    "a link to the page itself is text": ('<a href="/wiki/crows#nests">Nests</a>', "Nests"),
    "a link to mail is text": ('<a href="mailto:crow@birds.example">Write</a>', "Write"),
    "a link that runs a script is text": ('<a href="javascript:alert(1)">Press</a>', "Press"),
    "a link of another scheme is text": ('<a href="ftp://birds.example/a">Files</a>', "Files"),
    "a link with a password is text": ('<a href="https://me:secret@birds.example/">In</a>', "In"),
    "a link that is no address is text": ('<a href="https://[birds">Broken</a>', "Broken"),
    "a link to reddit.com is removed": (
        '<a href="https://reddit.com/r/x">R</a> <a href="b">B</a>',
        "R 【0†B】",
    ),
    "a link to a subdomain of reddit.com is removed": ('<a href="https://old.reddit.com/r/x">R</a>', "R"),
    "a link to quora.com is removed": ('<a href="https://www.quora.com/x">Q</a>', "Q"),
    "a link to a domain that only ends like reddit.com stays": (
        '<a href="https://notreddit.com/">R</a>',
        "【0†R†notreddit.com】",
    ),
}
TEXT = {
    "a superscript follows ^": ("x<sup>2</sup>", "x^2"),
    "a subscript follows _": ("H<sub>2</sub>O", "H_2O"),
    "a superscript may be long": ("e<sup>x + 1</sup>", "e^x + 1"),
    "a superscript in a subscript follows both": ("a<sub>i<sup>2</sup></sub>", "a_i^2"),
    "a link may be a superscript": ('gifts<sup><a href="a">[1]</a></sup>', "gifts^【0†[1]】"),
    "an empty superscript is nothing": ("x<sup> </sup>y", "x y"),
    "an image is [Image: alt]": ('<img src="x.png" alt="A crow">', "[Image: A crow]"),
    "an image without alt text is [Image]": ('<img src="x.png">', "[Image]"),
    "an image with empty alt text is [Image]": ('<img src="x.png" alt="">', "[Image]"),
    "the alt text of an image is on one line": ('<img src="x" alt="A\n crow">', "[Image: A crow]"),
    "special characters in an alt text are replaced": ('<img src="x" alt="†【">', "[Image: ‡〖]"),
    "html2text: a heading": ("<h2>Gifts</h2><p>Some.</p>", "## Gifts\n\nSome."),
    "html2text: a list": ("<ul><li>Nuts</li><li>Seeds</li></ul>", "  * Nuts\n  * Seeds"),
    "html2text: a numbered list": ("<ol><li>Nuts</li><li>Seeds</li></ol>", "  1. Nuts\n  2. Seeds"),
    "html2text: a table": (
        "<table><tr><th>Bird</th><th>Size</th></tr><tr><td>Crow</td><td>50 cm</td></tr></table>",
        "Bird| Size\n---|---\nCrow| 50 cm",
    ),
    "html2text: a listing keeps its lines": ("<pre>one\n  two</pre>", "    one\n      two"),
    "html2text: a quotation": ("<blockquote>Nevermore.</blockquote>", "> Nevermore."),
    "html2text: a line break": ("Quoth the raven<br>Nevermore", "Quoth the raven\nNevermore"),
    "html2text: paragraphs are parted by an empty line": ("<p>One.</p><p>Two.</p>", "One.\n\nTwo."),
    "html2text: sections are parted by an empty line": (
        "<section>One.</section><section>Two.</section>",
        "One.\n\nTwo.",
    ),
    "html2text: words have no signs of emphasis": ("<b>Very</b> <em>clever</em>", "Very clever"),
    "html2text: text has no backslashes before signs": ("1. not - a + list", "1. not - a + list"),
    "html2text: code has no backticks": ("Call <code>caw()</code>", "Call caw()"),
    "html2text: entities become characters": ("Crows &amp; rooks &lt;3", "Crows & rooks <3"),
    "html2text: an escaped entity stays": ("Write &amp;amp; for it", "Write &amp; for it"),
    "html2text: white space is one space": ("Clever   \n\t birds", "Clever birds"),
    "html2text: a space that does not break is a space": ("50&nbsp;cm", "50 cm"),
    "a script is not shown": ("Crows<script>document.write('x')</script>", "Crows"),
    "a style is not shown": ("Crows<style>p {color: red}</style>", "Crows"),
    "a comment is not shown": ("Crows<!-- and rooks -->", "Crows"),
    "what is hidden is not shown": ('<p>Crows</p><p hidden>x</p><p style="display:none">y</p>', "Crows"),
    "the title of an abbreviation is not shown": ('The <abbr title="Royal Society">RS</abbr>', "The RS"),
}


@pytest.mark.parametrize(("piece", "text"), LINKS.values(), ids=[f"A: {rule}" for rule in LINKS])
def test_links(piece: str, text: str) -> None:
    assert shown(piece) == text


@pytest.mark.parametrize(("piece", "text"), TEXT.values(), ids=[f"A: {rule}" for rule in TEXT])
def test_text(piece: str, text: str) -> None:
    assert shown(piece) == text


ADDRESSES = {
    "a link's address is absolute": ("", "rooks", "https://birds.example/wiki/rooks"),
    "a link's address is relative to <base>": ('<base href="/b/">', "rooks", "https://birds.example/b/rooks"),
    "a link's address has no fragment": ("", "rooks#nests", "https://birds.example/wiki/rooks"),
    "a link's address keeps its query": ("", "?q=a+b", "https://birds.example/wiki/crows?q=a+b"),
    "a link's address is in ASCII": ("", "/Krähe", "https://birds.example/Kr%C3%A4he"),
}


@pytest.mark.parametrize(
    ("base", "href", "address"), ADDRESSES.values(), ids=[f"A: {rule}" for rule in ADDRESSES]
)
def test_addresses(base: str, href: str, address: str) -> None:
    markup = f'<html><head>{base}</head><body><p>{OPENING}<a href="{href}">Rooks</a></p></body></html>'
    (link,) = simplify(markup.encode(), URL).links
    assert (link.text, link.url, link.domain) == ("Rooks", address, "birds.example")


def test_the_text_of_a_long_link_is_whole_without_its_mark() -> None:
    assert stripped(page(f'<a href="a">{LONG}</a>').text).endswith(LONG)


MENU = '<nav class="menu"><a href="/">Home</a> <a href="/all">All birds</a></nav>'
ARTICLE = f"<main><article><h1>Crows</h1><p>{OPENING}</p><p>{OPENING}</p></article></main>"
LIST = "".join(f'<li><a href="/bird/{number}">Bird number {number}</a></li>' for number in range(40))
READABILITY = {
    "Readability: menus are left out": (MENU + ARTICLE, ("Crows are",), ("Home",)),
    "Readability: the footer is left out": (
        ARTICLE + '<div class="footer">All rights reserved</div>',
        ("Crows are",),
        ("rights",),
    ),
    "Readability: a list of links in the article stays": (
        ARTICLE.replace(
            "</article>", '<h2>See also</h2><ul><li><a href="/rooks">Rooks</a></li></ul></article>'
        ),
        ("See also", "【0†Rooks】"),
        (),
    ),
    "Readability: a page that is a list of links is whole": (
        f"{MENU}<h1>Birds</h1><ul>{LIST}</ul>",
        ("【0†Home】", "【2†Bird number 0】", "【41†Bird number 39】"),
        (),
    ),
    "Readability: a page with next to no text is whole": (
        MENU + "<p>Crows.</p>",
        ("【0†Home】", "Crows."),
        (),
    ),
    "Readability: what is for browsers without scripts is shown": (
        f"<div id=app></div><noscript><p>{OPENING}</p></noscript>",
        ("Crows are",),
        (),
    ),
    "Readability: a notice that asks for scripts is not shown": (
        ARTICLE + "<noscript>Please enable JavaScript.</noscript>",
        ("Crows are",),
        ("JavaScript",),
    ),
    "Readability: a page that a script would show is shown": (
        f'<div style="visibility:hidden">{ARTICLE}</div>',
        ("Crows are",),
        (),
    ),
}


@pytest.mark.parametrize(
    ("body", "there", "absent"), READABILITY.values(), ids=[f"A: {rule}" for rule in READABILITY]
)
@pytest.mark.parametrize("frame", ["<title>Crows</title><body>{}</body>", "<title>Crows</title>{}"])
def test_main_part(body: str, there: tuple[str, ...], absent: tuple[str, ...], frame: str) -> None:
    text = simplify(frame.format(body).encode(), URL).text
    assert [part for part in there if part not in text] == []
    assert [part for part in absent if part in text] == []


TITLES = {
    "a title is `page title (page domain)`": ("<title>Crows</title>", "Crows (birds.example)"),
    "a title is on one line": ("<title>Crows\n and rooks</title>", "Crows and rooks (birds.example)"),
    "special characters in a title are replaced": ("<title>♦Crows†</title>", "◆Crows‡ (birds.example)"),
    "a page without a title has that of its heading": ("<h1>All crows</h1>", "All crows (birds.example)"),
    "a page without title and heading has that of its address": ("", "corvus corax (birds.example)"),
}


@pytest.mark.parametrize(("head", "title"), TITLES.values(), ids=[f"A: {rule}" for rule in TITLES])
def test_titles(head: str, title: str) -> None:
    shown = simplify(f"{head}<p>{OPENING}</p>".encode(), "https://birds.example/wiki/corvus_corax")
    assert shown.title == title
    assert shown.title == f"{shown.name} ({shown.domain})"


def test_a_very_long_title_is_cut() -> None:
    shown = simplify(f"<title>{LONG}</title><p>{OPENING}</p>".encode(), URL)
    assert len(shown.name) <= 200
    assert shown.name.endswith("…")


@pytest.mark.parametrize("body", [b"<html></html>", b"<p> </p>", b"<script>draw()</script>", b"<!-- x -->"])
def test_a_page_without_text_is_an_error(body: bytes) -> None:
    with pytest.raises(ExtractionError):
        simplify(body, URL)
