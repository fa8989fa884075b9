"""The commands of the text browser, as text and as values (WebGPT, Table 1, https://arxiv.org/abs/2112.09332).

>>> parse("Clicked on link 3")
Click(link=3)
>>> str(Scroll("down", 2))
'Scrolled down 2'
>>> parse("Scrolled down 4").reason
'the browser scrolls 1, 2 or 3 times'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["Answer", "Nonsense", "Controversial"]
Direction = Literal["down", "up"]
Kind = Literal[
    "search", "click_link", "find_in_page", "quote", "scroll_down", "scroll_up", "top", "back", "end"
]
"""The names that WebGLM's Tables 11 and 12 count the actions of WebGPT under."""

MOST_SCROLLS = 3
_MAX_NUMBER = 9  # digits: int() takes time that grows with the square of their number


@dataclass(frozen=True, slots=True)
class Search:
    """Send a query to the search engine and show a page of results."""

    query: str

    def __str__(self) -> str:
        return f"Search {self.query}"


@dataclass(frozen=True, slots=True)
class Click:
    """Follow the link with this id to a new page."""

    link: int

    def __str__(self) -> str:
        return f"Clicked on link {self.link}"


@dataclass(frozen=True, slots=True)
class Find:
    """Scroll to the next occurrence of the text."""

    text: str

    def __str__(self) -> str:
        return f"Find in page: {self.text}"


@dataclass(frozen=True, slots=True)
class Quote:
    """Take the text as a reference, if it is found in the page; `start━end` stands for a longer one."""

    text: str

    def __str__(self) -> str:
        return f"Quote: {self.text}"


@dataclass(frozen=True, slots=True)
class Scroll:
    """Scroll one to three times."""

    direction: Direction
    times: int

    def __str__(self) -> str:
        return f"Scrolled {self.direction} {self.times}"


@dataclass(frozen=True, slots=True)
class Top:
    """Scroll to the top of the page."""

    def __str__(self) -> str:
        return "Top"


@dataclass(frozen=True, slots=True)
class Back:
    """Go to the previous page."""

    def __str__(self) -> str:
        return "Back"


@dataclass(frozen=True, slots=True)
class End:
    """End browsing: to answer, or to skip the answer to a question that should have none."""

    outcome: Outcome

    def __str__(self) -> str:
        return f"End: {self.outcome}"


@dataclass(frozen=True, slots=True)
class Invalid:
    """Any other text: it counts towards the maximum and is otherwise ignored."""

    text: str
    reason: str

    def __str__(self) -> str:
        return self.text


Command = Search | Click | Find | Quote | Scroll | Top | Back | End

_WITHOUT_ARGUMENT: dict[str, Command] = {
    str(command): command for command in (Top(), Back(), End("Answer"), End("Nonsense"), End("Controversial"))
}
_WITH_NUMBER = re.compile(r"(Clicked on link|Scrolled down|Scrolled up) (.*)", re.DOTALL)


def parse(text: str) -> Command | Invalid:
    """Parse `text`, which must match a command exactly except for white space at its ends.

    Only the browser can tell whether the command can be carried out, for example whether a link is on the
    page.
    """
    stripped = text.strip()
    if command := _WITHOUT_ARGUMENT.get(stripped):
        return command
    for prefix, make in (("Search ", Search), ("Find in page: ", Find), ("Quote: ", Quote)):
        if stripped.startswith(prefix):
            argument = stripped.removeprefix(prefix).strip()
            return make(argument) if argument else Invalid(text, "nothing follows the command")
    if found := _WITH_NUMBER.fullmatch(stripped):
        return _numbered(text, found[1], found[2].strip())
    return Invalid(text, "it is not one of the commands")


def kind_of(command: Command) -> Kind:
    """Return the name that a command is counted under."""
    match command:
        case Search():
            return "search"
        case Click():
            return "click_link"
        case Find():
            return "find_in_page"
        case Quote():
            return "quote"
        case Scroll(direction="down"):
            return "scroll_down"
        case Scroll():
            return "scroll_up"
        case Top():
            return "top"
        case Back():
            return "back"
        case End():
            return "end"


def _numbered(text: str, name: str, argument: str) -> Command | Invalid:
    if not (argument.isascii() and argument.isdigit() and len(argument) <= _MAX_NUMBER):
        return Invalid(text, "a number has to follow the command")
    number = int(argument)
    if name == "Clicked on link":
        return Click(number)
    if not 1 <= number <= MOST_SCROLLS:
        return Invalid(text, "the browser scrolls 1, 2 or 3 times")
    return Scroll("down" if name == "Scrolled down" else "up", number)
