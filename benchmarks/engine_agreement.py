"""Measure how often the default engine prefers float32's next token, and how much is due to int8.

After one different token, two greedy answers diverge, so counting equal tokens up to there says little. Here
both engines read the prompt and float32's answer, and predict the token at each position. A third prediction
is float32's with the weights that the engine runs, rounded to int8: where it differs from float32, rounding
is the cause; where it differs from the engine, the engine is.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.engines import THREADS, Prompt
from citewell.core.remote_code import TRUST_REMOTE_CODE

Tokens = NDArray[np.int64]


def agreement(folder: Path, prompt: Prompt) -> dict[str, float]:
    """Return shares (0 to 1) of the positions of the answer at which the same token ranks first.

    `folder` has OpenVINO's files, and the model.gguf that they were made from.
    """
    ids = [*prompt.ids, *prompt.reference[:-1]]
    first = len(prompt.ids) - 1
    expected = np.array(prompt.reference)
    engine = _openvino(folder, ids)[first:]
    rounded = _float32(folder, ids)[first:]
    return {
        "engine_float32": float(np.mean(engine == expected)),
        "rounded_float32": float(np.mean(rounded == expected)),
        "engine_rounded": float(np.mean(engine == rounded)),
    }


def _openvino(folder: Path, ids: list[int]) -> Tokens:
    openvino: Any = importlib.import_module("openvino")
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": THREADS}
    model = openvino.Core().compile_model(str(folder / "openvino_model.xml"), "CPU", options)
    inputs = {
        "input_ids": np.array([ids]),
        "attention_mask": np.ones((1, len(ids)), dtype=np.int64),
        "position_ids": np.arange(len(ids))[None],
        "beam_idx": np.zeros(1, dtype=np.int32),
    }
    logits = model.create_infer_request().infer(inputs)["logits"][0]
    return np.asarray(logits.argmax(-1))


def _float32(folder: Path, ids: list[int]) -> Tokens:
    import torch
    import transformers

    torch.set_num_threads(THREADS)
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(
        folder,
        gguf_file="model.gguf",
        trust_remote_code=TRUST_REMOTE_CODE,
        quantization_config=transformers.GgufConfig(dequantize=True),
    )
    with torch.inference_mode():
        return np.asarray(model(torch.tensor([ids])).logits[0].argmax(-1))
