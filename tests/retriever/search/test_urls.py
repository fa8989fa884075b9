"""Which addresses are one page, and which are one site."""

from __future__ import annotations

import pytest

from citewell.retriever.search.urls import host_of, identity, in_domains, registrable_domain


@pytest.mark.parametrize(
    "same",
    [
        [
            "https://example.org",
            "http://example.org/",
            "HTTPS://WWW.Example.ORG:443/",
            "http://example.org:80",
        ],
        [
            "https://example.org/a",
            "https://example.org/a/",
            "http://www.example.org/a#part",
            "https://example.org./a",
        ],
        [
            "https://example.org/?id=5",
            "https://example.org/?utm_source=x&utm_medium=y&id=5&gclid=1&fbclid=2&msclkid=3",
            "https://example.org?id=5&mc_cid=4&_ga=5&srsltid=6",
        ],
        ["https://example.org/?a=1&b=2", "https://example.org/?b=2&a=1"],
        ["https://example.org/a/../b", "https://example.org/b"],
        ["https://example.org/~ann/%41", "https://example.org/%7Eann/A"],
        ["https://de.wikipedia.org/wiki/Zürich", "https://de.wikipedia.org/wiki/Z%C3%BCrich"],
        ["https://bücher.example/", "https://xn--bcher-kva.example"],
        ["https://example.org/?q=a%20b", "https://example.org/?q=a+b"],
    ],
)
def test_one_page(same: list[str]) -> None:
    assert len({identity(url) for url in same}) == 1


@pytest.mark.parametrize(
    "different",
    [
        ["https://example.org/a", "https://example.org/A", "https://example.org/b", "https://example.org/"],
        [
            "https://example.org/",
            "https://m.example.org/",
            "https://example.com/",
            "https://example.org:8080/",
        ],
        ["https://example.org/?id=5", "https://example.org/?id=6", "https://example.org/?ref=5"],
        ["https://example.org/?source=a", "https://example.org/?source=b", "https://example.org/?keyword=a"],
        ["file:///a/b", "file:///a/b/", "file:///a/B"],
        ["magnet:?xt=1", "magnet:?xt=2", "http://[::1", "", "no address"],
    ],
)
def test_several_pages(different: list[str]) -> None:
    assert len({identity(url) for url in different}) == len(different)


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("https://en.wikipedia.org/wiki/A", "wikipedia.org"),
        ("https://ann.github.io/x", "ann.github.io"),
        ("https://a.b.bücher.de/", "xn--bcher-kva.de"),
        ("http://127.0.0.1:8080/x", "127.0.0.1"),
        ("http://[::1]:80/x", "::1"),
        ("http://wiki.internal/", "wiki.internal"),
        ("http://localhost/", "localhost"),
        ("file:///a/b", ""),
        ("http://[::1", ""),
    ],
)
def test_registrable_domains(url: str, domain: str) -> None:
    assert registrable_domain(url) == domain


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("https://reddit.com/r/x", True),
        ("https://old.reddit.com/r/x", True),
        ("https://OLD.REDDIT.COM./r/x", True),
        ("https://notreddit.com/", False),
        ("https://reddit.com.example.org/", False),
        ("https://example.org/reddit.com", False),
        ("https://user:reddit.com@example.org/", False),
        ("file:///reddit.com", False),
    ],
)
def test_a_domain_stands_for_its_subdomains(url: str, inside: bool) -> None:
    assert in_domains(url, ("quora.com", "reddit.com")) is inside


def test_hosts_are_ascii_and_small() -> None:
    assert host_of("https://BÜCHER.example:8080/x") == "xn--bcher-kva.example"
