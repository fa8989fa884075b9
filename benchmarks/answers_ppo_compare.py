"""Answers of a trained policy beside those of its start, for `benchmarks.answers_ppo`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import save, table
from citewell.core.settings import CitationSettings, Settings, load_settings
from citewell.core.significance import compare_all, differences_table, interval
from citewell.core.types import Sentence
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.ending import finished
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.citations import CitedAnswer, citation_recall_and_precision
from citewell.generator.evaluation.judges.embedding import MODEL, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import CachingJudge
from citewell.generator.evaluation.rows import read_rows
from citewell.generator.evaluation.text import copied
from citewell.generator.resolve import resolve
from citewell.generator.training.arrange import Example
from citewell.generator.training.sources import ExampleSource
from citewell.generator.transformers import stop_tokens
from citewell.reinforcement.answers import QuestionStream
from citewell.reinforcement.config import AnswersRecipe
from citewell.reinforcement.networks import (
    POLICY,
    REFERENCE,
    PolicyNetworks,
    autocast,
    build_networks,
    collated,
)
from citewell.reinforcement.reward import AnswerReward
from citewell.reinforcement.rollout import PromptedQuestion
from citewell.reinforcement.sampler import TorchSampler
from citewell.retriever.encoder.load import load_encoder
from citewell.scorer.load import DEFAULT, load_scorer
from citewell.scorer.scorer import PreferenceJudge, SupportScorer

BASELINE = "start, one sample"
SUPPORT, ENDED, WORDS = "support", "ended", "words"
Values = dict[str, dict[str, float]]


@dataclass(frozen=True)
class WrittenSample:
    """One answer, whether it ended within the limit, and its log-ratio to the start."""

    text: str
    ended: bool
    kl: float = 0.0


Samples = Mapping[str, Sequence[WrittenSample]]


def compare_answers(
    questions: Path, trained: Sequence[Path], out: Path, *, best_of: int, tokens: int
) -> None:
    """Write the answers that are missing in the folder, measure all, and print and save the comparison."""
    settings = load_settings({})
    config = AnswersRecipe.model_validate_json((trained[0] / "run.json").read_text(encoding="utf-8"))
    limit = tokens or config.prompt.answer_tokens
    config = config.model_copy(update={"prompt": config.prompt.model_copy(update={"answer_tokens": limit})})
    out.mkdir(parents=True, exist_ok=True)
    networks = build_networks(
        resolve(config.model.start), config.model.lora, settings.cache_dir, own_value=False, seed=0
    )
    asked = _asked(networks, config, questions)
    found = {"start": _kept(networks, asked, config, out / "start.jsonl", 1 + best_of)}
    for folder in trained:
        _load_policy(networks, folder)
        found[folder.name] = _kept(networks, asked, config, out / f"{folder.name}.jsonl", 1)
    systems = {BASELINE: {key: of[0] for key, of in found["start"].items()}}
    if best_of:
        rate = _rate(asked)
        systems[f"start, best of {best_of}"] = {
            key: max(of[1:], key=lambda each: rate(key, each)) for key, of in found["start"].items()
        }
    systems |= {
        name: {key: of[0] for key, of in kept.items()} for name, kept in found.items() if name != "start"
    }
    measured = {name: measures(answers, asked, settings) for name, answers in systems.items()}
    _tell(measured, systems, config, out)


def _asked(networks: PolicyNetworks, config: AnswersRecipe, questions: Path) -> dict[str, PromptedQuestion]:
    rows = read_rows(questions).rows
    examples = tuple(Example(row.question, tuple(r.text for r in row.references), row.answer) for row in rows)
    stream = QuestionStream(
        (),
        [ExampleSource("dev", examples)],
        networks.model,
        networks.tokenizer,
        networks.source,
        config.prompt,
        config.training.seed,
    )
    return {row.key: asked for row, asked in zip(rows, stream.dev, strict=True)}


def _load_policy(networks: PolicyNetworks, folder: Path) -> None:
    from peft import set_peft_model_state_dict
    from safetensors.torch import load_file

    weights = {name: value.float() for name, value in load_file(folder / "adapter_model.safetensors").items()}
    set_peft_model_state_dict(networks.model, weights, adapter_name=POLICY)


def _kept(
    networks: PolicyNetworks,
    asked: Mapping[str, PromptedQuestion],
    config: AnswersRecipe,
    file: Path,
    count: int,
) -> Samples:
    """Return `count` answers to each question, from the file if it has them."""
    import torch

    if file.exists():
        lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        return {line["key"]: [WrittenSample(**each) for each in line["samples"]] for line in lines}
    torch.set_num_threads(config.training.threads)
    stop = stop_tokens(networks.model.get_base_model(), networks.tokenizer)
    networks.use(POLICY)
    sampler = TorchSampler(networks.model, stop, config.prompt.answer_tokens)
    keys = list(asked)
    found: dict[str, list[WrittenSample]] = {key: [] for key in keys}
    with torch.no_grad(), autocast(networks.model.device, config.training.precision):
        for number in range(count):
            networks.use(POLICY)
            drawn = sampler.sample([asked[key].prompt for key in keys], 1000 + number)
            for key, each in zip(keys, drawn, strict=True):
                text = networks.tokenizer.decode(each.tokens, skip_special_tokens=True)
                part = collated([_row(asked[key], each.tokens)], [0])
                kl = 0.0
                if count == 1:
                    now, start = networks.read(part, POLICY).logp, networks.read(part, REFERENCE).logp
                    kl = float((now - start).sum())
                found[key].append(WrittenSample(text, each.ended, kl))
            print(f"{file.stem}: {number + 1} of {count} answers to each question", flush=True)
    rows = [{"key": key, "samples": [asdict(each) for each in of]} for key, of in found.items()]
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in rows), encoding="utf-8")
    return found


def _row(asked: PromptedQuestion, tokens: tuple[int, ...]) -> Any:
    from citewell.generator.training.encode import TokenizedExample

    return TokenizedExample(asked.prompt, tokens)


def _rate(asked: Mapping[str, PromptedQuestion]) -> Any:
    reward = AnswerReward(SupportScorer(), threshold=CitationSettings().threshold)

    def rate(key: str, each: WrittenSample) -> tuple[bool, float]:
        one = asked[key]
        return each.ended, reward(one.question, one.references, each.text).score

    return rate


def measures(
    answers: Mapping[str, WrittenSample], asked: Mapping[str, PromptedQuestion], settings: Settings
) -> Values:
    """Return the measures of a system's answers by name and question."""
    threshold = settings.citations.threshold
    sentences = {
        key: check_citations(finished(each.text), asked[key].references, threshold)
        for key, each in answers.items()
    }
    rate = _rate(asked)
    judge = PreferenceJudge(load_scorer(DEFAULT, settings.cache_dir, settings.threads))
    found: Values = {
        SUPPORT: {key: rate(key, each)[1] for key, each in answers.items()},
        ENDED: {key: float(each.ended) for key, each in answers.items()},
        "supported sentences": {
            key: sum(s.supported for s in of) / max(1, len(of)) for key, of in sentences.items()
        },
        f"score of {DEFAULT}": {
            key: judge.score(asked[key].question, [of], asked[key].references)[0]
            for key, of in sentences.items()
        },
        WORDS: {key: float(sum(len(s.text.split()) for s in of)) for key, of in sentences.items()},
        "copied 8-grams": {
            key: copied(" ".join(s.text for s in of), [r.text for r in asked[key].references]) or 0.0
            for key, of in sentences.items()
        },
    }
    encoder = load_encoder(MODEL, settings.cache_dir, max_tokens=256, threads=settings.threads)
    quality = citation_recall_and_precision(
        [_cited(of, asked[key]) for key, of in sentences.items()],
        CachingJudge(EmbeddingJudge(encoder.encode_passages)),
    )
    found["citation recall"] = {key: q.recall for key, q in zip(sentences, quality, strict=True)}
    found["citation precision"] = {key: q.precision for key, q in zip(sentences, quality, strict=True)}
    return found


