"""Which URLs are read, and that each host has one spelling."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.hostile.addresses import addresses, attack, attempt
from citewell.core.errors import FetchError
from citewell.retriever.fetch.urls import web_url


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://0x7f.1:8080/a?b#c", "http://127.0.0.1:8080/a?b"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://017700000001/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://１２７。０。０。１/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("HTTP://EXAMPLE.ORG:80/A", "http://example.org/A"),
        ("http://example.org.:443/", "http://example.org.:443/"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("http://my_host.example.org/", "http://my_host.example.org/"),
        ("http://1.2.3.4.example/", "http://1.2.3.4.example/"),
    ],
)
def test_a_host_has_one_spelling(written: str, read: str) -> None:
    assert str(web_url(written)) == read
    assert str(web_url(read)) == read


@pytest.mark.parametrize(
    ("url", "kind", "reason"),
    [
        ("file:///etc/passwd", "scheme", "only http and https"),
        ("example.org/page", "scheme", "only http and https"),
        ("http:///path", "url", "names no host"),
        ("http://user:secret@/", "url", "user name or a password|not a valid URL"),
        ("http://user:secret@[::1/", "url", "not a valid URL"),
        ("https://:secret@example.org/", "url", "user name or a password"),
        ("http://%31%32%37.0.0.1/", "url", "is not the name of a host"),
        ("http://a%2fb.example/", "url", "is not the name of a host"),
        ("http://127.0.0.1%00.example.org/", "url", "is not the name of a host"),
        ("http://256.0.0.1/", "url", "not an IPv4 address"),
        ("http://1.2.3.4.5/", "url", "not an IPv4 address"),
        ("http://08.1/", "url", "not an IPv4 address"),
        ("http://name.0x4/", "url", "not an IPv4 address"),
        ("http://a..b/", "url", "is not the name of a host"),
        (f"http://{'a' * 64}/", "url", "is not the name of a host"),
        (f"http://{'a.' * 127}bc/", "url", "is not the name of a host"),
        ("http://[fe80::1%25eth0]/", "address", "an address with a zone"),
        ("http://example.org:99999/", "url", "not a valid URL"),
        ("http://][@", "url", "not a valid URL"),
        ("http://[::g]/", "url", "not a valid URL"),
        ("http://[1:2.3]/", "url", "not a valid URL"),
        ("http://[:a08]/", "url", "names no host|not a valid URL"),
        ("http://\0.1/", "url", "not an IPv4 address"),
        ("http://xn--zzzzzz/", "url", "not a valid URL"),
        ("http://example.org:0/", "port", "port 0"),
        ("http://example.org/" + "a" * 9000, "url", "longer than 8,192 characters"),
    ],
)
def test_what_is_not_read(url: str, kind: str, reason: str) -> None:
    with pytest.raises(FetchError, match=reason) as raised:
        web_url(url)
    assert raised.value.kind == kind
    assert "secret" not in str(raised.value)


def test_a_redirect_never_leaves_https() -> None:
    base = web_url("https://example.org/a")
    with pytest.raises(FetchError, match="from https to http") as raised:
        web_url("http://example.org/b", base=base)
    assert raised.value.kind == "redirect"
    assert str(web_url("/b#part", base=base)) == "https://example.org/b"
    assert str(web_url("https://0x8080808/", base=base)) == "https://8.8.8.8/"


_PARTS = st.sampled_from(
    ["http://", "//", "/", ":", "@", "[", "]", "::", ".", "%", "?", "#", "\\", "xn--", "127"]
)
_ADDRESSES = st.lists(_PARTS | st.text(max_size=4), max_size=9).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.text() | _ADDRESSES | _ADDRESSES.map("http://".__add__))
def test_every_text_is_refused_with_one_error_or_is_a_url_with_which_all_works(address: str) -> None:
    assert list(attempt(address, Counter())) == []


def test_random_addresses_are_refused_with_one_error_or_work() -> None:
    result = attack(addresses(5_000, seed=1))
    assert result["faults"] == []
    assert min(result["ends"][end] for end in ("parsed", "url", "scheme")) > 500
