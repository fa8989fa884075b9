"""Links: which count, in which form, and what a page may wish."""

from __future__ import annotations

import pytest
from yarl import URL

from citewell.retriever.extract.links import Leads, canonical, permitted, read_leads

PAGE = "https://a.example/docs/start"


def links(html: str, content_type: str = "text/html") -> list[str]:
    return list(read_leads(html.encode(), PAGE, content_type).links)


@pytest.mark.parametrize(
    ("href", "link"),
    [
        ("next", "https://a.example/docs/next"),
        ("../up?x=1&amp;y=2#part", "https://a.example/up?x=1&y=2"),
        ("/", "https://a.example/"),
        ("", PAGE),
        ("#part", PAGE),
        ("?page=2", f"{PAGE}?page=2"),
        ("  /spaces \n", "https://a.example/spaces"),
        ("/a b/é", "https://a.example/a%20b/%C3%A9"),
        ("//B.example:443", "https://b.example/"),
        ("HTTPS://A.Example:8443/x/../y", "https://a.example:8443/y"),
    ],
)
def test_a_link_in_its_canonical_form(href: str, link: str) -> None:
    assert links(f'<p><a href="{href}">x</a></p>') == [link]


@pytest.mark.parametrize(
    "href",
    [
        "mailto:a@a.example",
        "javascript:void(0)",
        "tel:+123",
        "data:text/html,x",
        "ftp://a.example/",
        "file:///etc/passwd",
        "https://user:password@a.example/",
        "https://a.example:99999/",
        "https://[::1",
    ],
)
def test_no_links(href: str) -> None:
    assert links(f'<p><a href="{href}">x</a> <a name="y">y</a></p>') == []


def test_links_are_in_order_and_there_once() -> None:
    html = (
        '<a href="b">1</a><a href="a">2</a><a href="b#x">3</a><link href="c"><img src="d"><a href="a">4</a>'
    )
    assert links(html) == ["https://a.example/docs/b", "https://a.example/docs/a"]


def test_the_base_of_a_page() -> None:
    assert links('<head><base href="/other/"></head><a href="x">x</a>') == ["https://a.example/other/x"]
    assert links('<head><base href="mailto:x"></head><a href="x">x</a>') == ["https://a.example/docs/x"]


def test_a_page_that_declares_its_encoding() -> None:
    xhtml = (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
        '<body><a href="é">x</a></body></html>'
    )
    assert links(xhtml, "application/xhtml+xml; charset=utf-8") == ["https://a.example/docs/%C3%A9"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("0; url=latest/", ["https://a.example/docs/latest/"]),
        ("0;URL='/en/'", ["https://a.example/en/"]),
        ("1.5 , url = https://b.example/", ["https://b.example/"]),
        ("300", []),
        ("0; url=javascript:go()", []),
        ("", []),
    ],
)
def test_the_page_that_a_page_goes_on_to(content: str, found: list[str]) -> None:
    assert links(f'<head><meta http-equiv="Refresh" content="{content}"></head><p>Moved.') == found


@pytest.mark.parametrize("body", [b"", b" \n", b"<!-- nothing -->", b"\0\0", b"plain"])
def test_pages_that_lead_nowhere(body: bytes) -> None:
    assert read_leads(body, PAGE, "text/html") == Leads()


def test_only_html_has_links() -> None:
    assert links('<a href="x">x</a>', "text/plain") == []


def test_nofollow_and_noindex() -> None:
    link = '<a href="x">x</a>'
    followed = ("https://a.example/docs/x",)
    assert links('<a rel="external NOFOLLOW" href="x">x</a><a rel="next" href="y">y</a>') == [
        "https://a.example/docs/y"
    ]
    for name, content, leads in (
        ("Robots", "noindex", Leads(followed, noindex=True)),
        ("robots", "index, NoFollow", Leads((), noindex=False)),
        ("Citewell", "none", Leads((), noindex=True)),
        ("robots", "all", Leads(followed, noindex=False)),
    ):
        html = f'<head><meta name="{name}" content="{content}"></head>{link}'
        assert read_leads(html.encode(), PAGE, "text/html") == leads


@pytest.mark.parametrize(
    ("header", "left"),
    [
        ("noindex", Leads(("https://a.example/x",), noindex=True)),
        ("NoFollow, unavailable_after: 25 Jun 2030 15:00:00 GMT", Leads()),
        ("none", Leads((), noindex=True)),
        ("otherbot: noindex, nofollow", Leads(("https://a.example/x",))),
        ("otherbot: noindex, citewell: nofollow", Leads()),
        ("max-snippet: 20, all", Leads(("https://a.example/x",))),
    ],
)
def test_the_header_for_robots(header: str, left: Leads) -> None:
    assert permitted(Leads(("https://a.example/x",)), [header]) == left


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://a.example", "http://a.example/"),
        ("http://a.example?x=1", "http://a.example/?x=1"),
        ("http://a.example:80/x#y", "http://a.example/x"),
        ("http://a.example/x;jsessionid=AB12?y=1", "http://a.example/x?y=1"),
        ("http://a.example/x?PHPSESSID=1&y=2&y=3&utm_source=mail", "http://a.example/x?y=2&y=3"),
        ("http://a.example/x?q=a%26b&sid=3", "http://a.example/x?q=a%26b&sid=3"),
    ],
)
def test_the_canonical_form(url: str, form: str) -> None:
    assert canonical(URL(url)) == form
    assert canonical(URL(form)) == form
