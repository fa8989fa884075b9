"""States of the text browser, as small as a test needs them."""

from __future__ import annotations

from typing import Any

from citewell.browser.page import Link
from citewell.browser.state import State, TakenQuote

TIDES = """The tides of the sea are caused by the Moon. Its gravity pulls the water towards it.
Spring tides happen twice a month, when the 【0†Sun】, the Moon and the Earth
are in one line.

See also 【1†Neap tide】."""


def page(**changed: Any) -> State:
    """A page that was opened from the results of a search."""
    about: dict[str, Any] = {
        "question": "When do spring tides happen?",
        "past_actions": ("Search When do spring tides happen?", "Click Tides sea.example"),
        "title": "Tides (sea.example)",
        "url": "https://sea.example/tides",
        "first": 0,
        "last": 5,
        "lines": 5,
        "text": TIDES,
        "links": {
            0: Link("Sun", "https://sea.example/sun", "sea.example"),
            1: Link("Neap tide", "https://sea.example/neap", "sea.example"),
        },
        "actions_left": 8,
        "can_go_back": True,
    }
    return _state(about | changed)


def results(**changed: Any) -> State:
    """A page of two results."""
    about: dict[str, Any] = {
        "question": "When do spring tides happen?",
        "past_actions": ("Search When do spring tides happen?",),
        "title": "Search results for: When do spring tides happen?",
        "first": 0,
        "last": 4,
        "lines": 4,
        "text": "【0†Bread†bread.example】\nDough rises.\n"
        "【1†Tides†sea.example】\nSpring tides happen twice a month.",
        "links": {
            0: Link("Bread", "https://bread.example/", "bread.example"),
            1: Link("Tides", "https://sea.example/tides", "sea.example"),
        },
        "actions_left": 9,
    }
    return _state(about | changed)


def _state(about: dict[str, Any]) -> State:
    """A state with all its quotes in view, if nothing else is said."""
    taken = tuple(quote.text for quote in about.get("quotes", ()))
    return State(**{"taken": taken} | about)


def quote(text: str, url: str = "https://sea.example/tides") -> TakenQuote:
    """A quote of the page."""
    return TakenQuote("Tides", "sea.example", url, text)
