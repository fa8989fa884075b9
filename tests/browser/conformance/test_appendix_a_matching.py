"""WebGPT's appendix A about finding and quoting: one case a rule."""

from __future__ import annotations

import random

import pytest

from citewell.browser.characters import MARK, stripped
from citewell.browser.matching import find, quote

TEXT = (
    "Crows bring 【0†gifts†gifts.example】 to people.\n\n"
    "A crow remembers 【1†a face】 for years. The Straße is loud.\n"
    "Crows bring\nnuts, too. They are shy at first."
)
FOUND = {
    "Find: the first occurrence": ("crow", 0, "Crows bring 【0"),
    "Find: the next occurrence, from a place on": ("crow", 1, "crow remembers"),
    "Find: an occurrence at the place itself counts": ("crows", 0, "Crows bring 【0"),
    "Find: case is ignored": ("CROW REMEMBERS", 0, "crow remembers"),
    "Find: case is ignored in any script": ("STRASSE", 0, "Straße is"),
    "Find: links are stripped": ("bring gifts to people", 0, "bring 【0"),
    "Find: text of a link is found inside of its mark": ("face for", 0, "face】 for years"),
    "Find: after a link, places still fit": ("for years", 0, "for years"),
    "Find: from within a link on": ("face", TEXT.index("a face"), "face】"),
    "Find: the id of a link is no text": ("0", 0, None),
    "Find: the domain of a link is no text": ("gifts.example", 0, None),
    "Find: white space counts": ("bring nuts", 0, None),
    "Find: nothing after the last occurrence": ("gifts", TEXT.index("to people"), None),
    "Find: text that is not there": ("ravens", 0, None),
    "Find: special characters mean their look-alikes": ("†", 0, None),
    "Find: nothing is found nowhere": ("", 0, None),
}
QUOTED = {
    "Quote: the page's own words": ("they are shy", 0, "They are shy"),
    "Quote: case is ignored": ("CROWS BRING GIFTS", 0, "Crows bring gifts"),
    "Quote: case is ignored in any script": ("the strasse is", 0, "The Straße is"),
    "Quote: links are stripped": ("gifts to people.", 0, "gifts to people."),
    "Quote: line breaks of the page are ignored": ("Crows bring nuts", 0, "Crows bring nuts"),
    "Quote: line breaks of the command are ignored": ("A crow\n\nremembers", 0, "A crow remembers"),
    "Quote: missing white space is ignored": ("acrowremembersaface", 0, "A crow remembers a face"),
    "Quote: more white space is ignored": ("f o r   y e a r s", 0, "for years"),
    "Quote: it may go over paragraphs": ("people. A crow", 0, "people. A crow"),
    "Quote: the id of a link is no text": ("bring 0", 0, None),
    "Quote: the domain of a link is no text": ("gifts.example", 0, None),
    "Quote: a mark is no text": ("【0†gifts†gifts.example】", 0, None),
    "Quote: text that is not there": ("Ravens bring gifts", 0, None),
    "Quote: what differs in one letter is not there": ("Crows bring a gift", 0, None),
    "Quote: nothing is no quote": ("", 0, None),
    "Quote: white space is no quote": (" \n", 0, None),
    "Quote: start━end is all between them": ("A crow━years.", 0, "A crow remembers a face for years."),
    "Quote: start━end may stand at links": ("gifts━a face", 0, "gifts to people. A crow remembers a face"),
    "Quote: start━end ignores case and white space": ("ACROW━F OR", 0, "A crow remembers a face for"),
    "Quote: start━end is the shortest: the first end": ("crows━o", 0, "Crows bring gifts to"),
    "Quote: start━end is the shortest: the last start": ("crows━nuts", 0, "Crows bring nuts"),
    "Quote: start and end do not overlap": ("shy━shy", 0, None),
    "Quote: the end comes after the start": ("nuts━gifts", 0, None),
    "Quote: start━ without an end is no quote": ("A crow━", 0, None),
    "Quote: ━end without a start is no quote": ("━years", 0, None),
    "Quote: ━ alone is no quote": ("━", 0, None),
    "Quote: an end that is not there": ("A crow━ravens", 0, None),
    "Quote: two ━ are no quote": ("A crow━remembers━years", 0, None),
    "Quote: what is in view comes first": ("crows bring━s", TEXT.index("A crow"), "Crows bring nuts"),
    "Quote: else the whole page counts": ("crows bring gifts", TEXT.index("A crow"), "Crows bring gifts"),
}


@pytest.mark.parametrize(("wanted", "start", "there"), FOUND.values(), ids=[f"A: {rule}" for rule in FOUND])
def test_find(wanted: str, start: int, there: str | None) -> None:
    place = find(TEXT, wanted, start)
    assert place is None if there is None else place == TEXT.index(there)


@pytest.mark.parametrize(("wanted", "start", "words"), QUOTED.values(), ids=[f"A: {rule}" for rule in QUOTED])
def test_quote(wanted: str, start: int, words: str | None) -> None:
    assert quote(TEXT, wanted, start) == words


LETTERS = "aAbß İŉ\nﬀéΣς"


def page_of_chance(draw: random.Random) -> str:
    parts = []
    for number in range(draw.randrange(1, 8)):
        words = "".join(draw.choices(LETTERS, k=draw.randrange(1, 7)))
        domain = draw.choice(["", "†x.example"])
        parts.append(draw.choice([words, f"【{number}†{' '.join(words.split()) or 'x'}{domain}】"]))
    return "".join(parts)


def visible(text: str) -> list[int]:
    """The places of marked text that are left when its links are stripped, one by one."""
    hidden = {place for found in MARK.finditer(text) for place in range(*found.span())}
    shown = {place for found in MARK.finditer(text) for place in range(*found.span(2))}
    return [place for place in range(len(text)) if place not in hidden or place in shown]


def test_places_are_those_of_a_comparison_letter_by_letter() -> None:
    draw = random.Random(11)
    for _ in range(3000):
        text = page_of_chance(draw)
        plain, start = stripped(text), draw.randrange(len(text))
        begin = draw.randrange(len(plain))
        wanted = plain[begin : begin + draw.randrange(1, 9)].swapcase()
        folded = [(letter, place) for place in visible(text) for letter in text[place].casefold()]
        first = next((number for number, (_, place) in enumerate(folded) if place >= start), len(folded))
        found = "".join(letter for letter, _ in folded).find(wanted.casefold(), first)
        assert find(text, wanted, start) == (None if found < 0 else folded[found][1])


def test_what_is_on_a_page_can_be_quoted() -> None:
    draw = random.Random(12)
    for _ in range(3000):
        text = page_of_chance(draw)
        plain = stripped(text)
        begin = draw.randrange(len(plain))
        wanted = "".join(plain[begin : begin + draw.randrange(1, 9)].split())
        if wanted:
            taken = quote(text, " ".join(wanted.casefold()), draw.randrange(len(text)))
            assert taken is not None
            assert wanted.casefold() in "".join(taken.split()).casefold()
            assert taken in " ".join(plain.split())
