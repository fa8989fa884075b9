"""The benchmark of the writer's speed, with a tiny model: all is measured, and aims are told from values."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.writer_speed import (
    LLAMA,
    SMALL_QUESTIONS,
    measure_answers,
    measure_candidates,
    rows,
    small_collection,
)
from tests.core.tiny_gguf import write_gguf


def test_every_measurement_is_made(cache: Path, tmp_path: Path) -> None:
    model = write_gguf(tmp_path / "tiny.gguf")
    flags = {"generator.name": str(model), "threads": 1, "cache_dir": str(cache)}
    flags |= small_collection(tmp_path / "data")
    result = asyncio.run(measure_answers(flags, SMALL_QUESTIONS))
    assert result["written"] == result["questions"] == len(SMALL_QUESTIONS) - 1
    assert 0 < result["quoted"] < result["first_word"] < result["any_answer"]
    assert result["tokens_per_second"] > 0
    assert result["peak_mb"] > 100
    seconds = asyncio.run(measure_candidates(flags, SMALL_QUESTIONS[:2], 2))
    assert [each > 0 for each in seconds] == [True]
    told = {row[0]: row[1:] for row in rows(result | {"candidates_ratio": 1.0})}
    assert told["tokens per second, times llama.cpp"] == ["", "≥ 1.2", "not measured"]


def test_what_is_measured_is_compared_with_its_aim() -> None:
    measured = {"quoted": 0.8, "first_word": 2.6, "answer": None, "any_answer": 5.0, "words": 40}
    measured |= {"tokens_per_second": 11.0, "candidates_ratio": 1.5, "peak_mb": 2600.0}
    engines = {
        "engines": {LLAMA: {"tokens_per_second": {"median": 9.0}}, "other": {"error": "not installed"}},
        "tokens_per_second_times": {LLAMA: {"median": 1.25, "min": 1.2, "max": 1.3}},
    }
    told = {row[0]: row[1:] for row in rows(measured | {"engines": engines})}
    assert told["quotations visible, s"] == ["0.80", "≤ 1", "met"]
    assert told["first written word, s"] == ["2.60", "≤ 2.5", "missed"]
    assert told["checked answer of 60 to 100 words, s"] == ["", "≤ 8", "not measured"]
    assert told["peak memory, MB"] == ["2,600.00", "≤ 2500", "missed"]
    assert told["tokens per second, times llama.cpp"] == ["1.25", "≥ 1.2", "met"]
    assert told["tokens per second, times transformers in float32"][-1] == "not measured"
    assert told["llama.cpp, tokens per second"][0] == "9.00"
    assert told["other, tokens per second"][-1] == "not installed"
