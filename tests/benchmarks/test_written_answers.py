from __future__ import annotations

from benchmarks.written_answers import MOST, REFUSAL, nearest, unanswerable, written
from citewell.generator.evaluation.text import refuses

LONG = "The library opened in 1902. " + "It has a reading room with tall windows. " * 30
TEXT = f"{LONG} Its founder was a merchant of tea. He gave all of his books to the town. {LONG}"


def row(source: str, answer: str, *, answerable: bool = True) -> dict[str, object]:
    return {
        "id": f"{source}-1",
        "question": "Who founded the library?",
        "answer": answer,
        "claims": [],
        "references": [{"text": TEXT, "title": "Library", "url": "https://library.example/"}],
        "answerable": answerable,
        "source": source,
        "license": "MIT",
    }


def test_a_reference_is_cut_to_the_sentences_that_the_answer_is_about() -> None:
    found = nearest(TEXT, "A tea merchant founded it with his books.")
    assert "Its founder was a merchant of tea. He gave all of his books to the town." in found
    assert len(found.split()) <= MOST


def test_a_sentence_that_is_too_long_is_cut() -> None:
    assert nearest("word " * 200, "word").split() == ["word"] * MOST


def test_a_text_that_has_room_stays_whole() -> None:
    assert nearest("It is old.  It is tall.", "Something else") == "It is old. It is tall."


def test_only_written_answers_are_taken_and_keep_their_words() -> None:
    rows = [row("pubmedqa", "A merchant of tea."), row("expertqa", "Tea."), row("eli5", "No idea.")]
    found = list(written(rows))
    assert [each["answer"] for each in found] == ["A merchant of tea.", "Tea."]
    assert all("founder was a merchant" in each["references"][0]["text"] for each in found)
    assert found[0]["references"][0]["url"] == "https://library.example/"


def test_questions_without_an_answer_are_refused_as_evaluations_understand_it() -> None:
    (found,) = unanswerable([row("squad", "", answerable=False), row("pubmedqa", "Tea.")])
    assert found["answer"] == REFUSAL
    assert refuses(REFUSAL)
