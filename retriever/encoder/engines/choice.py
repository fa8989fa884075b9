"""Which engines there are, and which of them is the fastest on this machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citewell.retriever.encoder.batches import encode_ids
from citewell.retriever.encoder.engines import ct2, onnx
from citewell.retriever.encoder.engines.engine import Engine
from citewell.retriever.encoder.resolve import PoolingMode, Tower

CONVERTED = ("ct2", "onnx")
"""The engines that run converted weights, the most exact first."""

# A less exact engine has to be this much faster to be chosen; a busy machine must not seem to be one.
_GAIN = 2.0

# Paragraphs are of such lengths, in tokens; a question comes with them.
_LENGTHS = (12, *range(40, 240, 20))
_SECONDS = 1.5
_FEWEST_ROUNDS, _MOST_ROUNDS = 4, 8


def fastest(rates: Mapping[str, float]) -> str:
    """The engine to use, given the rate of each: the more exact one unless it is clearly slower."""
    return next(engine for engine in CONVERTED if rates.get(engine, 0) * _GAIN >= max(rates.values()))


def convert(engine: str, tower: Tower, model: Any, target: Path) -> None:
    """Write the float32 `model` of `tower` for `engine` into the new folder `target`.

    Raises `ModelError` for a model that the engine cannot run.
    """
    {"ct2": ct2.convert, "onnx": onnx.convert}[engine](tower, model, target)


def open_engine(engine: str, folder: Path, pooling: PoolingMode, threads: int) -> Engine:
    """Load what `convert` wrote into `folder`; raises what the library raises when it is damaged."""
    if engine == "ct2":
        return ct2.Ct2Engine(folder, pooling, threads=threads)
    return onnx.OnnxEngine(folder / "model.onnx", pooling, threads=threads)


def rates(engines: Mapping[str, Engine], limit: int) -> dict[str, float]:
    """Passages a second of each engine, for passages of mixed lengths up to `limit` tokens: its best round.

    The engines take turns, so that other work on the machine disturbs all of them. The tokens mean nothing,
    which takes the same time.
    """
    ids = [[5] * min(length, limit) for length in _LENGTHS]
    best = dict.fromkeys(engines, float("inf"))
    spent = 0.0
    for number in range(_MOST_ROUNDS + 1):
        for name, engine in engines.items():
            started = time.perf_counter()
            encode_ids(engine, ids)
            seconds = time.perf_counter() - started
            if number > 0:  # the first round warms up
                best[name] = min(best[name], seconds)
                spent += seconds
        if number >= _FEWEST_ROUNDS and spent > _SECONDS:
            break
    return {name: round(len(ids) / seconds, 1) for name, seconds in best.items()}
