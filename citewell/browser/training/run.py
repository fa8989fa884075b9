"""A training run of a policy, from a recipe to a folder with the adapter and its card."""

from __future__ import annotations

from pathlib import Path

from citewell.browser.limits_file import write_limits
from citewell.browser.policies.opening import policy_folder
from citewell.browser.training.card import describe
from citewell.browser.training.config import PolicyRecipe, load_config
from citewell.browser.training.encode import PairEncoder
from citewell.browser.training.measure import DevEpisodes, OpenWeb
from citewell.browser.training.sources import PolicyData, asked, read_data
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.training.card import describe_file, describe_files, write_card
from citewell.core.training.fit import FitTask, Goal, fit
from citewell.core.training.folder import finish, open_folder
from citewell.core.training.plan import PlannedDraw, plan
from citewell.core.training.run import Run, RunResult
from citewell.generator.defaults import GenerationDefaults
from citewell.generator.training.config import GeneratorModelConfig
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.training.model import DONE, TrainableGenerator, build_model, save_model
from citewell.generator.training.run import PACKAGES
from citewell.generator.training.task import fit_task

# Commands repeat words of the state and of themselves, so nothing is penalized.
_DEFAULTS = GenerationDefaults(frequency_penalty=0.0)


def train(run: Run, tell: Log, open_web: OpenWeb) -> RunResult:
    """Clone the behavior of the demonstrations that `run.recipe` names, and write the policy to `run.out`.

    `open_web` opens the web that the policy browses during training. An interrupted run is resumed. Raises
    `InputError` for a recipe, data or a folder that cannot be used, `ModelError` for a base that cannot be
    trained, and `TrainingError` for a loss that is not finite.
    """
    need_packages("Training", "train", *PACKAGES)
    from citewell.core.training.checkpoints import quiet
    from citewell.core.training.plot import PLOT, draw

    config = load_config(run.recipe)
    tell(config.shown())
    files = describe_files({"train": config.data}, run.folders.files)
    data = read_data(config, run.folders, tell)
    done = DONE[config.model.tuning]
    # Demonstrations of the questions that measure the reward are left out of training.
    asked = [run.folders.find(config.reward.questions)] if config.reward is not None else []
    questions = [describe_file(file, use="reward", source="questions") for file in asked]
    with open_folder(run.out, config.shown(), [*files, *questions], done=done):
        quiet()
        trained = build_model(_found(config.model), run.cache, config.training.seed)
        result, history = fit(_task(run, config, data, trained, tell, open_web), run.out, tell)

        def write(folder: Path) -> None:
            save_model(trained, folder, config.model, _DEFAULTS)
            write_limits(config.browser.limits, folder)
            draw(history, folder / PLOT)
            write_card(folder, describe(config, data, files, result), run, config.training, files, result)

        finish(run.out, write, done=done)
    return result


def _found(model: GeneratorModelConfig) -> GeneratorModelConfig:
    """Return the model with the folder of the policy that it starts from, which may be one that ships."""
    folder = policy_folder(model.start) if model.start is not None else None
    return model.model_copy(update={"start": str(folder)}) if folder is not None else model


def _task(
    run: Run,
    config: PolicyRecipe,
    data: PolicyData,
    trained: TrainableGenerator,
    tell: Log,
    open_web: OpenWeb,
) -> FitTask:
    encoder = PairEncoder(trained.whole, trained.tokenizer)
    pairs = [pair for source in data.train for pair in source.pairs]
    repeats = [source.repeat for source in data.train for _ in source.pairs]
    steps = plan(encoder.sizes(pairs), repeats, config.training)
    tell(f"{len(steps):,} steps, {sum(step.tokens for step in steps):,} tokens")

    def encode(draw: PlannedDraw) -> TokenizedExample:
        return encoder.encode(pairs[draw.place])

    selected_by = config.training.choose_by
    goal = Goal(selected_by, higher=selected_by == "score")
    dev = DevEpisodes(data.dev, asked(config, run.folders), config, encoder, open_web)
    return fit_task(trained, config.training, steps, encode, goal, dev.measure if config.measured else None)
