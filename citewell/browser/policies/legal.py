"""The commands that can be carried out in a state, and those that would repeat earlier steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from citewell.browser.characters import MARK
from citewell.browser.commands import Find
from citewell.browser.page import Link
from citewell.browser.policies.quoting import SHORTEST, Words, names
from citewell.browser.state import State
from citewell.core.text import content_words, squeeze

RESULTS = "Search results for: "
"""Start of the title of a page of results."""

_SEARCHES = 2  # before giving up
_LEADS_AWAY = ("Click ", "Search ", "Back")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Legal:
    """The commands that a state allows; `give_up` is ending without an answer.

    `find` are the words to look for; `quotable` are the words of paragraphs in view, links stripped, and
    `taken` the names that belong to earlier quotes.
    """

    search: bool = True
    links: tuple[int, ...] = ()
    find: tuple[str, ...] = ()
    quotable: tuple[Words, ...] = ()
    taken: frozenset[str] = frozenset()
    down: bool = False
    up: bool = False
    back: bool = False
    answer: bool = False
    give_up: bool = True


def legal(state: State) -> Legal:
    """Return the commands that the state allows."""
    return Legal(
        links=tuple(sorted(state.links)),
        find=tuple(dict.fromkeys(content_words(state.question))) if state.url else (),
        quotable=tuple(_paragraphs(state)) if state.url else (),
        down=state.last < state.lines,
        up=state.first > 0,
        back=state.can_go_back,
        answer=bool(state.taken),
    )


def onwards(state: State) -> Legal:
    """Return the allowed commands that make progress.

    Excludes links that were opened, words that were looked for since the page was opened, passages that were
    quoted, scrolling back and forth, and giving up with quotes or before the second search: language models
    give up at the first page of results.
    """
    allowed = legal(state)
    here = since_opened(state)
    last = here[0] if here else ""
    return replace(
        allowed,
        links=tuple(number for number in allowed.links if not opened(state, state.links[number])),
        find=tuple(word for word in allowed.find if str(Find(word)) not in here),
        quotable=tuple(_untaken(state, allowed.quotable)),
        taken=frozenset(name for quote in state.taken for name in names(quote)),
        down=allowed.down and not last.startswith(("Scrolled up", "Top")),
        up=allowed.up and not last.startswith("Scrolled down"),
        give_up=not state.taken and len(queries(state)) >= _SEARCHES,
    )


def since_opened(state: State) -> list[str]:
    """Return the past actions on the open page, the latest first."""
    found: list[str] = []
    for action in reversed(state.past_actions):
        if action.startswith(_LEADS_AWAY):
            break
        found.append(action)
    return found


def opened(state: State, link: Link) -> bool:
    """Return True if the page of the link is open, or was opened by this link or another."""
    return link.url == state.url or link.url in state.visited


def queries(state: State) -> list[str]:
    """Return the past queries in order."""
    return [action.removeprefix("Search ") for action in state.past_actions if action.startswith("Search ")]


def is_results(state: State) -> bool:
    """Return True if a page of results is open."""
    return state.title.startswith(RESULTS)


def is_new_search(state: State, query: str) -> bool:
    """Return True if no past query equals `query`, ignoring case and white space."""
    wanted = squeeze(query).casefold()
    return not any(_is(past.casefold(), wanted) for past in queries(state))


def _paragraphs(state: State) -> Iterator[Words]:
    """Yield the words of each paragraph in view, links stripped, as they are in the page.

    A shortened text of a link is not, so it splits the words around it.
    """
    text = MARK.sub(lambda mark: "\n\n" if mark[2].endswith(_ELLIPSIS) else mark[2], state.text)
    for paragraph in _PARAGRAPHS.split(text):
        if words := tuple(paragraph.split()):
            yield words


def _untaken(state: State, quotable: Sequence[Words]) -> Iterator[Words]:
    """Yield the unquoted runs of words that are long enough to be meaningful."""
    taken = ["".join(quote.split()).casefold() for quote in state.taken]
    for words in quotable:
        run: list[str] = []
        for word, is_covered in zip(words, _covered(words, taken), strict=True):
            if not is_covered:
                run.append(word)
                continue
            if len(run) >= SHORTEST:
                yield tuple(run)
            run = []
        if len(run) >= SHORTEST:
            yield tuple(run)


def _covered(words: Words, taken: Sequence[str]) -> list[bool]:
    """Mark each word that belongs to a quote, ignoring white space and case."""
    folded = [word.casefold() for word in words]
    text = "".join(folded)
    covered = [False] * len(text)
    for quote in taken:
        begin = text.find(quote) if quote else -1
        if text and text in quote:  # the paragraph is a part of a longer quote
            covered = [True] * len(text)
        while begin >= 0:  # some pages say the same more than once
            covered[begin : begin + len(quote)] = [True] * len(quote)
            begin = text.find(quote, begin + len(quote))
    found, place = [], 0
    for word in folded:
        found.append(any(covered[place : place + len(word)]))
        place += len(word)
    return found


def _is(action: str, name: str) -> bool:
    """Return True if a past action, which may be cut, is the command `name`."""
    if action.endswith(_ELLIPSIS):
        return name.startswith(action.removesuffix(_ELLIPSIS))
    return action == name
