"""What a notebook shows of an answer, also of one that pages were written to break."""

from __future__ import annotations

from lxml import html

from citewell.core.types import Answer, Reference, Sentence

_B = "https://b.example/?q=ä b"
HARM = '<img src=x onerror="alert(1)">'


def shown(answer: Answer) -> html.HtmlElement:
    display = answer._repr_html_  # as IPython finds it
    return html.fragment_fromstring(display())


def test_each_mark_leads_to_its_reference_and_what_is_unsupported_is_marked() -> None:
    answer = Answer(
        question="How do bats hunt?",
        outcome="answered",
        answer="",
        sentences=(
            Sentence("They listen to echoes.", (2,), 1.0, True),
            Sentence("They wear glasses.", (), 0.1, False, "contradicted"),
        ),
        references=(
            Reference(1, "https://a.example/", "Bees", "Bees hum.", 0.1),
            Reference(
                2, "https://b.example/?q=ä b", "Bats", "Bats listen.", 0.9, (), "2024-05-06", ("Hunt",), 3
            ),
        ),
        notices=("Searched the notes.",),
    )
    page = shown(answer)
    (mark,) = page.xpath("//sup/a")
    assert (mark.text, mark.get("title")) == ("[2]", "Bats, Hunt, p. 3")
    assert mark.get("href") == "https://b.example/?q=%C3%A4%20b"
    (item,) = page.xpath("//ol/li")  # the cited reference alone, under its own number
    assert item.get("value") == "2"
    assert item.text_content() == "Bats, Hunt, p. 3, 2024-05-06PassageBats listen."
    assert item.find(".//details/div").get("style") == "white-space: pre-wrap"  # its lists are lines
    assert "They wear glasses. (contradicted)" in page.text_content()
    assert "Note: Searched the notes." in page.text_content()


def test_references_without_an_answer_are_all_shown() -> None:
    references = tuple(Reference(n, f"file:///notes/{n}.md", f"Note {n}", "Text.", 0.5) for n in (1, 2))
    page = shown(Answer("Why?", "retrieved", "", (), references))
    assert [item.get("value") for item in page.xpath("//li")] == ["1", "2"]
    assert page.xpath("//a") == []


def test_what_pages_and_people_write_stays_text() -> None:
    references = (
        Reference(1, "javascript:alert(1)", HARM, HARM, 0.9, (), HARM, (HARM,)),
        Reference(2, 'https://a.example/"onmouseover="alert(1)', f'"{HARM}', HARM, 0.9),
    )
    sentences = (Sentence(HARM, (1, 2, 7), 1.0, True),)
    page = shown(Answer(HARM, "answered", HARM, sentences, references, notices=(HARM,)))
    assert {element.tag for element in page.iter()} <= {
        *("div", "p", "b", "sup", "a", "span", "ol", "li", "details", "summary", "small")
    }
    assert all(link.get("href").startswith("https://a.example/") for link in page.xpath("//a"))
    assert {name for element in page.iter() for name in element.attrib} <= {
        *("href", "title", "target", "rel", "style", "value")
    }
