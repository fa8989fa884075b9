"""Pages of the kinds that people read, each with what surrounds its text, read by the packaged classifier."""

from __future__ import annotations

import pytest

from citewell.core.types import Page
from citewell.retriever.extract.page import extract

NAV = (
    '<header class="site-header"><a class="logo" href="/">The Site</a><nav class="main-nav"><ul>'
    '<li><a href="/news">News</a></li><li><a href="/shop">Shop</a></li><li><a href="/login">Sign in</a></li>'
    "</ul></nav></header>"
)
COOKIES = (
    '<div id="cookie-consent" class="cookie-banner" role="dialog"><p>We and our partners use cookies. You '
    "can change your preferences at any time.</p><button>Accept all</button><button>Reject</button></div>"
)
RELATED = (
    '<aside class="related-posts"><h3>You may also like</h3><ul>'
    + "".join(f'<li><a href="/{n}">Ten things about lanterns, part {n}</a></li>' for n in range(6))
    + "</ul></aside>"
)
FOOTER = (
    '<footer class="site-footer"><ul><li><a href="/about">About us</a></li>'
    '<li><a href="/privacy">Privacy</a></li></ul>'
    "<p>© 2024 The Site. All rights reserved. Subscribe to our newsletter.</p></footer>"
)
NOISE = ("Sign in", "cookies", "Accept all", "You may also like", "lanterns", "All rights reserved")

ARTICLE = [
    "A kite is a tethered craft with wing surfaces that react against the air to create lift and drag.",
    "Kites were known in China by the year 400 BC, when silk was used for sails and bamboo for the frame.",
    "In 1752 Benjamin Franklin flew one in a thunderstorm, or so he wrote in the Pennsylvania Gazette.",
    "Power kites of today pull boats, buggies and boards, and some of them make electricity.",
]


def read(
    body: str, title: str = "Kites - The Site", url: str = "https://site.example/kites", head: str = ""
) -> Page:
    markup = f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return extract(markup.encode(), url, "text/html; charset=utf-8")


def text_of(page: Page) -> str:
    return "\n".join(passage.text for passage in page.passages)


def surrounded(body: str) -> str:
    return NAV + COOKIES + body + RELATED + FOOTER


def without_noise(text: str) -> bool:
    return not any(noise in text for noise in NOISE)


def test_an_article_without_what_surrounds_it() -> None:
    paragraphs = "".join(f"<p>{paragraph}</p>" for paragraph in ARTICLE)
    page = read(surrounded(f'<main><article class="post"><h1>Kites</h1>{paragraphs}</article></main>'))
    assert page.title == "Kites"
    assert all(paragraph in text_of(page) for paragraph in ARTICLE)
    assert without_noise(text_of(page))


def test_an_article_of_bare_divisions() -> None:
    paragraphs = "<br><br>".join(ARTICLE)
    page = read(surrounded(f'<div class="content"><h1>Kites</h1><div>{paragraphs}</div></div>'))
    assert [passage.text for passage in page.passages] == ["\n".join(ARTICLE)]


def test_a_forum_thread_keeps_its_replies() -> None:
    posts = "".join(
        f'<div class="post" id="post-{n}"><div class="author"><a href="/u/{n}">flyer{n}</a> '
        f'<span>Posts: {n}7</span></div><div class="body"><p>Reply {n}: {ARTICLE[n % 4]} I would try a '
        "longer tail, it helped me.</p></div>"
        '<div class="buttons"><a href="#">Quote</a> <a href="#">Report</a></div></div>'
        for n in range(1, 8)
    )
    page = read(
        surrounded(f'<div class="thread"><h1>Why does my kite spin?</h1>{posts}</div>'),
        title="Why does my kite spin? - The Site forum",
        url="https://site.example/forum/t/why-does-my-kite-spin/123",
    )
    text = text_of(page)
    assert page.title == "Why does my kite spin?"
    assert all(f"Reply {n}:" in text for n in range(1, 8))
    assert "All rights reserved" not in text
    assert "Accept all" not in text


