"""The courses of PPO's runs, and best of n beside them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")

from benchmarks.answers_ppo_curves import best_of_n, course, draw_curves


def test_the_course_of_a_run_is_that_of_its_dev_answers(tmp_path: Path) -> None:
    lines = [
        {"step": 0, "eval_kl": 0.0, "eval_support": 0.2, "eval_judge": 0.4},
        {"step": 1, "kl": 1.0, "support": 0.3},
        {"step": 5, "eval_kl": 4.0, "eval_support": 0.9, "eval_judge": 0.1},
    ]
    run = tmp_path / "run"
    run.mkdir()
    (run / "training.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert course(run) == [
        {"step": 0, "kl": 0.0, "support": 0.2, "judge": 0.4},
        {"step": 5, "kl": 4.0, "support": 0.9, "judge": 0.1},
    ]
    draw_curves([run], tmp_path / "out")
    curves = json.loads((tmp_path / "out" / "answers_ppo_curves.json").read_text())["curves"]
    assert curves["run"] == course(run)
    assert (tmp_path / "out" / "answers-kl-curves.png").read_bytes().startswith(b"\x89PNG")


def test_best_of_n_is_as_far_from_the_start_as_its_formula_says() -> None:
    of = {"support": 0.5, "score of citewell-scorer": 0.3, "copied 8-grams": 0.1, "words": 20.0}
    found = best_of_n({"start, one sample": of, "start, best of 4": of, "my-answers, one sample": of})
    assert [point["step"] for point in found] == [1, 4]
    assert [point["kl"] for point in found] == pytest.approx([0, math.log(4) - 3 / 4])
    assert found[0] | {"step": 0, "kl": 0} == {
        "step": 0,
        "kl": 0,
        "support": 0.5,
        "judge": 0.3,
        "copied": 0.1,
        "words": 20.0,
    }
