"""What training by reinforcement costs in other tasks, for `benchmarks.answers_ppo`: the alignment tax.

InstructGPT's §4.2 and its Figures 33 to 36, in small: how well the policy predicts texts, and answers
questions of SQuAD, neither of which it was trained on.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.results_files import external_data, save, table
from citewell.core.answers import has_answer, token_f1
from citewell.core.settings import load_settings
from citewell.core.significance import compare_all, differences_table
from citewell.core.training.precision import Precision
from citewell.core.types import Reference
from citewell.generator.causal import Sampling
from citewell.generator.local import LocalGenerator
from citewell.generator.resolve import resolve
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.transformers import TransformersModel
from citewell.reinforcement.config import AnswersRecipe
from citewell.reinforcement.greedy import greedy_answers, load_policy
from citewell.reinforcement.networks import (
    POLICY,
    PolicyNetworks,
    autocast,
    build_networks,
    collated,
    parts_of,
)
from citewell.reinforcement.rollout import PromptedQuestion

START = "start"
LOG_PROBABILITY, ACCURACY, F1 = "log-probability per token", "accepted answer in it", "F1"
_ROW, _ANSWER = 128, 24  # tokens
_PROMPT = 400

Measured = dict[str, dict[str, float]]


def measure_tax(trained: Sequence[Path], texts: Sequence[str], out: Path, *, questions: int) -> None:
    """Compare the start and what was trained from it on texts, and on questions of SQuAD.

    Prints and saves the means and the paired tests. What is measured already is read from the folder.
    """
    settings = load_settings({})
    config = AnswersRecipe.model_validate_json((trained[0] / "run.json").read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    networks = build_networks(
        resolve(config.model.start), config.model.lora, settings.cache_dir, own_value=False, seed=0
    )
    precision = config.training.precision
    rows = _rows(networks, texts)
    asked = squad(networks, questions)
    measured: dict[str, Measured] = {}
    for name, folder in {START: None, **{each.name: each for each in trained}}.items():
        file = out / f"tax-{name}.json"
        if not file.is_file():
            if folder is not None:
                load_policy(networks, folder)
            found = {
                LOG_PROBABILITY: log_probabilities(networks, rows, config.training.part_tokens, precision)
            }
            found |= _answered(networks, asked, precision)
            file.write_text(json.dumps(found), encoding="utf-8")
        measured[name] = json.loads(file.read_text(encoding="utf-8"))
    _report(measured, out)


def log_probabilities(
    networks: PolicyNetworks, rows: Sequence[TokenizedExample], part_tokens: int, precision: Precision
) -> dict[str, float]:
    """Return the mean log-probability of the tokens of each row, in nats."""
    import torch

    found: dict[str, float] = {}
    with torch.no_grad(), autocast(networks.model.device, precision):
        for places in parts_of(rows, part_tokens):
            read = networks.read(collated(rows, places), POLICY)
            lengths = [len(rows[place].answer) for place in places]
            for place, logp in zip(places, torch.split(read.logp, lengths), strict=True):
                found[str(place)] = float(logp.mean())
    return found


def squad(networks: PolicyNetworks, count: int) -> dict[PromptedQuestion, tuple[str, ...]]:
    """Return questions of SQuAD as the policy is asked, with their paragraphs, and the accepted answers."""
    with gzip.open(external_data() / "qa_pairs" / "squad_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row.get("answer")]
    source = networks.source
    generator = LocalGenerator(
        TransformersModel(networks.model, networks.tokenizer),
        source.name,
        prompt_tokens=_PROMPT,
        answer_tokens=_ANSWER,
        sampling=Sampling(1.0, 0),
        form=source.defaults.form,
    )
    found = {}
    for row in random.Random(0).sample(rows, min(count, len(rows))):
        text = row["positive"][0]["text"]
        reference = Reference(1, "", row["positive"][0]["title"], text, 0.0)
        ids = networks.tokenizer.encode(
            generator.prompt_text(row["question"], [reference]), add_special_tokens=False
        )
        found[PromptedQuestion(row["question"], (reference,), tuple(ids))] = tuple(row["answer"])
    return found


def _answered(
    networks: PolicyNetworks, asked: Mapping[PromptedQuestion, Sequence[str]], precision: Precision
) -> Measured:
    texts = greedy_answers(networks, list(asked), tokens=_ANSWER, precision=precision)
    pairs = list(zip(texts, asked.values(), strict=True))
    return {
        ACCURACY: {str(place): float(has_answer(*pair)) for place, pair in enumerate(pairs)},
        F1: {str(place): token_f1(*pair) for place, pair in enumerate(pairs)},
    }


def _rows(networks: PolicyNetworks, texts: Sequence[str]) -> list[TokenizedExample]:
    """Return the beginning of each text, whose first token is given."""
    ids = [networks.tokenizer.encode(text, add_special_tokens=False)[:_ROW] for text in texts]
    return [TokenizedExample(tuple(each[:1]), tuple(each[1:])) for each in ids]


def _report(measured: Mapping[str, Measured], out: Path) -> None:
    means = {name: {each: fmean(of[each].values()) for each in of} for name, of in measured.items()}
    columns = [LOG_PROBABILITY, ACCURACY, F1]
    print(
        table(
            ["policy", *columns], [[name, *(f"{of[c]:.4f}" for c in columns)] for name, of in means.items()]
        )
    )
    start = measured[START]
    tests = {
        each: compare_all({name: of[each] for name, of in measured.items() if name != START}, start[each])
        for each in columns
    }
    print("\n" + differences_table(tests))
    counts: dict[str, Any] = {"texts": len(start[LOG_PROBABILITY]), "questions": len(start[ACCURACY])}
    differences = {each: {name: asdict(found) for name, found in of.items()} for each, of in tests.items()}
    result = counts | {"means": means, "against": START, "differences": differences}
    save("answers_ppo_tax", result, out / "answers_ppo_tax.json")
