"""The text browser does not show what a reader of the page cannot see."""

from __future__ import annotations

import pytest

from benchmarks.hostile.tricks import HIDING, SHOWING, Trick
from citewell.browser.simplify import simplify

_SECRET = "The moon is made of green cheese."


def shown(trick: Trick) -> str:
    sentence = "Kites fly because the wind lifts them, and lines hold them"
    paragraphs = "".join(f"<p>{sentence}: {number}.</p>" for number in range(20))
    page = (
        f"<!doctype html><html><head><title>Kites</title>{trick.head}<style>{trick.css}</style></head>"
        f"<body {trick.body}><main>{paragraphs}"
        f"{trick.markup.replace('@', _SECRET)}<p>The end.</p></main></body></html>"
    )
    return simplify(page.encode(), "https://kites.example/", "text/html", ()).text


@pytest.mark.parametrize("name", HIDING)
def test_what_is_hidden_is_not_shown(name: str) -> None:
    assert "green cheese" not in shown(HIDING[name])


@pytest.mark.parametrize("name", ["nothing", "shown again", "for print alone", "white on black"])
def test_what_is_seen_is_shown(name: str) -> None:
    assert "green cheese" in shown(SHOWING[name])
