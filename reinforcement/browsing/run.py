"""A training run of PPO in the text browser, from a recipe to a folder with adapter, limits and card."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from citewell.browser.limits_file import read_limits, write_limits
from citewell.browser.policies.opening import policy_folder
from citewell.browser.training.measure import OpenWeb
from citewell.core.errors import InputError
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.questions import AnsweredQuestion, read_questions
from citewell.core.relevance import Relevance
from citewell.core.settings import CitationSettings
from citewell.core.training.card import describe_files, write_card
from citewell.core.training.config import SourceConfig
from citewell.core.training.folder import finish, open_folder
from citewell.core.training.plot import PLOT
from citewell.core.training.run import Run, RunResult
from citewell.core.training.sources import question_key, sample
from citewell.generator.constraint import Constraint
from citewell.generator.resolve import resolve
from citewell.generator.training.model import DONE
from citewell.generator.transformers import stop_tokens
from citewell.reinforcement.browsing.card import describe
from citewell.reinforcement.browsing.config import BrowsingRecipe, BrowsingRewardConfig, load_config
from citewell.reinforcement.browsing.episodes import EpisodeWriter
from citewell.reinforcement.browsing.experience import BrowsingExperience, QuestionSource
from citewell.reinforcement.browsing.reward import RateEpisode, by_answer, by_found, by_relevance
from citewell.reinforcement.card import model_files
from citewell.reinforcement.networks import PolicyNetworks, build_networks
from citewell.reinforcement.plot import draw_run
from citewell.reinforcement.reward import AnswerReward
from citewell.reinforcement.run import load_reward_model
from citewell.reinforcement.sampler import Hold, TorchSampler
from citewell.reinforcement.trainer import PpoTrainer
from citewell.reinforcement.update import PpoUpdate
from citewell.reinforcement.value_start import start_value
from citewell.scorer.load import PreferenceScorer
from citewell.scorer.scorer import PreferenceJudge, SupportScorer


def train(run: Run, tell: Log, open_web: OpenWeb, relevance: Relevance) -> RunResult:
    """Improve the policy that `run.recipe` names; see `train_browsing`."""
    return train_browsing(run, load_config(run.recipe), tell, open_web, relevance)


def train_browsing(
    run: Run, config: BrowsingRecipe, tell: Log, open_web: OpenWeb, relevance: Relevance
) -> RunResult:
    """Improve the policy that `config` names by PPO in the web, and write it to `run.out`.

    `open_web` opens the web that the policy browses, and `relevance` rates quotes for the reward of that
    name. An interrupted run is resumed. Raises `InputError` for a recipe, data or a folder that cannot be
    used, `ModelError` for a start that is no policy or cannot be trained, and `TrainingError` for a loss that
    is not finite.
    """
    need_packages("Training", "train", "peft", "datasets", "matplotlib")
    from citewell.core.training.checkpoints import quiet

    tell(config.shown())
    training = config.training
    folder = policy_folder(config.model.start) or Path(config.model.start)
    limits, source = read_limits(folder), resolve(str(folder))
    scorer = None
    if config.reward.kind == "score":
        scorer = load_reward_model(config.reward.scorer, run, training.threads)
    files = describe_files({"train": config.data, "dev": config.dev}, run.folders.files)
    models = model_files(source, scorer)
    questions = {each.name: _questions(each, run, training.seed) for each in config.dev}
    hidden = {question_key(row.question) for some in questions.values() for row in some}
    questions |= {each.name: _questions(each, run, training.seed, hidden) for each in config.data}
    done = DONE["lora"]
    with open_folder(run.out, config.shown(), [*files, *models], done=done):
        quiet()
        own = config.value.network == "adapter"
        networks = build_networks(source, config.model.lora, run.cache, own_value=own, seed=training.seed)
        if scorer is not None:
            tell(start_value(networks, scorer, 0.0))
        episodes = config.episodes
        stop = stop_tokens(networks.model.get_base_model(), networks.tokenizer)
        hold = _hold(networks, stop) if episodes.constrained else None
        writer = EpisodeWriter(
            networks,
            limits,
            episodes,
            training,
            open_web,
            commands=TorchSampler(networks.model, stop, episodes.command_tokens, hold),
            answers=TorchSampler(networks.model, stop, episodes.answer_tokens),
        )
        experience = BrowsingExperience(
            networks,
            writer,
            _rate(config.reward, [row for some in questions.values() for row in some], scorer, relevance),
            [QuestionSource(questions[each.name], each.share) for each in config.data],
            [row for each in config.dev for row in questions[each.name]],
            config,
        )
        trainer = PpoTrainer(networks, experience, PpoUpdate(networks, config, None), config, run.out, tell)
        result = trainer.run()
        counts = {name: len(some) for name, some in questions.items()}

        def write(folder: Path) -> None:
            networks.save_policy(folder)
            write_limits(limits, folder)
            draw_run(trainer.state.history, folder / PLOT)
            card = describe(config, source, counts, files, models, result)
            write_card(folder, card, run, training, [*files, *models], result)

        finish(run.out, write, done=done)
    return result


def _questions(
    source: SourceConfig, run: Run, seed: int, hidden: Collection[str] = ()
) -> tuple[AnsweredQuestion, ...]:
    """Return the questions of a source without those of dev sets; raises `InputError` if none is left."""
    read = [row for file in run.folders.files(source) for row in read_questions(file)]
    found = [row for row in read if question_key(row.question) not in hidden]
    if not found:
        raise InputError(
            f"The source {source.name} has no question that is not in a dev set.", "Name other files."
        )
    return sample(found, source.limit, f"{seed} {source.name}")


def _hold(networks: PolicyNetworks, stop: Collection[int]) -> Hold:
    """Return what holds commands to grammars; raises `InputError` if xgrammar is not installed."""
    model: Any = networks.model.get_base_model()
    vocabulary = model.get_output_embeddings().weight.shape[0]
    return Constraint(networks.tokenizer, vocabulary=vocabulary, stop=sorted(stop)).each


def _rate(
    config: BrowsingRewardConfig,
    asked: Sequence[AnsweredQuestion],
    scorer: PreferenceScorer | None,
    relevance: Relevance,
) -> RateEpisode:
    if config.kind == "found":
        return by_found({row.question: row.answers for row in asked})
    if config.kind == "relevance":
        return by_relevance(relevance, config.missing)
    judge = SupportScorer() if scorer is None else PreferenceJudge(scorer)
    reward = AnswerReward(judge, threshold=CitationSettings().threshold)
    return by_answer(reward, config.missing)