def _cited(sentences: Sequence[Sentence], asked: PromptedQuestion) -> CitedAnswer:
    marked = [MarkedSentence(each.text, each.citations) for each in sentences]
    return CitedAnswer(marked, {r.number: r.text for r in asked.references})


def _tell(
    measured: Mapping[str, Values],
    systems: Mapping[str, Mapping[str, WrittenSample]],
    config: AnswersRecipe,
    out: Path,
) -> None:
    names = list(measured[BASELINE])
    means = {
        system: {name: statistics.fmean(of[name].values()) for name in names}
        | {"KL": statistics.fmean(each.kl for each in systems[system].values())}
        for system, of in measured.items()
    }
    others = [name for name in measured if name != BASELINE]
    tests = {
        name: compare_all({other: measured[other][name] for other in others}, measured[BASELINE][name])
        for name in names
    }
    judged = f"score of {DEFAULT}"
    wins = {other: _wins(measured[other][judged], measured[BASELINE][judged]) for other in others}
    count = len(measured[BASELINE][SUPPORT])
    print(f"{count:,} questions, at most {config.prompt.answer_tokens} tokens per answer\n")
    columns = [*names, "KL"]
    print(table(["system", *columns], [[s, *(f"{of[c]:.3f}" for c in columns)] for s, of in means.items()]))
    print("\n" + differences_table(tests) + "\n")
    for other, (mean, low, high) in wins.items():
        print(f"{DEFAULT} prefers {other} to {BASELINE}: {mean:.3f} ({low:.3f} to {high:.3f})")
    result = {
        "questions": count,
        "answer_tokens": config.prompt.answer_tokens,
        "means": means,
        "against_one_sample_of_the_start": {
            name: {other: asdict(found) for other, found in of.items()} for name, of in tests.items()
        },
        "win_rates": wins,
    }
    save("answers_ppo", result, out / "answers_ppo.json")


def _wins(system: Mapping[str, float], baseline: Mapping[str, float]) -> tuple[float, float, float]:
    won = {
        key: (float(value > baseline[key]) + float(value >= baseline[key])) / 2
        for key, value in system.items()
    }
    return statistics.fmean(won.values()), *interval(won)
