"""Prompts that describe browsing to a language model, and the prompt of trained policies."""

from __future__ import annotations

from citewell.browser.page import Link
from citewell.browser.state import State
from citewell.generator.prompt import Message

INSTRUCTION = """\
You answer a question by browsing the web in a text browser. Each message shows its state. Reply with one \
command and nothing else:
Search <query>: show a page of search results
Clicked on link <number>: follow the link with this number
Find in page: <text>: scroll to the next place that has the text
Quote: <text>: keep words of the page that help to answer; <start>━<end> stands for a long passage
Scrolled down <1, 2, 3>: scroll down
Scrolled up <1, 2, 3>: scroll up
Top: scroll to the top of the page
Back: go to the previous page
End: Answer: stop browsing when there are enough quotes
End: Nonsense or End: Controversial: stop browsing without an answer"""

_EXAMPLE = State(
    question="Why does bread dough rise?",
    past_actions=("Search Why does bread dough rise?", "Click Baker's yeast bread.example"),
    title="Baker's yeast (bread.example)",
    url="https://bread.example/yeast",
    first=0,
    last=4,
    lines=4,
    text="Baker's yeast is sold in blocks or as dry grains.\n\n"
    "In dough, yeast feeds on 【0†sugar】 and gives off carbon dioxide, which is\n"
    "caught as bubbles and makes the dough rise.",
    links={0: Link("sugar", "https://bread.example/sugar", "bread.example")},
    actions_left=8,
    can_go_back=True,
)
_COMMAND = "Quote: In dough, yeast feeds━makes the dough rise."


def prompted(state: State) -> list[Message]:
    """Return the messages: the commands, one demonstration, and the state."""
    return [
        {"role": "system", "content": INSTRUCTION},
        {"role": "user", "content": str(_EXAMPLE)},
        {"role": "assistant", "content": _COMMAND},
        {"role": "user", "content": str(state)},
    ]


def cloned(state: State) -> list[Message]:
    """Return the message with the state alone, as models that were trained on demonstrations expect it."""
    return [{"role": "user", "content": str(state)}]
