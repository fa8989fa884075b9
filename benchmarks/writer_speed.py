"""Measure ways to run the local writer: its weights, its decoding and its prompt, on one question.

`python -m benchmarks.writer_speed --generator FILE.gguf` writes 80 tokens of an answer about five
references of 110 words. Each way is a process of its own, which first answers once to warm up. `8 bits` are
all weights in Q8_0; `as in the file` are the weights of the GGUF file as OpenVINO reads them; `Citewell's`
are the mixture of `citewell.core.gguf.requantize`. With `beginning kept`, instruction and examples are
cached before.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.engines import QUESTION, REFERENCES
from benchmarks.report import output_option, save, table
from citewell.core.gguf import TEMPLATE, describe, open_gguf, requantize, save_openvino
from citewell.core.types import Reference
from citewell.generator.estimate import cut_to, estimate_tokens
from citewell.generator.openvino import chat_template
from citewell.generator.prompt import WEBGLM, PromptForm, build_messages

TOKENS, CANDIDATES, THREADS = 80, 4, 2


class Way(NamedTuple):
    """A way to write: the folder of weights, and what is done to save time."""

    weights: str
    lookup: bool = False
    kept: bool = False
    words: int = 0
    candidates: bool = False


WAYS = {
    "8 bits (before)": Way("8 bits"),
    "8 bits, lookup": Way("8 bits", lookup=True),
    "as in the file": Way("file"),
    "Citewell's 4 bits": Way("citewell"),
    "Citewell's 4 bits, lookup": Way("citewell", lookup=True),
    "… beginning kept": Way("citewell", lookup=True, kept=True),
    "… 250 words": Way("citewell", lookup=True, kept=True, words=250, candidates=True),
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--generator", type=Path, required=True, help="GGUF file with weights in Q4_K")
    parser.add_argument("--folder", type=Path, help="folder that keeps the converted weights")
    parser.add_argument("--repeats", type=int, default=3)
    output_option(parser)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for name in ("8 bits", "file", "citewell"):
            prepare(arguments.generator, name, folder / name)
        results: dict[str, Any] = {}
        for name, way in WAYS.items():
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
                results[name] = process.submit(measure, folder, way, arguments.repeats).result()
            print(name, results[name], flush=True)
    header = ["way", *next(iter(results.values()))]
    print("\n" + table(header, [[name, *values.values()] for name, values in results.items()]))
    save("writer_speed", {"tokens": TOKENS, "load_before": load, "ways": results}, arguments.output)


def prepare(gguf: Path, kind: str, folder: Path) -> None:
    """Fill a folder with OpenVINO's files, if it is not there yet."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    file = folder / "model.gguf"
    reader = open_gguf(gguf)
    describe(reader, folder)
    if kind == "file":
        shutil.copy(gguf, file)
    else:
        requantize(reader, file, (lambda name, values: values) if kind == "8 bits" else None)
    save_openvino(file)
    file.unlink()


def measure(folder: Path, way: Way, repeats: int) -> dict[str, Any]:
    """Return the medians of a way, with several candidates if it is the last."""
    import openvino_genai as genai

    weights = str(folder / way.weights)
    scheduler = genai.SchedulerConfig()
    scheduler.enable_prefix_caching = way.kept
    tokenizer = genai.Tokenizer(weights)
    options = {"prompt_lookup": True} if way.lookup else {}
    pipeline: Any = genai.ContinuousBatchingPipeline(
        weights,
        tokenizer,
        scheduler,
        "CPU",
        KV_CACHE_PRECISION="f32",
        INFERENCE_NUM_THREADS=THREADS,
        INFERENCE_PRECISION_HINT="f32",
        **options,
    )
    template = chat_template((folder / way.weights / TEMPLATE).read_text(encoding="utf-8"))

    def config(most: int, **more: Any) -> Any:
        found = genai.GenerationConfig(max_new_tokens=most, min_new_tokens=most, ignore_eos=True, **more)
        if way.lookup:
            found.num_assistant_tokens, found.max_ngram_size = 5, 3
        return found

    def prompt(turn: int) -> Any:
        # References in another order have no block in common with those of the turn before.
        texts = [" ".join(part.split()[1:]) for part in REFERENCES.strip().split("\n[")]
        texts = [*texts[turn % 5 :], *texts[: turn % 5]]
        if way.words:
            texts = [" ".join(text.split()[: way.words // 5]) for text in texts]
        references = [Reference(n, "", "Tides", text, 0.0) for n, text in enumerate(texts, 1)]
        messages = build_messages(
            QUESTION.strip().splitlines()[-1],
            references,
            budget=4000,
            count=estimate_tokens,
            cut=cut_to,
            form=PromptForm() if way.kept else WEBGLM,
        )
        text = template.render(messages=messages, add_generation_prompt=True, bos_token="")
        return tokenizer.encode(text, add_special_tokens=False).input_ids

    first, whole, rates = [], [], []
    for turn in range(repeats + 1):
        ids = prompt(turn)
        started = time.perf_counter()
        seen: list[float] = []
        pipeline.generate([ids], [config(TOKENS)], _streamer(genai, seen))
        ended = time.perf_counter()
        if turn:
            first.append(seen[0] - started)
            whole.append(ended - started)
            rates.append((TOKENS - 1) / (ended - seen[0]))
    result = {
        "prompt tokens": ids.shape[1],
        "first token s": _median(first),
        f"{TOKENS} tokens s": _median(whole),
        "tokens/s": _median(rates),
        f"{CANDIDATES} candidates ×": "",
        "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    if way.candidates:
        alone = _candidates(pipeline, prompt(repeats + 1), config, 1)
        several = _candidates(pipeline, prompt(repeats + 2), config, CANDIDATES)
        result[f"{CANDIDATES} candidates ×"] = round(several / alone, 2)
    return result


def _candidates(pipeline: Any, ids: Any, config: Any, n: int) -> float:
    """Return the seconds of `n` samples, as `citewell.generator.openvino` writes them."""
    started = time.perf_counter()
    pipeline.generate([ids], [config(1)])
    drawn = {"do_sample": True, "temperature": 0.8, "top_p": 0.95}
    for number in range(n):
        pipeline.add_request(number, ids, config(TOKENS, rng_seed=number, **drawn))
    while pipeline.has_non_finished_requests():
        pipeline.step()
    return time.perf_counter() - started


def _streamer(genai: Any, seen: list[float]) -> Any:
    class Streamer(genai.StreamerBase):  # type: ignore[misc]
        def write(self, token: int | list[int]) -> Any:
            seen.append(time.perf_counter())
            return genai.StreamingStatus.RUNNING

        def end(self) -> None:
            pass

    return Streamer()


def _median(values: Sequence[float]) -> float:
    return round(sorted(values)[len(values) // 2], 2)


if __name__ == "__main__":
    main()
