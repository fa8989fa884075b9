"""What travels through the pipeline, and what `--json` shows of it."""

from __future__ import annotations

import json
from dataclasses import replace

from citewell.core.types import Answer, Candidate, Failure, Passage, Reference, Sentence

SUPPORTED = Sentence("The sky is blue.", (1, 3), 0.9, supported=True)
UNSUPPORTED = Sentence("It is green.", (), 0.2, supported=False)
REFERENCE = Reference(1, "https://example.org/", "Sky", "The sky is blue.", 0.8)


def answer(**models: str) -> Answer:
    candidate = Candidate((SUPPORTED, UNSUPPORTED), 0.45, "", -0.3, 1, "The only candidate.")
    return Answer(
        question="Why?",
        outcome="answered",
        answer=candidate.text,
        sentences=candidate.sentences,
        references=(REFERENCE,),
        failures=(Failure("https://example.org/b", "HTTP 404"),),
        candidates=(candidate,),
        notices=("A notice.",),
        timings={"total": 1.5},
        models={"encoder": "e"} | models,
    )


def test_a_passage_id_is_stable() -> None:
    passage = Passage("https://example.org/", "Sky", "The sky is blue.", ("Colours",))
    assert passage.id == "6c067e702567e103"


def test_a_passage_id_depends_on_page_and_text_alone() -> None:
    passage = Passage("u", "title", "text", ("Heading",))
    assert Passage("u", "other title", "text").id == passage.id
    assert len({passage.id, Passage("v", "title", "text").id, Passage("u", "title", "Text").id}) == 3


def test_marks_follow_each_sentence_of_a_candidate() -> None:
    assert Candidate((SUPPORTED, UNSUPPORTED)).text == "The sky is blue. [1][3] It is green."
    assert Candidate(()).text == ""


def test_the_json_of_a_written_answer() -> None:
    value = json.loads(json.dumps(answer(generator="g").to_json()))
    assert list(value) == [
        "question",
        "outcome",
        "answer",
        "sentences",
        "references",
        "failures",
        "candidates",
        "quotations",
        "fallback",
        "notices",
        "timings",
        "models",
        "episode",
        "rewritten",
    ]
    assert [value[name] for name in ("fallback", "episode", "rewritten")] == [None] * 3
    [written] = replace(answer(generator="g"), sentences=(replace(SUPPORTED, before="- "),)).to_json()[
        "sentences"
    ]
    assert written["before"] == "- "
    assert value["answer"] == "The sky is blue. [1][3] It is green."
    assert value["sentences"] == [
        {
            "text": "The sky is blue.",
            "citations": [1, 3],
            "support": 0.9,
            "supported": True,
            "status": "supported",
            "before": None,
        },
        {"text": "It is green.", "citations": [], "support": 0.2, "supported": False, "status": "not_found"}
        | {"before": None},
    ]
    assert value["candidates"] == [
        {
            "answer": value["answer"],
            "score": 0.45,
            "adjusted_score": -0.3,
            "unsupported": 1,
            "won": True,
            "reason": "The only candidate.",
        }
    ]
    assert value["references"][0] == {
        "number": 1,
        "url": "https://example.org/",
        "title": "Sky",
        "text": "The sky is blue.",
        "score": 0.8,
        "duplicate_urls": [],
        "date": None,
        "headings": [],
        "page_number": None,
        "orders": [],
        "read": None,
    }
    assert value["failures"] == [{"url": "https://example.org/b", "reason": "HTTP 404", "kind": None}]


def test_the_json_of_references_alone_has_no_written_answer() -> None:
    value = answer().to_json()
    assert list(value) == ["question", "outcome", "references", "failures", "notices", "timings", "models"]


def test_the_title_path_has_each_heading_once_and_not_the_one_in_the_text() -> None:
    assert Passage("u", "Kites", "Text.", ("Kites", "History", "1900")).title_path == "Kites, History, 1900"
    assert Passage("u", "Kites", "1900\nText.", ("History", "1900")).title_path == "Kites, History"
    assert Passage("u", "", "Text.").title_path == ""


def test_a_reference_names_its_place() -> None:
    assert REFERENCE.place == "Sky"
    assert replace(REFERENCE, headings=("Colors", "Blue"), page_number=3).place == "Sky, Blue, p. 3"


def test_a_reference_is_dated_by_its_publication_or_by_its_reading() -> None:
    assert REFERENCE.dated == ""
    assert replace(REFERENCE, read="2026-11-25").dated == "as of 2026-11-25"
    assert replace(REFERENCE, read="2026-11-25", date="2024-05-06").dated == "2024-05-06"
    assert replace(REFERENCE, read="2026-11-25", url="file:///home/ada/notes.md").dated == ""
