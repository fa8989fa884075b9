"""Measure what an encoder learns from a language model's answers, as in WebGLM's section 3.1.2 and Table 7.

`python -m benchmarks.taught_encoder --out FOLDER` trains all-MiniLM-L6-v2 on the answers of Citewell-QA, with
corrected citations, and on their references. Each arm sees the same questions as often:

- `squared error` makes the inner product the share of a reference's words in the answer (ROUGE-1 precision),
  as the paper says;
- `listwise` orders the references by these shares;
- `contrastive` puts the references that the answer cites above the others, as in WebGLM's code;
- `none` is the encoder as it is.

All order the candidates of BM25 of TREC Deep Learning 2019 and 2020, and the passages that BM25 finds in
Wikipedia for Schools, as `benchmarks.answer_bearing --systems encoder` does, with its `--data-dir` and its
`--limit`. The same command continues after an interruption.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from benchmarks.answer_details import Values, read_systems
from benchmarks.label_sources import once, train
from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.significance import compare_all, differences_table

DATA_SET = Path(__file__).parents[1] / "recipes" / "citewell-qa" / "dataset"
BASE = "all-MiniLM-L6-v2"
ARMS = {
    "squared error": ("rouge", 'name = "inner_product_mse"'),
    "listwise": ("rouge", 'name = "listwise_kl"\ntemperature = 0.05\nteacher_temperature = 0.15'),
    "contrastive": ("adopted", 'name = "contrastive"'),
}
"""The label of a reference, and the objective."""

TRACKS = ("trecdl19", "trecdl20")
_EPOCHS = 4
_NDCG = "nDCG@10"
_LIMIT = 100
_BEARING = ("@1", "@5")


def main() -> None:
    """Train the arms, measure them, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for recipes, models and results")
    parser.add_argument("--arms", default=",".join(ARMS), help="comma-separated [all]")
    parser.add_argument("--data-set", type=Path, default=DATA_SET, help="answers [the published]")
    parser.add_argument("--data-dir", type=Path, help="folder of the collection; filled if it is not there")
    parser.add_argument("--limit", type=int, default=_LIMIT, help=f"questions of each set [{_LIMIT}]")
    parser.add_argument("--epochs", type=int, default=_EPOCHS, help=f"passes over the answers [{_EPOCHS}]")
    output_option(parser)
    options = parser.parse_args()
    out, data_set = options.out, options.data_set.resolve()
    arms = options.arms.split(",")
    if unknown := set(arms).difference(ARMS):
        parser.error(f"Unknown arms: {', '.join(sorted(unknown))}. Known are {', '.join(ARMS)}.")
    out.mkdir(parents=True, exist_ok=True)
    for arm in arms:
        train("retriever", folder_of(arm, out), recipe(arm, data_set, options.epochs))
    encoders = {"none": BASE} | {arm: str(folder_of(arm, out)) for arm in arms}
    results = tracks(encoders, out) | bearing(encoders, out, options.data_dir or out / "data", options.limit)
    report(results)
    means = {
        measure: {arm: fmean(of.values()) for arm, of in found.items()} for measure, found in results.items()
    }
    with (data_set / "train.jsonl").open(encoding="utf-8") as lines:
        rows = sum(1 for _ in lines)
    save("taught_encoder", {"epochs": options.epochs, "rows": rows, "means": means}, options.output)


def folder_of(arm: str, out: Path) -> Path:
    """Return the folder of an arm's encoder."""
    return out / arm.replace(" ", "-")


def recipe(arm: str, data_set: Path, epochs: int) -> str:
    """Return the recipe of an arm."""
    label, objective = ARMS[arm]
    return f"""\
[model]
base = "{BASE}"
tuning = "full"
max_tokens = 160

[[data]]
name = "citewell-qa"
files = ["{data_set / "train.jsonl"}"]
format = "references"
label = "{label}"
license = "see the card of Citewell-QA"

[[objectives]]
{objective}

[training]
epochs = {epochs}
batch = 16
list_size = 5
learning_rate = 2e-5
threads = 2
"""


def tracks(encoders: Mapping[str, str], out: Path) -> dict[str, Values]:
    """Return nDCG@10 of each question by track and arm, for the candidates of BM25."""
    found = {}
    for name in TRACKS:
        folder = external_data() / "retrieval" / name
        official, run = folder / "official_qrels.tsv", folder / "runs" / "bm25.txt.gz"
        task = (str(folder), "--qrels", str(official), "--rerank", str(run), "--relevant", "2")
        systems = once(out / "results" / f"{name}.json", [*encoders.values()], BASE, task)["systems"]
        found[f"{_NDCG}, {name}"] = {arm: systems[at]["values"][_NDCG] for arm, at in encoders.items()}
    return found


def bearing(encoders: Mapping[str, str], out: Path, data_dir: Path, limit: int) -> dict[str, Values]:
    """Return whether the first references bear the answer, by measure and arm, for each question."""
    found: dict[str, Values] = {}
    for arm, encoder in encoders.items():
        details = out / "results" / f"bearing-{folder_of(arm, out).name}.json"
        command = [sys.executable, "-m", "benchmarks.answer_bearing", "--systems", "encoder"]
        command += ["--set", f"retriever.encoder={encoder}", "--limit", str(limit), "--details", str(details)]
        command += ["--data-dir", str(data_dir), "--output", str(out / "results" / "bearing.json")]
        subprocess.run(command, check=True)
        values = read_systems(details)["encoder"].values
        for at in _BEARING:
            sets = [of for measure, of in values.items() if measure.endswith(f" {at}")]
            found.setdefault(f"answer {at}", {})[arm] = dict(ChainMap(*sets))
    return found


def report(results: Mapping[str, Values]) -> None:
    """Print the means, and the differences from the encoder as it is."""
    arms = list(next(iter(results.values())))
    rows = [[arm, *(f"{fmean(of[arm].values()):.3f}" for of in results.values())] for arm in arms]
    print(f"\n{table(['arm', *results], rows)}\n")
    taught = {
        measure: compare_all({arm: of[arm] for arm in arms if arm != "none"}, of["none"])
        for measure, of in results.items()
    }
    print(differences_table(taught))


if __name__ == "__main__":
    main()
