"""The state of the browser before each command: a value, and the text of WebGPT's Figure 1 (b)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from citewell.browser.page import Link


@dataclass(frozen=True, slots=True)
class TakenQuote:
    """An extract of a page, to be cited. `title` and `domain` are the page's, `text` the page's own words."""

    title: str
    domain: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class State:
    """The whole input of a policy, which has no other memory between two commands.

    `text` is the text in view, and `links` are the links in it by their ids. The scroll bar shows lines
    `first` to `last` of `lines` lines of the page. `past_actions` are the commands so far in the short form
    of Figure 1. Everything is reduced to the budget, the oldest actions and quotes first. The text of the
    state does not show `visited`, the addresses of all pages that were opened, and `taken`, the full words of
    all quotes: they only say which commands would repeat a step.
    """

    question: str
    quotes: tuple[TakenQuote, ...] = ()
    past_actions: tuple[str, ...] = ()
    title: str = ""
    url: str = ""
    first: int = 0
    last: int = 0
    lines: int = 0
    text: str = ""
    links: Mapping[int, Link] = field(default_factory=dict)
    actions_left: int = 0
    can_go_back: bool = False
    visited: frozenset[str] = frozenset()
    taken: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the state as text, in the layout of Figure 1 (b)."""
        parts = ["♦Question", self.question]
        parts += ["♦Quotes", *(quoted(quote) for quote in self.quotes)]
        parts += ["♦Past actions", *self.past_actions]
        parts += ["♦Title", self.title, f"♦Scrollbar: {self.first} - {self.last}", "♦Text", self.text]
        parts += [f"♦Actions left: {self.actions_left}", "♦Next action"]
        return "\n".join(parts) + "\n"


def quoted(quote: TakenQuote) -> str:
    """Return a quote as the state shows it."""
    where = f" ({quote.domain})" if quote.domain else ""
    return f"From {quote.title}{where}\n> {quote.text}"