def test_documentation_keeps_its_listing_as_it_stands() -> None:
    code = "def lift(wind):\n    # newton\n    return   0.5 * wind ** 2"
    page = read(
        NAV + '<nav class="toc"><ul><li><a href="#install">Installation</a></li>'
        '<li><a href="#api">API</a></li></ul></nav>'
        + '<main role="main"><div class="document"><h1>kitelib</h1>'
        f"<p>The library kitelib computes the forces on a kite. {ARTICLE[0]}</p><h2>API</h2>"
        f"<p>The function lift takes the speed of the wind in m/s:</p><pre><code>{code}</code></pre>"
        "<p>It returns the lift in newton for a kite of one square metre.</p></div></main>" + FOOTER,
        title="kitelib documentation",
        url="https://site.example/docs/kitelib/api.html",
    )
    text = text_of(page)
    assert f"in m/s:\n{code}" in text
    assert page.passages[-1].headings == ("API",)
    assert "All rights reserved" not in text


def test_a_product_keeps_its_description() -> None:
    page = read(
        surrounded(
            '<main><div class="product"><h1>Delta kite 210</h1><span class="price">€39.90</span>'
            "<button>Add to cart</button><div class='description'>"
            f"<p>A stable kite for beginners. {ARTICLE[0]}</p>"
            f"<p>It comes with a line of 50 metres and a bag. {ARTICLE[3]}</p></div>"
            "</div></main>"
        ),
        title="Delta kite 210 | The Site",
        url="https://site.example/product/delta-kite-210",
        head='<meta property="og:type" content="product">',
    )
    text = text_of(page)
    assert page.title == "Delta kite 210"
    assert "A stable kite for beginners." in text
    assert without_noise(text)


def test_a_text_that_stands_in_the_page_twice_is_read_once() -> None:
    paragraphs = "".join(f"<p>{paragraph}</p>" for paragraph in ARTICLE)
    page = read(
        f'<div class="desktop-only"><article><h1>Kites</h1>{paragraphs}</article></div>'
        f'<div class="mobile-only" style="display:none"><article><h1>Kites</h1>{paragraphs}</article></div>'
    )
    assert all(text_of(page).count(paragraph) == 1 for paragraph in ARTICLE)


def test_an_article_that_only_the_structured_data_holds() -> None:
    body = "\\n\\n".join(ARTICLE)
    data = (
        '{"@context": "https://schema.org", "@type": "NewsArticle", "headline": "Kites", '
        f'"author": {{"name": "Ann Lee"}}, "datePublished": "2024-03-05T08:00:00Z", "articleBody": "{body}"}}'
    )
    page = read('<div id="app"></div>', head=f'<script type="application/ld+json">{data}</script>')
    assert [passage.text for passage in page.passages] == ["\n".join(ARTICLE)]
    assert (page.author, page.date) == ("Ann Lee", "2024-03-05")


LANGUAGES = {
    "Chinese": (
        "风筝起源于中国，最早用于军事通信，后来成为民间的游戏。人们用"
        "竹子做骨架，用丝绸或纸做面，春天的时候到郊外去放。"
    ),
    "Japanese": (
        "凧は風の力を利用して空中に揚げる玩具である。竹の骨組みに紙や"
        "布を張って作られ、正月に揚げる風習が各地に残っている。"
    ),
    "Thai": ("ว่าวเป็นเครื่องเล่นชนิดหนึ่งที่ลอยอยู่ในอากาศได้ด้วยแรงลม คนไทยเล่นว่าวกันมาตั้งแต่สมัยสุโขทัย และนิยมเล่นกันในฤดูร้อน"),
    "Arabic": (
        "الطائرة الورقية هي جسم يطير في الهواء مربوط بخيط، وقد صنعت لأول مرة في الصين من الحرير وال"
        "خيزران قبل أكثر من ألفي عام."
    ),
    "Hebrew": (
        "עפיפון הוא כלי טיס הקשור בחוט אל הקרקע, והוא עף בזכות הרוח. העפיפונים הראשונים נבנו בסין מ"
        "משי ומבמבוק לפני יותר מאלפיים שנה."
    ),
    "Russian": (
        "Воздушный змей поднимается в воздух силой ветра и удерживается на нити. Первые змеи постро"
        "или в Китае из шёлка и бамбука."
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_in_other_scripts(language: str) -> None:
    paragraphs = [f"{number}. {LANGUAGES[language]}" for number in range(1, 7)]
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    page = read(surrounded(f'<main><article class="post"><h1>Kites</h1>{body}</article></main>'))
    text = text_of(page)
    assert all(paragraph in text for paragraph in paragraphs)
    assert without_noise(text)


def test_a_list_of_links_is_better_than_nothing() -> None:
    page = read("<ul>" + "".join(f'<li><a href="/{n}">Kite number {n}</a></li>' for n in range(30)) + "</ul>")
    assert "Kite number 29" in text_of(page)
