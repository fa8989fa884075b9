"""Which questions a collection can answer."""

from __future__ import annotations

from citewell.core.types import Page, Passage
from citewell.pipeline.evaluation.coverage import PassageSearch


def page(title: str, *texts: str) -> Page:
    url = f"/wiki/{title}"
    return Page(url, title, tuple(Passage(url, title, text) for text in texts))


def test_an_article_is_right_when_it_is_about_the_question_and_holds_an_answer() -> None:
    filler = [
        page(f"Page {number}", f"Nothing was discovered here, number {number}.") for number in range(50)
    ]
    search = PassageSearch(
        [
            page("Penicillin", "A drug.", "It was found by Alexander Fleming in London."),
            page("London", "The capital of England, once home of Alexander Fleming."),
            page("Discovery", "Who discovered penicillin? Alexander Fleming discovered penicillin."),
            page("Mould", "Who discovered penicillin? Nobody knows."),
            *filler,
        ]
    )
    right = search.right_articles("who discovered penicillin", ["Alexander Fleming", "Fleming"])
    assert right == {"/wiki/Penicillin", "/wiki/Discovery"}
    assert search.right_articles("who discovered penicillin", ["Marie Curie"]) == frozenset()

    references = search.right_passages("who discovered penicillin", ["Alexander Fleming", "Fleming"], 5)
    assert {reference.url for reference in references} == right
    assert [reference.number for reference in references] == [1, 2], "each passage once"
    assert all("Fleming" in reference.text for reference in references)
