"""The loop of PPO: iterations, checkpoints, evaluations, and when to stop."""

from __future__ import annotations

import json
import shutil
import time
import zlib
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from citewell.core.progress import Log, duration
from citewell.core.training.checkpoints import (
    checkpoint_step,
    last_checkpoint,
    load_trained,
    save_trained,
)
from citewell.core.training.fit import device_name
from citewell.core.training.folder import CHECKPOINTS
from citewell.core.training.run import RunResult
from citewell.reinforcement.config import PpoSections
from citewell.reinforcement.course import DEV, write_course
from citewell.reinforcement.networks import PolicyNetworks
from citewell.reinforcement.rollout import Experience
from citewell.reinforcement.update import PpoUpdate

_STATE = "trainer_state.json"  # written last: a checkpoint without it is not complete
_OPTIMIZERS = "optimizers.pt"


@dataclass
class PpoState:
    """How far a run is. `best` is the iteration with the best dev score, `stale` the evaluations since."""

    iteration: int = 0
    best: int = 0
    best_score: float = float("-inf")
    stale: int = 0
    seconds: float = 0.0
    tokens: int = 0
    history: list[dict[str, float]] = field(default_factory=list)


class PpoTrainer:
    """A run of PPO in a folder. `state` is how far it is."""

    def __init__(
        self,
        networks: PolicyNetworks,
        experience: Experience,
        update: PpoUpdate,
        config: PpoSections,
        folder: Path,
        tell: Log,
    ) -> None:
        from citewell.core.training.average import Average

        self._networks = networks
        self._experience = experience
        self._update = update
        self._config = config
        self._folder = folder
        self._tell = tell
        ema = config.training.ema
        self._average = Average(networks.module, ema) if ema is not None else None
        self.state = PpoState()

    def run(self) -> RunResult:
        """Train from the last complete checkpoint, if there is one; leave the kept weights in the networks.

        Kept are the weights of the last iteration, with `patience` those with the best dev score, and never
        weights whose KL divergence on the dev questions is beyond the budget.
        """
        import torch

        torch.set_num_threads(self._config.training.threads)
        ppo, state = self._config.ppo, self._resumed()
        if not state.history:
            self._evaluate()
            self._save()
        reason = self._stale()
        while state.iteration < ppo.iterations and not reason:
            reason = self._iterate()
        kept = state.best if self._config.training.patience is not None else state.iteration
        if reason.startswith("KL"):
            kept = min(kept, state.iteration - 1)
        if reason:
            self._tell(f"stopped after iteration {state.iteration:,}: {reason}")
        return self._kept(kept)

    def _iterate(self) -> str:
        """Do one iteration; return why it is the last one, or an empty text."""
        config, state = self._config, self.state
        started = time.monotonic()
        episodes, measures, tokens = self._experience.gather(
            state.iteration, self._seed(f"iteration {state.iteration}")
        )
        if self._is_beyond(measures["kl"]):
            return f"KL {measures['kl']:.2f} is beyond the budget of {config.ppo.kl_budget}"
        stepped = self._average.update if self._average is not None else _nothing
        measures |= self._update.improve(episodes, state.iteration, stepped)
        seconds = time.monotonic() - started
        state.iteration += 1
        state.tokens += tokens
        state.seconds += seconds
        state.history.append({"step": state.iteration, **measures, "tokens_per_second": tokens / seconds})
        left = duration(state.seconds / state.iteration * (config.ppo.iterations - state.iteration))
        self._tell(
            f"iteration {state.iteration:,} of {config.ppo.iterations:,}, {tokens / seconds:.0f} tokens/s, "
            f"{left} left, score {measures['score']:+.3f}, KL {measures['kl']:.2f}"
        )
        last = state.iteration == config.ppo.iterations
        if last or state.iteration % config.training.eval_every == 0:
            self._evaluate()
        self._save()
        return self._stale()

    def _stale(self) -> str:
        """Return why the run has no more patience, or an empty text."""
        patience, stale = self._config.training.patience, self.state.stale
        return f"no gain in {stale} evaluations" if patience and stale >= patience else ""

    def _evaluate(self) -> dict[str, float]:
        """Measure the averaged weights on the dev questions: by the same chance each time."""
        state = self.state
        started = time.monotonic()
        with self._average.used() if self._average is not None else nullcontext():
            found = self._experience.measure(self._seed("dev"))
        state.seconds += time.monotonic() - started
        self._tell(f"iteration {state.iteration:,}: " + ", ".join(f"{k} {v:.4f}" for k, v in found.items()))
        state.history.append({"step": state.iteration} | {DEV + name: v for name, v in found.items()})
        if found["score"] > state.best_score and not self._is_beyond(found["kl"]):
            state.best, state.best_score, state.stale = state.iteration, found["score"], 0
        else:
            state.stale += 1
        return found

    def _is_beyond(self, kl: float) -> bool:
        budget = self._config.ppo.kl_budget
        return budget is not None and kl > budget

    def _seed(self, what: str) -> int:
        return zlib.crc32(f"{self._config.training.seed} {what}".encode())

    def _kept(self, kept: int) -> RunResult:
        """Put the weights after iteration `kept` into the networks, or others within the budget.

        Others are those after the iteration before, or the best ones, which are always within it.
        """
        state = self.state
        while True:
            self._load_weights(self._folder / CHECKPOINTS / f"checkpoint-{kept}")
            after = self._dev_at(kept)
            if after is None:
                state.iteration = kept
                after = self._evaluate()
            if not self._is_beyond(after["kl"]) or kept == state.best:
                break
            before = self._folder / CHECKPOINTS / f"checkpoint-{kept - 1}"
            kept = kept - 1 if before.is_dir() else state.best
        if self._average is not None:
            self._average.apply()
        write_course(state.history, self._folder)
        return RunResult(
            steps=state.iteration,
            best_step=kept,
            seconds=round(state.seconds, 1),
            device=device_name(self._config.training.threads),
            seen=state.tokens,
            unit="tokens",
            before=self._dev_at(0) or {},
            after=after,
        )

    def _dev_at(self, iteration: int) -> dict[str, float] | None:
        found = (entry for entry in self.state.history if entry["step"] == iteration)
        return next(
            (
                {name.removeprefix(DEV): value for name, value in entry.items() if name != "step"}
                for entry in found
                if f"{DEV}score" in entry
            ),
            None,
        )

    def _save(self) -> None:
        import torch

        state = self.state
        folder = self._folder / CHECKPOINTS
        checkpoint = folder / f"checkpoint-{state.iteration}"
        shutil.rmtree(checkpoint, ignore_errors=True)
        save_trained(self._networks.module, checkpoint)
        if self._average is not None:
            self._average.save(checkpoint)
        torch.save(
            {"policy": self._update.policy.state_dict(), "value": self._update.value.state_dict()},
            checkpoint / _OPTIMIZERS,
        )
        write_course(state.history, self._folder)
        (checkpoint / _STATE).write_text(json.dumps(asdict(state)), encoding="utf-8")
        needed = {state.iteration, state.iteration - 1, state.best}
        for other in folder.glob("checkpoint-*"):
            if checkpoint_step(other) not in needed:
                shutil.rmtree(other)

    def _resumed(self) -> PpoState:
        import torch

        checkpoint = last_checkpoint(self._folder / CHECKPOINTS)
        if checkpoint is not None:
            self._load_weights(checkpoint)
            optimizers: Any = torch.load(checkpoint / _OPTIMIZERS, weights_only=True)
            self._update.policy.load_state_dict(optimizers["policy"])
            self._update.value.load_state_dict(optimizers["value"])
            self.state = PpoState(**json.loads((checkpoint / _STATE).read_text(encoding="utf-8")))
            self._tell(f"resuming after iteration {self.state.iteration:,}")
        return self.state

    def _load_weights(self, checkpoint: Path) -> None:
        load_trained(self._networks.module, checkpoint)
        if self._average is not None:
            self._average.load(checkpoint)


def _nothing() -> None:
    pass
