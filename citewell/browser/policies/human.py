"""A person at a terminal who browses."""

from __future__ import annotations

import re
from collections.abc import Callable

from citewell.browser.commands import Invalid, parse
from citewell.browser.policy import Action
from citewell.browser.state import State
from citewell.retriever.daemon_thread import in_daemon_thread

HELP = """\
s WORDS   search                     f TEXT    find the text in the page
NUMBER    follow the link            q TEXT    quote the text, or its beginning━its end (.. is ━)
d, dd, ddd   scroll down             u, uu, uuu   scroll up
t         top of the page            b         back to the previous page
e         end, and answer            e nonsense, e controversial   end without an answer
Commands can also be written as language models write them, such as Clicked on link 3."""

_SHORT = {
    "t": "Top",
    "b": "Back",
    "e": "End: Answer",
    "e nonsense": "End: Nonsense",
    "e controversial": "End: Controversial",
}
_ABBREVIATION = re.compile(r"(?<!\.)\.\.(?!\.)")  # not an ellipsis
_WITH_TEXT = {"s": "Search ", "f": "Find in page: ", "q": "Quote: "}


class Human:
    """A person, who is asked for each command, and again after invalid input, without using an action."""

    name = "human"

    def __init__(
        self,
        show: Callable[[State], object],
        ask: Callable[[], str],
        tell: Callable[[str], object],
    ) -> None:
        """`show` shows a state, `tell` a line. `ask` reads a line; `EOFError` ends browsing.

        `ask` runs in a thread that a canceled episode, as by Ctrl-C, leaves behind.
        """
        self._show = show
        self._ask = ask
        self._tell = tell

    async def act(self, state: State) -> Action:
        """Return the command that the person types."""
        self._show(state)
        while True:
            try:
                line = await in_daemon_thread(self._ask, "terminal")
            except EOFError:
                return Action("End: Answer")
            command = parse(written_out(line))
            if not isinstance(command, Invalid):
                return Action(str(command))
            self._tell(HELP if line.strip() in {"?", "h", "help"} else f"{command.reason}; ? lists commands.")


def written_out(line: str) -> str:
    """Return the command that a line in short form stands for; other lines are unchanged."""
    line = line.strip()
    word, _, rest = line.partition(" ")
    if line.isdecimal():
        return f"Clicked on link {line}"
    if line in _SHORT:
        return _SHORT[line]
    if word in _WITH_TEXT and rest:
        return _WITH_TEXT[word] + (_ABBREVIATION.sub("━", rest) if word == "q" else rest)
    if line in {"d", "dd", "ddd"}:
        return f"Scrolled down {len(line)}"
    if line in {"u", "uu", "uuu"}:
        return f"Scrolled up {len(line)}"
    return line
