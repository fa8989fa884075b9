"""The encoder that learns from a language model's answers: three arms, measured by the same tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from benchmarks.answer_details import Details, Measured
from benchmarks.taught_encoder import ARMS, BASE, DATA_SET, bearing, main, recipe, report
from citewell.retriever.training.config import load_config
from citewell.retriever.training.labels.adopted import adopted_rows
from citewell.retriever.training.labels.rouge import rouge_rows


def test_each_arm_has_its_label_and_its_objective(tmp_path: Path) -> None:
    named = {}
    for arm, (label, _) in ARMS.items():
        (tmp_path / "recipe.toml").write_text(recipe(arm, DATA_SET, 3))
        config = load_config(tmp_path / "recipe.toml")
        assert (config.model.base, config.data[0].label, config.training.epochs) == (BASE, label, 3)
        named[arm] = [objective.name for objective in config.objectives]
    assert named == {
        "squared error": ["inner_product_mse"],
        "listwise": ["listwise_kl"],
        "contrastive": ["contrastive"],
    }


def test_an_unknown_arm_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["taught_encoder", "--out", str(tmp_path), "--arms", "listwise,cosine"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "Unknown arms: cosine. Known are squared error" in capsys.readouterr().err


def test_the_published_answers_have_both_labels() -> None:
    rouge, adopted = (read(DATA_SET / "train.jsonl") for read in (rouge_rows, adopted_rows))
    assert {row.question for row in adopted} <= {row.question for row in rouge}
    assert len(adopted) > 0.9 * len(rouge) > 90


def test_the_sets_of_a_measure_are_joined_and_encoders_are_asked_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def run(command: list[str], *, check: bool) -> CompletedProcess[str]:
        assert check
        asked.append(command)
        details = Path(command[command.index("--details") + 1])
        details.parent.mkdir(exist_ok=True)
        values = {"nq @1": {"a": 0.0}, "nq @5": {"a": 1.0}, "nq @20": {"a": 1.0}, "qed @1": {"b": 1.0}}
        Details(details, {}).write("encoder", Measured(values))
        return CompletedProcess(command, 0)

    monkeypatch.setattr("benchmarks.taught_encoder.subprocess.run", run)
    found = bearing({"none": BASE, "listwise": "folder"}, tmp_path, tmp_path / "data", 7)
    joined = {"a": 0.0, "b": 1.0}
    assert found["answer @1"] == {"none": joined, "listwise": joined}
    assert found["answer @5"]["none"] == {"a": 1.0}
    assert [command[0] for command in asked] == [sys.executable] * 2
    assert [command[command.index("--set") + 1] for command in asked] == [
        f"retriever.encoder={BASE}",
        "retriever.encoder=folder",
    ]


def test_the_report_compares_with_the_encoder_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    means = dict.fromkeys(("none", *ARMS), 0.5) | {"listwise": 0.6}
    report({"answer @5": {arm: {f"{n}": mean for n in range(20)} for arm, mean in means.items()}})
    printed = capsys.readouterr().out
    assert "| none | 0.500 |" in printed
    assert "| listwise | answer @5 | +0.1000" in printed
    assert "| squared error | answer @5 | +0.0000" in printed
