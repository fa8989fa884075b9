"""A training run of answers by PPO, GRPO or RLOO, from a recipe to a folder with the adapter and its card."""

from __future__ import annotations

from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.settings import CitationSettings
from citewell.core.training.card import DataFile, describe_files, write_card
from citewell.core.training.folder import finish, open_folder
from citewell.core.training.run import Run, RunResult
from citewell.generator.resolve import resolve
from citewell.generator.training.model import DONE
from citewell.generator.training.sources import read_data, source_files
from citewell.reinforcement.answers import QuestionStream
from citewell.reinforcement.card import describe, model_files
from citewell.reinforcement.collect import AnswersExperience, EpisodeCollector
from citewell.reinforcement.config import AnswersRecipe, AnswersRewardConfig, load_config
from citewell.reinforcement.groups import GroupTrainer
from citewell.reinforcement.judge import JudgedReward
from citewell.reinforcement.networks import build_networks
from citewell.reinforcement.plot import draw_run
from citewell.reinforcement.pretraining import PretrainingTexts, read_texts
from citewell.reinforcement.reward import AnswerReward, CenteredReward, Reward
from citewell.reinforcement.trainer import PpoTrainer
from citewell.reinforcement.update import PpoUpdate
from citewell.reinforcement.value_start import start_value
from citewell.scorer.load import PreferenceScorer, load_scorer, scorer_folder
from citewell.scorer.scorer import PreferenceJudge, SupportScorer

_PACKAGES = ("peft", "datasets", "matplotlib", "trl")
_PLOT = "training.png"


def train(run: Run, tell: Log, reward: Reward | None = None) -> RunResult:
    """Improve the generator that `run.recipe` names; see `train_answers`."""
    return train_answers(run, load_config(run.recipe), tell, reward)


def train_answers(run: Run, config: AnswersRecipe, tell: Log, reward: Reward | None = None) -> RunResult:
    """Improve the generator that `config` names, and write the adapter to `run.out`.

    `reward` is rated by in place of the recipe's, for other purposes than answering. An interrupted run is
    resumed. Raises `InputError` for a recipe, data or a folder that cannot be used, `ModelError` for a model
    that cannot be trained or a scorer that cannot be loaded, and `TrainingError` for a loss that is not
    finite.
    """
    need_packages("Training", "train", *_PACKAGES)
    from citewell.core.training.checkpoints import quiet

    tell(config.shown())
    seed, training = config.training.seed, config.training
    source = resolve(config.model.start)
    scorer = _scorer(config.reward, run, training.threads)
    files = [*_files(config, run), *model_files(source, scorer)]
    references = config.prompt.references
    data = read_data(config, run.folders, tell, references=references, seed=seed, answered=False)
    done = DONE["lora"]
    with open_folder(run.out, config.shown(), files, done=done):
        quiet()
        own = config.algorithm == "ppo" and config.value.network == "adapter"
        networks = build_networks(source, config.model.lora, run.cache, own_value=own, seed=seed)
        questions = QuestionStream(
            data.train, data.dev, networks.model, networks.tokenizer, source, config.prompt, seed
        )
        demonstrations = questions.demonstrations
        if not demonstrations:
            raise InputError(
                "No dev question has an answer, and the reward's zero is the mean of these answers.",
                "Add answers to the dev questions.",
            )
        rated_by = reward or _reward(config.reward, scorer)
        if config.reward.judge is not None:
            rated_by = JudgedReward(rated_by, load_reward_model(config.reward.judge, run, training.threads))
        centered = CenteredReward(rated_by, demonstrations)
        tell(
            f"{sum(len(each.examples) for each in data.train):,} training questions, {len(questions.dev):,} "
            f"dev questions; the mean reward of {len(demonstrations):,} demonstrations is {centered.bias:.4f}"
        )
        if scorer is not None and config.algorithm == "ppo":
            tell(start_value(networks, scorer, centered.bias))
        texts = None
        if config.ptx is not None and config.ptx.weight:
            found = read_texts(config.ptx, run.folders, seed)
            texts = PretrainingTexts(found, networks.tokenizer, config.ptx, seed)
        if config.algorithm == "ppo":
            ppo = PpoTrainer(
                networks,
                AnswersExperience(questions, EpisodeCollector(networks, centered, config), config),
                PpoUpdate(networks, config, texts),
                config,
                run.out,
                tell,
            )
            result, history = ppo.run(), ppo.state.history
        else:
            groups = GroupTrainer(networks, questions, centered, config, run.out, tell)
            result, history = groups.run(), groups.history

        def write(folder: Path) -> None:
            networks.save_policy(folder)
            draw_run(history, folder / _PLOT)
            card = describe(config, source, data, files, result, centered.bias)
            write_card(folder, card, run, training, files, result)

        finish(run.out, write, done=done)
    return result


def _files(config: AnswersRecipe, run: Run) -> list[DataFile]:
    """Return the files of the data."""
    found = describe_files(
        {"train": config.data, "dev": config.dev}, lambda source: source_files(source, run.folders)
    )
    if config.ptx is not None and config.ptx.weight:
        found += describe_files({"ptx": [config.ptx]}, run.folders.files)
    return found


def _scorer(config: AnswersRewardConfig, run: Run, threads: int) -> PreferenceScorer | None:
    """Load the reward model of a recipe; None where none is needed."""
    return None if config.kind == "support" else load_reward_model(config.scorer, run, threads)


def load_reward_model(name: str, run: Run, threads: int) -> PreferenceScorer:
    """Load a scorer, from beside the recipe if it is there."""
    beside = run.folders.beside / name
    return load_scorer(str(scorer_folder(str(beside) if beside.is_dir() else name)), run.cache, threads)


def _reward(config: AnswersRewardConfig, scorer: PreferenceScorer | None) -> Reward:
    threshold = CitationSettings().threshold
    if scorer is None:
        return AnswerReward(SupportScorer(), threshold=threshold)
    margin = config.margin if config.kind == "value" else 0.0
    return AnswerReward(PreferenceJudge(scorer), margin, threshold)
