"""TRL's SFTTrainer, with planned steps, a loss on answers only, and an average of the weights."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import SequentialSampler
from transformers import EarlyStoppingCallback, PrinterCallback, TrainerCallback
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer

from core.training.average import Average
from core.training.checkpoints import TrainingError, load_trained, save_trained
from core.training.progress import Progress
from generator.training.config import TrainingConfig
from generator.training.dev import DevSets
from generator.training.loss import answer_loss, answer_tokens

_SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}


class GeneratorTrainer(SFTTrainer):
    """Trains on steps that are planned beforehand (`generator.training.plan`)."""

    def begin(
        self, progress: Progress, patience: int | None, dev: DevSets | None, average: Average | None
    ) -> None:
        """Have `progress` tell of the run, not the library, and measure `dev` with the averaged weights."""
        self._dev = dev
        self._average = average
        self.remove_callback(PrinterCallback)
        if average is not None:
            self.add_callback(_Averaging(average))
        self.add_callback(progress)
        if patience is not None:
            self.add_callback(EarlyStoppingCallback(early_stopping_patience=patience))

    def training_step(self, model: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> torch.Tensor:
        """One step, part by part; raises `TrainingError` where the loss is not a finite number."""
        model.train()
        parts: Any = self._prepare_inputs(inputs)["parts"]
        tokens = answer_tokens(parts)
        total = torch.zeros((), device=self.args.device)
        for part in parts:
            with self.compute_loss_context_manager():
                loss = answer_loss(model, part) / tokens
            self.accelerator.backward(loss)
            total += loss.detach()
        if not torch.isfinite(total):
            raise TrainingError(
                f"The loss of step {self.state.global_step + 1} is {total.item()}.",
                "Lower learning_rate, or look at the data; the checkpoints before are kept.",
            )
        return total

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Measure and log what `generator.training.dev` measures."""
        assert self._dev is not None
        with self._average.used() if self._average is not None else nullcontext():
            found = self._dev.measure(self.model)
        metrics = {f"eval_{name}": value for name, value in found.items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: `generator.training.card` writes the card."""

    def _get_train_sampler(self, train_dataset: Any = None) -> SequentialSampler:
        rows: Any = train_dataset or self.train_dataset
        return SequentialSampler(rows)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        checkpoint = Path(output_dir or str(self.args.output_dir))
        model: Any = self.model
        save_trained(model, checkpoint)
        if self._average is not None:
            self._average.save(checkpoint)

    def _load_best_model(self) -> None:
        # The base class logs an error that it meets here, and goes on with the last weights.
        if self.state.best_model_checkpoint is not None:
            self._load_from_checkpoint(self.state.best_model_checkpoint)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        trained: Any = self.model
        load_trained(trained, Path(resume_from_checkpoint))
        if self._average is not None:
            self._average.load(Path(resume_from_checkpoint))


class _Averaging(TrainerCallback):
    def __init__(self, average: Average) -> None:
        self._average = average

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Follow the weights."""
        self._average.update()


def arguments(training: TrainingConfig, folder: Path, *, measured: bool, resumed: bool) -> SFTConfig:
    """The arguments of the trainer, which writes checkpoints to `folder`.

    The plan has all epochs in it, so that for the trainer there is one. `measured` says that there are dev
    rows; the model is measured before the first step too, if the run is not `resumed`.
    """
    gpu = torch.cuda.is_available()
    return SFTConfig(
        output_dir=str(folder),
        num_train_epochs=1,
        per_device_train_batch_size=1,
        learning_rate=training.learning_rate,
        lr_scheduler_type=_SCHEDULES[training.schedule],
        warmup_steps=training.warmup,
        weight_decay=training.weight_decay,
        max_grad_norm=training.clip,
        seed=training.seed,
        bf16=gpu or training.precision == "bfloat16",
        gradient_checkpointing=False,
        max_length=None,
        dataset_kwargs={"skip_prepare_dataset": True},
        remove_unused_columns=False,
        eval_strategy="steps" if measured else "no",
        eval_steps=training.eval_every,
        eval_on_start=measured and not resumed,
        save_strategy="steps",
        save_steps=training.eval_every,
        save_total_limit=2,
        load_best_model_at_end=measured,
        metric_for_best_model=f"eval_{training.choose_by}" if measured else None,
        greater_is_better=training.choose_by == "citation_f1" if measured else None,
        logging_steps=training.log_every,
        logging_nan_inf_filter=False,
        restore_callback_states_from_checkpoint=True,
        dataloader_pin_memory=False,
        use_cpu=not gpu,
        report_to="none",
        disable_tqdm=True,
    )
