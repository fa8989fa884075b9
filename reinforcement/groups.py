"""GRPO and RLOO by TRL's trainers: the same policy, questions and reward as PPO, and no value function.

Both compare the answers of a group, which answer the same question
(https://arxiv.org/abs/2402.03300, https://arxiv.org/abs/2402.14740). TRL can write with vLLM, also on other
GPUs than the one that trains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import fmean
from typing import Any

from citewell.core.errors import ModelError
from citewell.core.progress import Log
from citewell.core.training.checkpoints import check_finite, checkpoint_step, last_checkpoint, trained
from citewell.core.training.clock import Clock
from citewell.core.training.fit import device_name
from citewell.core.training.folder import CHECKPOINTS
from citewell.core.training.precision import uses_bfloat16
from citewell.core.training.run import RunResult
from citewell.generator.transformers import stop_tokens
from citewell.reinforcement.answers import QuestionStream
from citewell.reinforcement.collect import EpisodeCollector, summary
from citewell.reinforcement.config import AnswersRecipe
from citewell.reinforcement.course import DEV, read_course, write_course
from citewell.reinforcement.networks import POLICY, PolicyNetworks
from citewell.reinforcement.reward import CenteredReward
from citewell.reinforcement.rollout import PromptedQuestion

_PLACE = "place"  # the column that says which question a row is


class FiniteSteps:
    """For TRL's trainers to inherit: a loss or a gradient that is not finite ends the run."""

    def training_step(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the loss of a step, whose gradient is not applied yet."""
        from torch.nn.utils import get_total_norm

        base: Any = super()
        trainer: Any = self
        loss = base.training_step(model, *args, **kwargs)
        step = f"of step {trainer.state.global_step + 1}"
        check_finite(loss.item(), f"The loss {step}")
        gradients = [value.grad for value in trained(model).values() if value.grad is not None]
        check_finite(get_total_norm(gradients).item(), f"The gradient {step}")
        return loss


class GroupTrainer:
    """A run of GRPO or RLOO in a folder. `history` is its course, as PPO's."""

    def __init__(
        self,
        networks: PolicyNetworks,
        questions: QuestionStream,
        reward: CenteredReward,
        config: AnswersRecipe,
        folder: Path,
        tell: Log,
    ) -> None:
        self._networks = networks
        self._questions = questions
        self._centered = reward
        self._collector = EpisodeCollector(networks, reward, config)
        self._config = config
        self._folder = folder
        self._tell = tell
        ppo = config.ppo
        self._steps = ppo.batch // ppo.minibatch * ppo.inner_epochs  # per iteration
        self._asked: list[PromptedQuestion] = []
        self._rated: list[Mapping[str, float]] = []
        self.history: list[dict[str, float]] = []

    def run(self) -> RunResult:
        """Train from the last complete checkpoint, if there is one; leave the weights in the networks.

        Raises `ModelError` for a tokenizer that changes prompts, and `TrainingError` for a loss or a gradient
        that is not finite.
        """
        import torch
        from datasets import Dataset

        from citewell.core.training.average import Average

        config = self._config
        clock = Clock(self._folder / CHECKPOINTS)
        torch.set_num_threads(config.training.threads)
        groups = config.ppo.batch // config.group.answers
        self._asked = [
            asked
            for iteration in range(config.ppo.iterations)
            for asked in self._questions.draw(iteration, groups)
        ]
        checkpoint = last_checkpoint(self._folder / CHECKPOINTS)
        if checkpoint is None:
            self._evaluate(0, nullcontext())
        else:
            done = checkpoint_step(checkpoint) // self._steps
            self.history = read_course(self._folder, done)
            self._tell(f"resuming after iteration {done:,}")
        rows = [{"prompt": self._text(asked), _PLACE: place} for place, asked in enumerate(self._asked)]
        trainer = self._trainer(Dataset.from_list(rows))
        self._networks.use(POLICY)  # TRL's copy of the start is not trained
        ema = config.training.ema
        average = Average(trainer.model, ema) if ema is not None else None
        if average is not None:
            trainer.keep_average(average)
        trainer.add_callback(self._progress(average, clock))
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        if average is not None:
            average.apply()
        self._networks.model.eval()
        first, *_, last = (entry for entry in self.history if f"{DEV}score" in entry)
        return RunResult(
            steps=config.ppo.iterations,
            best_step=config.ppo.iterations,
            seconds=clock.seconds,
            device=device_name(config.training.threads),
            seen=config.ppo.iterations * config.ppo.batch,
            unit="answers",
            before=_dev(first),
            after=_dev(last),
        )

    def _text(self, asked: PromptedQuestion) -> str:
        """Return the text that TRL tokenizes to the tokens of a prompt."""
        tokenizer = self._networks.tokenizer
        text: str = tokenizer.decode(asked.prompt)
        if tuple(tokenizer(text)["input_ids"]) != asked.prompt:
            raise ModelError(
                f"The tokenizer of {self._networks.source.name} changes prompts when it reads them again.",
                'Use algorithm = "ppo", which reads tokens.',
            )
        return text

    def _reward(self, completion_ids: Sequence[Sequence[int]], place: Sequence[int], **_: Any) -> list[float]:
        """Return the rewards of answers, by the name that TRL calls it with."""
        stop = stop_tokens(self._networks.model.get_base_model(), self._networks.tokenizer)
        rated = []
        for ids, one in zip(completion_ids, place, strict=True):
            text = self._networks.tokenizer.decode(ids, skip_special_tokens=True)
            ended = bool(ids) and ids[-1] in stop
            rated.append(self._centered.rate(self._asked[one], text, ended=ended))
        self._rated += [{"score": each.score, **each.parts} for each in rated]
        return [each.score for each in rated]

    def _trainer(self, rows: Any) -> Any:
        """Return TRL's trainer, with checkpoints of the trained weights only."""
        import torch
        from trl.trainer.grpo_config import GRPOConfig
        from trl.trainer.grpo_trainer import GRPOTrainer
        from trl.trainer.rloo_config import RLOOConfig
        from trl.trainer.rloo_trainer import RLOOTrainer

        from citewell.core.training.trainer import TrainedCheckpoints

        is_grpo = self._config.algorithm == "grpo"
        config_class, base = (GRPOConfig, GRPOTrainer) if is_grpo else (RLOOConfig, RLOOTrainer)
        trainer_class: Any = type("GroupsTrainer", (FiniteSteps, TrainedCheckpoints, base), {})
        config, ppo = self._config, self._config.ppo
        cuda = torch.cuda.is_available()
        vllm: dict[str, Any] = {}
        if config.group.vllm is not None:
            vllm = {
                "use_vllm": True,
                "vllm_mode": config.group.vllm,
                "vllm_server_base_url": config.group.vllm_url,
            }
        arguments = config_class(
            output_dir=str(self._folder / CHECKPOINTS),
            per_device_train_batch_size=ppo.minibatch,
            steps_per_generation=ppo.batch // ppo.minibatch,
            num_generations=config.group.answers,
            num_iterations=ppo.inner_epochs,
            max_steps=ppo.iterations * self._steps,
            max_completion_length=config.prompt.answer_tokens,
            temperature=1.0,
            beta=ppo.beta,
            epsilon=ppo.clip,
            learning_rate=ppo.learning_rate,
            lr_scheduler_type="constant_with_warmup",
            warmup_steps=ppo.warmup * self._steps,
            adam_beta2=0.95,
            weight_decay=0.0,
            max_grad_norm=config.training.clip,
            disable_dropout=True,
            gradient_checkpointing=False,
            shuffle_dataset=False,
            bf16=uses_bfloat16(config.training.precision),
            use_cpu=not cuda,
            seed=config.training.seed,
            save_strategy="steps",
            save_steps=self._steps,
            save_total_limit=1,
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
            **vllm,
        )
        return trainer_class(
            model=self._networks.model,
            reward_funcs=self._reward,
            args=arguments,
            train_dataset=rows,
            processing_class=self._networks.tokenizer,
        )

    def _progress(self, average: Any, clock: Clock) -> Any:
        """Return a callback that writes the course of the run, and saves its clock."""
        from transformers import TrainerCallback

        outer = self

        class GroupProgress(TrainerCallback):
            def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
                """Tell the measures of an iteration after its last step."""
                if state.global_step % outer._steps == 0:
                    outer._did(state.global_step // outer._steps, average)

            def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
                """Save the clock with each checkpoint."""
                clock.save()

        return GroupProgress()

    def _did(self, iteration: int, average: Any) -> None:
        last = self._config.ppo.iterations
        means = {name: fmean(each[name] for each in self._rated) for name in self._rated[0]}
        self._rated = []
        self.history.append({"step": iteration, **means})
        self._tell(f"iteration {iteration:,} of {last:,}, score {means['score']:+.3f}")
        if iteration == last or iteration % self._config.training.eval_every == 0:
            self._evaluate(iteration, average.used() if average is not None else nullcontext())
        write_course(self.history, self._folder)

    def _evaluate(self, iteration: int, weights: AbstractContextManager[Any]) -> None:
        """Measure weights on the dev questions, as PPO does."""
        self._networks.model.eval()
        with weights:
            found = summary(self._collector.collect(self._questions.dev, self._config.training.seed))
        self._tell(
            f"iteration {iteration:,}: " + ", ".join(f"{name} {value:.4f}" for name, value in found.items())
        )
        self.history.append({"step": iteration} | {DEV + name: value for name, value in found.items()})
        self._networks.use(POLICY)


def _dev(entry: Mapping[str, float]) -> dict[str, float]:
    return {name.removeprefix(DEV): value for name, value in entry.items() if name != "step"}
