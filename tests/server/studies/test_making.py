"""Items are made from the answers of files, and orders from the seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.server.pages.study_view import study_view
from citewell.server.studies.answer_files import read_answer_file
from citewell.server.studies.drawing import answer_order, item_order, needs_every_part
from citewell.server.studies.forms.catalog import form_named
from citewell.server.studies.making import drafted
from citewell.server.studies.showing import blind

from .samples import QUESTIONS, SYSTEMS, study_of, written


def test_answers_are_read_from_the_files_of_evaluations_and_others(tmp_path: Path) -> None:
    file = tmp_path / "scores.answers.jsonl"
    rows = [
        {"generator": "extractive", "identity": "i", "key": "k1", "question": "Why?", "raw": "Raw."}
        | {"sentences": [["Because.", [1, 7], None], ["So it is.", []]], "seconds": 1.0, "error": ""}
        | {"references": [{"number": 1, "url": "https://a.example", "title": "A", "text": "Passage."}]},
        {"generator": "other", "key": "k2", "question": "How?", "sentences": [], "error": "It broke."},
        {"question": "Why?", "answer": "It [1] is.", "references": ["R."], "models": {"generator": "m"}},
        {"question": "Why?", "system": "human", "text": "Just so."},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    first, second, third = read_answer_file(file)
    assert (first.system, first.text) == ("extractive", "Because[1]. So it is.")
    assert first.stored()["sentences"][0] == {"text": "Because.", "citations": [1], "before": None}
    assert first.references[0].text == "Passage."
    assert (second.system, second.sentences[0].marks) == ("m", (1,))
    assert (third.system, third.text, third.references) == ("human", "Just so.", ())
    file.write_text('{"question": "Why?"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 1: there is no answer"):
        list(read_answer_file(file))


def test_a_page_has_all_answers_or_each_two() -> None:
    answers = [written(question, system) for question in QUESTIONS for system in SYSTEMS]
    pages = drafted(answers, form_named("turing"))
    assert [len(page.answers) for page in pages] == [4, 4]
    webgpt = form_named("webgpt")
    assert len(drafted(answers, webgpt)) == 2 * 6
    pairs = drafted(answers, webgpt, against="human", limit=1, seed="1")
    assert [{each.system for each in pair.answers} for pair in pairs] == [
        {system, "human"} for system in SYSTEMS[:3]
    ]
    assert len({pair.question for pair in pairs}) == 1
    with pytest.raises(InputError, match="No question has enough answers"):
        study_of("turing", systems=("alpha",))


@pytest.mark.parametrize("form", ["webgpt", "minimal"])
def test_pairs_with_a_system_need_a_common_question(form: str) -> None:
    answers = [written(QUESTIONS[0], "alpha"), written(QUESTIONS[0], "beta"), written(QUESTIONS[1], "human")]
    with pytest.raises(
        InputError, match="No question has an answer of the system 'human' and a different one"
    ):
        drafted(answers, form_named(form), against="human")
    with pytest.raises(InputError, match=r"of the system 'human.jsonl'\. The systems: alpha, beta, human\."):
        drafted(answers, form_named(form), against="human.jsonl")
    with pytest.raises(InputError, match="The form turing has no pairs"):
        drafted(answers, form_named("turing"), against="human")


def test_references_that_marks_would_miss_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    references = [{"number": 2, "text": "It is so."}, {"number": 1, "text": "It is not."}]
    file.write_text(json.dumps({"question": "Why?", "answer": "It is so [2].", "references": references}))
    with pytest.raises(InputError, match="line 1: the references are not numbered 1, 2, 3"):
        list(read_answer_file(file))


def test_each_rater_has_an_order_of_answers_and_of_items_that_lasts() -> None:
    study, items = study_of("turing", questions=tuple(f"Why {number}?" for number in range(20)))
    orders = {rater: [answer_order(study, item, rater) for item in items] for rater in ("ada", "bob")}
    assert orders["ada"] != orders["bob"]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders["ada"])
    assert orders["ada"] == [answer_order(study, item, "ada") for item in items]
    shown = [[item.position for item in item_order(study, items, rater)] for rater in ("ada", "bob")]
    assert shown[0] != shown[1]
    assert sorted(shown[0]) == list(range(20))


def test_a_tenth_of_the_items_needs_every_part() -> None:
    study, items = study_of("webgpt", questions=tuple(f"Why {number}?" for number in range(200)))
    needed = [needs_every_part(study, item) for item in items]
    assert 0.07 < sum(needed) / len(needed) < 0.13  # of 1,200
    again, same = study_of("webgpt", questions=tuple(f"Why {number}?" for number in range(200)))
    assert [needs_every_part(again, item) for item in same] == needed
    study, items = study_of("webgpt", share_required=1.0)
    assert all(needs_every_part(study, item) for item in items)


def test_the_layout_of_an_answer_is_kept(tmp_path: Path) -> None:
    written = "## Bats\n\n- They *fly* [1].\n- They sleep."
    file = tmp_path / "scores.answers.jsonl"
    file.write_text(json.dumps({"question": "Why?", "answer": written, "references": ["They fly."]}) + "\n")
    (answer,) = read_answer_file(file)
    for cited in (True, False):
        view = study_view("Why?", answer.stored(), cited=cited)
        html = "".join(claim.shown.before + claim.shown.html for claim in view.claims) + view.end
        assert "<h2>Bats</h2>" in html
        assert html.count("<li>") == 2
        assert "They <em>fly</em>" in html
        assert "- They *fly*" in blind(answer.stored(), cited=cited).text
