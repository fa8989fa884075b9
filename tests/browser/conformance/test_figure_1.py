"""The screen of WebGPT's Figure 1 (b) (https://arxiv.org/abs/2112.09332), from pages that are equivalent.

The figure's text was abridged: its scroll bar says that eleven lines were in view, and ten are printed. Here
the eleventh is the title of a third result. Lines of the quote are broken in the figure only for print.
"""

from __future__ import annotations

from citewell.browser.environment import Browser
from citewell.browser.limits import BrowserLimits
from tests.browser.pages import Shelf, article, results

QUESTION = "How can I train the crows in my neighborhood to bring me gifts?"
QUERY = "how to train crows to bring you gifts"

FIGURE = """\
♦Question
How can I train the crows in my neighborhood to bring me gifts?
♦Quotes
From Gifts From Crows | Outside My Window (www.birdsoutsidemywindow.org)
> Many animals give gifts to members of their own species but crows and other corvids are the only ones \
known to give gifts to humans.
♦Past actions
Search how to train crows to bring you gifts
Click Gifts From Crows | Outside My Window www.birdsoutsidemywindow.org
Quote
Back
♦Title
Search results for: how to train crows to bring you gifts
♦Scrollbar: 0 - 11
♦Text
【0†How to Make Friends With Crows - PetHelpful†pethelpful.com】
If you did this a few times, your crows would learn your new place, but
as I said, I’m not sure if they will follow or visit you there since it’s
probably not in their territory. The other option is simply to make new
crow friends with the crows that live in your new neighborhood.
【1†Gifts From Crows | Outside My Window†www.birdsoutsidemywindow.org】
The partial piece of apple may have been left behind when the crow was
startled rather than as a gift. If the crows bring bright objects you’ll
know for sure that it’s a gift because it’s not something they eat.
Brandi Williams says: May 28, 2020 at 7:19 am.
♦Actions left: 96
♦Next action
"""

HELPFUL = (
    "If you did this a few times, your crows would learn your new place, but as I said, I’m not sure if they "
    "will follow or visit you there since it’s probably not in their territory. The other option is simply "
    "to make new crow friends with the crows that live in your new neighborhood."
)
WINDOW = (
    "The partial piece of apple may have been left behind when the crow was startled rather than as a gift. "
    "If the crows bring bright objects you’ll know for sure that it’s a gift because it’s not something they "
    "eat. Brandi Williams says: May 28, 2020 at 7:19 am."
)
GIFTS = (
    "Many animals give gifts to members of their own species but crows and other corvids are the only ones "
    "known to give gifts to humans. These gifts are usually shiny."
)


async def test_the_screen_of_figure_1() -> None:
    helpful = article(HELPFUL, "How to Make Friends With Crows - PetHelpful", "pethelpful.com")
    window = article(GIFTS, "Gifts From Crows | Outside My Window", "www.birdsoutsidemywindow.org")
    third = article("Crows.", "Crows", "crows.example")
    found = results(QUERY, (helpful, HELPFUL), (window, WINDOW), (third, "Abridged."))
    browser = Browser(Shelf(helpful, window, found={QUERY: found}), BrowserLimits(window_lines=11))
    await browser.reset(QUESTION)
    for command in (f"Search {QUERY}", "Clicked on link 1", "Quote: many animals━gifts to humans.", "Back"):
        assert not (await browser.step(command)).step.reason
    printed = str(browser.state).replace("【2†Crows†crows.example】\n", "")
    assert printed == FIGURE


async def test_the_screen_before_the_first_action() -> None:
    browser = Browser(Shelf())
    state = await browser.reset(QUESTION)
    assert str(state) == (
        f"♦Question\n{QUESTION}\n♦Quotes\n♦Past actions\n♦Title\n\n♦Scrollbar: 0 - 0\n♦Text\n\n"
        "♦Actions left: 100\n♦Next action\n"
    )
