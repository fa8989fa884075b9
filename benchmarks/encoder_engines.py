"""Compare the speed and accuracy of OpenVINO, CTranslate2 and ONNX Runtime for encoding passages.

Run `python -m benchmarks.encoder_engines`; it needs CITEWELL_DATA, `pip install ctranslate2 onnxruntime onnx`
and the extra `dev`. All engines have the weights of all-MiniLM-L6-v2 and the same batches, and take turns.
Compare CPU seconds: other work on the machine disturbs them less. `cosine` is the similarity to float32's
vectors.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ranking_systems import MAX_TOKENS, read_paragraphs
from benchmarks.results_files import machine, output_option, save, table
from citewell.retriever.encoder.batches import encode_ids
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines import openvino
from citewell.retriever.encoder.engines.engine import Engine, Ids, pad, pool
from citewell.retriever.encoder.engines.torch import TorchEngine, load_model
from citewell.retriever.encoder.resolve import Tower, resolve
from citewell.retriever.encoder.tokenizer import read_tokenizer

NAME, MODEL, REFERENCE = "encoder_engines", "all-MiniLM-L6-v2", "PyTorch float32"
GROUPS = (32, 128, 384)
PACKAGES = {
    "PyTorch": ("torch", "transformers", "sympy", "networkx"),
    "OpenVINO": ("openvino", "openvino-telemetry"),
    "CTranslate2": ("ctranslate2",),
    "ONNX": ("onnxruntime", "onnx", "protobuf", "ml-dtypes"),
}


def own(tower: Tower, work: Path, threads: int, group: int) -> Engine:
    """Return Citewell's engine; `group` numbers of an activation share a scale."""
    folder = work / "openvino"
    if not folder.exists():
        folder.mkdir()
        openvino.convert(tower, folder)
    openvino._OPTIONS["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = group
    return openvino.OpenVinoEngine(folder, threads=threads)


def pytorch(tower: Tower, work: Path, threads: int) -> Engine:
    return TorchEngine(load_model(tower), tower.pooling, threads=threads)


class CTranslate2:
    """Weights int8, activations int8 per token."""

    batch_tokens = 512

    def __init__(self, tower: Tower, work: Path, threads: int) -> None:
        module: Any = importlib.import_module("ctranslate2")
        converters: Any = importlib.import_module("ctranslate2.converters")

        class Converter(converters.TransformersConverter):  # type: ignore[misc]
            def load_model(self, *_: Any, **__: Any) -> Any:
                model = load_model(tower)
                model.config.position_embedding_type = "absolute"  # which transformers 5 dropped
                return model

        if not (work / "ct2").exists():
            Converter(str(tower.folder)).convert(str(work / "ct2"), quantization="int8")
        self.lanes = threads
        self._model = module.Encoder(
            str(work / "ct2"), compute_type="int8_float32", inter_threads=threads, intra_threads=1
        )

    def pooled(self, ids: Ids) -> Vectors:
        """Return the pooled vectors of one batch."""
        return pool(
            np.asarray(self._model.forward_batch(ids).last_hidden_state), [len(t) for t in ids], "mean"
        )


class OnnxRuntime:
    """Weights int8 per channel, activations uint8 per batch."""

    batch_tokens = 512

    def __init__(self, tower: Tower, work: Path, threads: int) -> None:
        import torch

        module: Any = importlib.import_module("onnxruntime")
        quantization: Any = importlib.import_module("onnxruntime.quantization")
        model = load_model(tower)
        model.set_attn_implementation("eager")

        class Exported(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, input_ids: Any, attention_mask: Any) -> Any:
                return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

        names = ["input_ids", "attention_mask"]
        ids = torch.tensor([[5] * 16, [5] * 16])
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Exported(),
                (ids, torch.ones_like(ids)),
                str(work / "plain.onnx"),
                input_names=names,
                output_names=["states"],
                dynamic_axes={name: {0: "texts", 1: "tokens"} for name in [*names, "states"]},
                opset_version=17,
                dynamo=False,
            )
        kind = quantization.QuantType.QInt8
        quantization.quantize_dynamic(
            work / "plain.onnx", work / "int8.onnx", weight_type=kind, per_channel=True
        )
        options = module.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.lanes = threads
        self._session = module.InferenceSession(
            str(work / "int8.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def pooled(self, ids: Ids) -> Vectors:
        """Return the pooled vectors of one batch."""
        inputs = dict(zip(["input_ids", "attention_mask"], pad(ids), strict=True))
        return pool(np.asarray(self._session.run(None, inputs)[0]), [len(text) for text in ids], "mean")


ENGINES: dict[str, Callable[[Tower, Path, int], Engine]] = {
    REFERENCE: pytorch,
    **{f"OpenVINO int8, groups of {group}": partial(own, group=group) for group in GROUPS},
    "CTranslate2 int8": CTranslate2,
    "ONNX Runtime int8": OnnxRuntime,
}


def megabytes(packages: tuple[str, ...]) -> float:
    """Return the size of packages on disk, in megabytes."""
    files = (file for package in packages for file in importlib.metadata.files(package) or ())
    return sum(path.stat().st_size for file in files if (path := Path(str(file.locate()))).is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--paragraphs", type=int, default=100)
    output_option(parser)
    args = parser.parse_args()
    tower = resolve(MODEL).passage
    tokenizer = read_tokenizer(tower.tokenizer)
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    ids = [encoding.ids for encoding in tokenizer.encode_batch(read_paragraphs(args.paragraphs))]
    found: dict[str, dict[str, float]] = {}
    engines, vectors = {}, {}
    load_average = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as work:
        for name, make in ENGINES.items():
            print(name, file=sys.stderr, flush=True)
            make(tower, Path(work), args.threads)  # converts, which is not to count below
            started = time.perf_counter()
            engines[name] = make(tower, Path(work), args.threads)
            seconds = time.perf_counter() - started
            encode_ids(engines[name], ids[:1])
            found[name] = {"first": time.perf_counter() - started, "load": seconds}
        for _ in range(args.rounds):
            for name, engine in engines.items():
                started, used = time.perf_counter(), time.process_time()
                vectors[name] = encode_ids(engine, ids)
                wall, cpu = time.perf_counter() - started, time.process_time() - used
                best = found[name]
                best["wall"], best["cpu"] = min(best.get("wall", wall), wall), min(best.get("cpu", cpu), cpu)
    unit = {name: v / np.linalg.norm(v, axis=1, keepdims=True) for name, v in vectors.items()}
    rows = []
    for name, figures in found.items():
        cosines = (unit[name] * unit[REFERENCE]).sum(axis=1)
        figures |= {"cosine": float(cosines.mean()), "least_cosine": float(cosines.min())}
        figures["megabytes"] = megabytes(PACKAGES[name.split()[0]])
        rate, work_rate = len(ids) / figures["wall"], len(ids) / figures["cpu"]
        rows.append(
            [name, f"{rate:.0f}", f"{work_rate:.0f}", f"{figures['load']:.2f}", f"{figures['first']:.2f}"]
            + [f"{figures['cosine']:.4f}", f"{figures['least_cosine']:.4f}", f"{figures['megabytes']:.0f}"]
        )
    print(f"{machine()}, {args.threads} threads, load average before {load_average:.1f}\n")
    header = ["engine", "passages/s", "per CPU second", "load s", "first vector s", "cosine", "least", "MB"]
    print(table(header, rows))
    result: dict[str, Any] = {"threads": args.threads, "load_average_before": load_average}
    save(NAME, result | {"engines": json.loads(json.dumps(found))}, args.output)


if __name__ == "__main__":
    main()
