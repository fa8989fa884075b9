"""The examples that a judge learns from: what is asked, and whether yes is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from citewell.core.errors import InputError
from citewell.core.training.sources import DataFolders
from citewell.generator.citations.answering import answered_prompt, right_prompt
from citewell.generator.citations.asking import support_prompt
from citewell.generator.citations.relevance import relevance_prompt
from citewell.generator.training.judge.config import JudgeRecipe, load_config
from citewell.generator.training.judge.examples import JudgeData, JudgeExample, read_examples

RECIPE = Path(__file__).parents[4] / "recipes" / "judge.toml"
PASSAGE = {"title": "The flat", "text": "The rent is 900 pounds. Anna keeps the keys."}


def read(folder: Path, asks: str, rows: list[dict[str, Any]], **source: Any) -> JudgeData:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    about = {"name": "made-up", "files": ["rows.jsonl"], "license": "CC0", "asks": asks} | source
    return read_examples(JudgeRecipe(data=(about,)), DataFolders(folder))  # type: ignore[arg-type]


def examples(data: JudgeData) -> list[JudgeExample]:
    (source,) = data.train
    return list(source.examples)


def test_the_recipe_of_the_shipped_judge_can_be_read() -> None:
    config = load_config(RECIPE)
    assert config.measured
    assert {source.asks for source in config.data} == {"support", "answered", "right", "relevance"}


def test_claims_are_asked_about_as_citations_are(tmp_path: Path) -> None:
    rows = [
        {"premise": "It rained.", "claim": "It was wet.", "label": "supported"},
        {"premise": "It rained.", "claim": "It snowed.", "label": "refuted"},
        {"premise": "It rained.", "claim": "It rained all day.", "label": "partial"},
        {"premise": "", "claim": "Nothing is known.", "label": "supported"},
    ]
    found = examples(read(tmp_path, "support", rows))
    assert [each.yes for each in found] == [1.0, 0.0, 0.4]
    assert found[1].messages == tuple(support_prompt("It snowed.", "It rained."))


def test_an_unknown_label_is_named_with_its_line(tmp_path: Path) -> None:
    rows = [{"premise": "It rained.", "claim": "It was wet.", "label": "true"}]
    with pytest.raises(InputError, match=r"rows.jsonl, line 1: the label 'true' is not known"):
        read(tmp_path, "support", rows)


@pytest.mark.parametrize(
    ("asks", "row", "told"),
    [
        (
            "support",
            {"premise": "It rained.", "claim": "It was wet.", "label": ["x"]},
            r"\['x'\] is not known",
        ),
        ("support", {"premise": 5, "claim": "It was wet.", "label": "refuted"}, "the premise is not a text"),
        ("answered", {"passage": "900 pounds.", "label": ["answerable"]}, "the label is not a text"),
        (
            "answered",
            {"passage": "900 pounds.", "label": "answerable", "title": 5},
            "the title is not a text",
        ),
        ("answered", {"positive": "900 pounds."}, "the field positive is not a list"),
        ("right", {"positive": [PASSAGE | {"title": 5}], "answer": ["Anna"]}, "the title is not a text"),
        ("relevance", {"candidates": [{"text": "So.", "label": 1}], "title": 5}, "the title is not a text"),
        ("relevance", {"candidates": "So."}, "the candidates are not a list of objects"),
    ],
)
def test_a_field_of_an_odd_type_is_named_with_its_line(
    tmp_path: Path, asks: str, row: dict[str, Any], told: str
) -> None:
    rows = [{"question": f"What is {n}?"} | row for n in range(8)]
    with pytest.raises(InputError, match=rf"rows.jsonl, line \d: .*{told}") as error:
        read(tmp_path, asks, rows)
    assert error.value.hint.startswith("Write ")


def test_wrong_answers_are_those_of_other_questions_on_the_passage(tmp_path: Path) -> None:
    rows = [
        {"question": f"What is the rent in case {n}?", "positive": [PASSAGE], "answer": ["900 pounds"]}
        for n in range(20)
    ]
    rows += [{"question": "Who keeps the keys?", "positive": [PASSAGE], "answer": ["Anna"]}]
    rows += [{"question": "Who keeps the dog?", "positive": [], "hard_negative": [PASSAGE], "answer": []}]
    found = examples(read(tmp_path, "right", rows))
    shown = "The flat: The rent is 900 pounds. Anna keeps the keys."
    by_question = {each.about: each for each in found}
    for name, each in by_question.items():
        own, other = ("Anna", "900 pounds") if "keys" in name else ("900 pounds", "Anna")
        if "dog" in name:
            assert each.yes == 0
            continue
        assert each.messages == tuple(right_prompt(name, own if each.yes else other, shown))
    assert len(found) == 22
    assert {each.yes for each in found if "rent" in each.about} == {0.0, 1.0}
    claims = examples(read(tmp_path, "support", rows))
    claim = next(each for each in claims if "keys" in each.about)
    answer = "Anna" if claim.yes else "900 pounds"
    assert claim.messages == tuple(support_prompt(f"Who keeps the keys? {answer}", shown))


def test_passages_answer_or_do_not(tmp_path: Path) -> None:
    rows = [
        {"question": "What is the rent?", "title": "A", "passage": "900 pounds.", "label": "answerable"},
        {"question": "Who owns it?", "title": "A", "passage": "900 pounds.", "label": "unanswerable"},
        {"question": "Which one?", "title": "A", "passage": "900 pounds.", "label": "underspecified"},
        {"question": "Who has keys?", "positive": [PASSAGE]},
        {"question": "Who has a dog?", "positive": [], "hard_negative": [PASSAGE]},
    ]
    found = examples(read(tmp_path, "answered", rows))
    assert [each.yes for each in found] == [1, 0, 1, 0]
    assert found[0].messages == tuple(answered_prompt("What is the rent?", "A: 900 pounds."))


def test_passages_that_answer_are_drawn_as_often_as_others(tmp_path: Path) -> None:
    hard = [{"title": "", "text": f"Rule {n}."} for n in range(4)]
    rows = [{"question": f"Which {n}?", "positive": [PASSAGE], "hard_negative": hard} for n in range(200)]
    found = examples(read(tmp_path, "answered", rows))
    assert 0.4 < sum(each.yes for each in found) / len(found) < 0.6


def test_sentences_answer_or_do_not(tmp_path: Path) -> None:
    candidates = [{"text": "It is 900 pounds.", "label": 1}, {"text": "It is warm.", "label": 0}]
    rows = [{"question": f"What is rent {n}?", "title": "A", "candidates": candidates} for n in range(20)]
    found = examples(read(tmp_path, "relevance", rows))
    assert {each.yes for each in found} == {0.0, 1.0}
    for each in found:
        text = candidates[0 if each.yes else 1]["text"]
        assert each.messages == tuple(relevance_prompt(each.about, "A", str(text)))


def test_dev_and_training_share_no_question(tmp_path: Path) -> None:
    rows = [
        {"premise": f"Rain {n}.", "claim": f"It was wet {n % 10}.", "label": "supported"} for n in range(40)
    ]
    data = read(tmp_path, "support", rows, held_out=4, limit=8)
    (dev,), (train,) = data.dev, data.train
    assert len(dev.examples) == 4
    assert len(train.examples) == 8
    assert not {each.about for each in dev.examples} & {each.about for each in train.examples}
    with pytest.raises(InputError, match="The source made-up has no training example"):
        read(tmp_path, "support", rows, held_out=40)


def test_no_source_trains_on_the_dev_questions_of_another(tmp_path: Path) -> None:
    rows = [{"question": f"What is {n}?", "positive": [PASSAGE], "answer": ["Anna"]} for n in range(12)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    about = {"files": ["rows.jsonl"], "license": "CC0"}
    sources = (
        about | {"name": "a", "asks": "right", "held_out": 4},
        about | {"name": "b", "asks": "answered"},
    )
    data = read_examples(JudgeRecipe(data=sources), DataFolders(tmp_path))  # type: ignore[arg-type]
    held = {each.about for each in data.dev[0].examples}
    assert [len(source.examples) for source in data.train] == [8, 8]
    assert not any(each.about in held for source in data.train for each in source.examples)


def test_a_passage_without_text_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: the text is not a text"):
        read(tmp_path, "right", [{"question": "Who?", "positive": [{"title": "A"}], "answer": ["Anna"]}])


def test_an_answer_may_be_one_text(tmp_path: Path) -> None:
    asked = {"question": "Who?", "positive": [PASSAGE]}
    found = examples(read(tmp_path, "right", [asked | {"answer": "Anna"}]))
    assert found == examples(read(tmp_path, "right", [asked | {"answer": ["Anna"]}]))
    with pytest.raises(InputError, match="the answer is neither a text nor a list of texts"):
        read(tmp_path, "right", [asked | {"answer": 5}])
