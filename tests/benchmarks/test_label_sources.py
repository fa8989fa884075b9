"""The comparison of labels: arms are taught by the same questions, and measured with others."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.label_agreement import agreement
from benchmarks.label_sources import (
    ARMS,
    SOURCES,
    encoder_recipe,
    is_held,
    once,
    read_sets,
    report,
    reranker_recipe,
    source_sections,
    write_held,
    write_train_labels,
)
from citewell.core.training.sources import DataFolders
from citewell.retriever.cross_encoder.training.config import load_config as load_reranker
from citewell.retriever.evaluation.report import details_file
from citewell.retriever.evaluation.task import read_task
from citewell.retriever.training.config import load_config as load_retriever
from citewell.retriever.training.labels.answers import answer_rows
from citewell.retriever.training.labels.asked import AskedQuestions, read_asked

QUESTIONS = 40


@pytest.fixture
def asked(tmp_path: Path) -> AskedQuestions:
    """Forty questions of one set, and labels of two passages each, of which people chose the first."""
    file = tmp_path / SOURCES["qed"][0]
    file.parent.mkdir(parents=True)
    rows = [
        {
            "id": f"q{n}",
            "question": f"What is {n}?",
            "positive": [{"title": "Numbers", "text": f"{n} is a number."}],
            "hard_negative": [{"title": "Letters", "text": f"{n} is not a letter."}],
        }
        for n in range(QUESTIONS)
    ]
    with gzip.open(file, "wt") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    found = read_asked([file])
    labels = [
        {"set": "qed", "question": name, "passage": passage.id, "yes": 0.9 - 0.2 * place, "gold": not place}
        for name, question in found.questions.items()
        for place, passage in enumerate((*question.answering, *question.others))
    ]
    labels.append({"set": "qed", "question": "q0", "passage": "0" * 16, "yes": 0.5, "gold": False})
    with gzip.open(tmp_path / "labels.jsonl.gz", "wt") as lines:
        lines.writelines(json.dumps(label) + "\n" for label in labels)
    return found


def test_questions_are_taught_or_measured_with(asked: AskedQuestions, tmp_path: Path) -> None:
    sets = read_sets(tmp_path / "labels.jsonl.gz")
    write_train_labels(sets, tmp_path)
    taught = [json.loads(line) for line in (tmp_path / "labels-qed.jsonl").read_text().splitlines()]
    folder, option, run = write_held(asked, sets["qed"], tmp_path / "held")
    task = read_task(Path(folder), split="test")
    assert option == "--rerank"
    assert {row["question"] for row in taught} == {name for name in asked.questions if not is_held(name)}
    assert set(task.queries) == set(asked.questions) - {row["question"] for row in taught}
    assert len({row["question"] for row in taught}) == pytest.approx(QUESTIONS * 3 / 4, abs=6)
    assert len(Path(run).read_text().splitlines()) == 2 * len(task.queries)


def test_only_the_targets_differ(asked: AskedQuestions, tmp_path: Path) -> None:
    sets = read_sets(tmp_path / "labels.jsonl.gz")
    write_train_labels(sets, tmp_path)
    targets = {}
    for arm, people in ARMS.items():
        sources = source_sections(sets, people)
        (tmp_path / "encoder.toml").write_text(encoder_recipe(sources, 10))
        (tmp_path / "reranker.toml").write_text(reranker_recipe(sources, 10))
        encoder = load_retriever(tmp_path / "encoder.toml")
        assert load_reranker(tmp_path / "reranker.toml").data[0].people == encoder.data[0].people == people
        (source,) = encoder.data
        files = DataFolders(tmp_path).files(source)
        assert source.answers is not None
        rows = answer_rows(files, tmp_path / source.answers, source.people)
        targets[arm] = [row.targets for row in rows]
    assert all(target == (1, 0) for target in targets["people"])
    for teacher, both in zip(targets["teacher"], targets["both"], strict=True):
        assert 1 > both[0] > teacher[0] > teacher[1] > both[1] > 0


def test_the_report_compares_with_the_encoder_as_it_is_and_with_people(
    capsys: pytest.CaptureFixture[str],
) -> None:
    systems = ["none", *(f"{kind}, {arm}" for kind in ("dual encoder", "cross-encoder") for arm in ARMS)]
    better = {"cross-encoder, teacher", "cross-encoder, both"}
    found = {
        name: {
            system: {f"{name}{n}": 0.9 if system in better else 0.5 for n in range(20)} for system in systems
        }
        for name in ("qed", "squad", "trecdl20")
    }
    report(found)
    printed = capsys.readouterr().out
    assert "held-out questions: 40 questions" in printed
    assert "trecdl20: 20 questions" in printed
    assert printed.count("| cross-encoder, teacher | nDCG@10, from people | +0.4000") == 2
    assert printed.count("| dual encoder, both | nDCG@10, from none | +0.0000") == 2


def test_labels_agree_where_people_chose_what_has_the_highest() -> None:
    def row(yes: float, *, gold: bool) -> dict[str, object]:
        return {"yes": yes, "gold": gold}

    found = agreement(
        {
            "a": [row(0.9, gold=True), row(0.5, gold=False)],
            "b": [row(0.4, gold=True), row(0.6, gold=False)],
            "c": [row(0.1, gold=False)],
        }
    )
    assert list(found.values()) == [3, 5, 2, pytest.approx(4 / 6, abs=0.001), 2, 1, 0.4]


def test_what_an_earlier_run_measured_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def measure(*of: object) -> dict[str, int]:
        asked.append(of)
        return {"new": 1}

    monkeypatch.setattr("benchmarks.label_sources.evaluated", measure)
    file = tmp_path / "qed.json"
    assert once(file, ["e5-small"], "e5-small", ()) == {"new": 1}
    details_file(file).write_text('{"old": 1}', encoding="utf-8")
    assert once(file, ["e5-small"], "e5-small", ()) == {"old": 1}
    assert asked == [(file, ["e5-small"], "e5-small", ())]
