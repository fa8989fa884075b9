"""Samplers of scripted and of few commands, and a tiny policy that was cloned from two episodes."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.browser.episode import Episode, Step, write_episodes
from citewell.browser.limits import BrowserLimits
from citewell.browser.web import Web
from citewell.core.questions import AnsweredQuestion
from citewell.core.training.run import Run
from citewell.reinforcement.sampler import DrawnAnswer
from tests.browser.schools import School
from tests.browser.training.made_up import RECIPE
from tests.generator.training.made_up import write_llama

QUESTION = AnsweredQuestion("what colour is snow", ("white",))
COMMANDS = (
    "Search snow",
    "Clicked on link 2",
    "Quote: Snow is white and cold.",
    "End: Answer",
)
LIMITS = BrowserLimits(actions=6, state_tokens=700, window_lines=4)
_END = 1

if TYPE_CHECKING:
    import torch


@asynccontextmanager
async def open_school() -> AsyncGenerator[Web, None]:
    """The web of `School`."""
    yield School()


class ScriptedSampler:
    """Writes the texts of a script, a text for each prompt of a call; remembers prompts and grammars."""

    def __init__(self, tokenizer: Any, script: Sequence[str], *, ended: Callable[[int], bool]) -> None:
        """`ended` says by the place of a prompt whether what follows it ends."""
        self._tokenizer = tokenizer
        self._script = iter(script)
        self._ended = ended
        self.prompts: list[list[Sequence[int]]] = []
        self.grammars: list[Sequence[str]] = []

    def sample(
        self, prompts: Sequence[Sequence[int]], seed: int, grammars: Sequence[str] = ()
    ) -> list[DrawnAnswer]:
        """Return the next text of the script for each prompt."""
        self.prompts.append(list(prompts))
        self.grammars.append(grammars)
        text = next(self._script)
        ids = tuple(self._tokenizer.encode(text, add_special_tokens=False))
        found = []
        for place in range(len(prompts)):
            tokens = (*ids, _END) if self._ended(place) else ids
            found.append(DrawnAnswer(tokens, (0.0,) * len(tokens), self._ended(place)))
        return found


class HeldChoices:
    """Texts that are one of a few, whatever the grammars: a tree of their tokens."""

    def __init__(self, tokenizer: Any, choices: Sequence[str], rows: int) -> None:
        self._choices = [(*tokenizer.encode(each, add_special_tokens=False), _END) for each in choices]
        self._written: list[tuple[int, ...]] = [()] * rows

    def masked(self, logits: torch.Tensor) -> torch.Tensor:
        """Leave the tokens that continue a choice."""
        import torch

        found = torch.full_like(logits, float("-inf"))
        for row, written in enumerate(self._written):
            size = len(written)
            for choice in self._choices:
                if choice[:size] == written:
                    found[row, choice[size]] = logits[row, choice[size]]
        return found

    def accept(self, tokens: Sequence[int]) -> None:
        """Append one token to each row."""
        self._written = [(*of, token) for of, token in zip(self._written, tokens, strict=True)]

    def keep(self, rows: Sequence[int]) -> None:
        """Keep some rows."""
        self._written = [self._written[row] for row in rows]


async def states(commands: Sequence[str]) -> list[Step]:
    """The steps of an episode in `School`."""
    from citewell.browser.environment import Browser

    browser = Browser(School(), LIMITS, lambda text: len(text.encode()))  # as the tokenizer counts
    await browser.reset(QUESTION.question, actions=LIMITS.actions)
    return [(await browser.step(command)).step for command in commands]


def write_start(folder: Path, steps: Sequence[Step], others: Sequence[Step]) -> Path:
    """A policy that was cloned from episodes, of which as many end without a quote (`others`) as with one."""
    from citewell.browser.training.run import train

    write_llama(folder / "llama")
    episodes = [
        Episode(f"{n}", QUESTION.question, "made up", tuple(of), (), "Answer", reward=1.0)
        for n, of in enumerate([steps, others])
    ]
    write_episodes(episodes, folder / "demonstrations.jsonl")
    text = RECIPE.format(more="").replace('"llama"', json.dumps(str(folder / "llama")))
    head, _, training = text.partition("held_out = 3")
    training = training[training.index("[training]") :].replace("epochs = 8", "epochs = 150")
    head = head.replace("state_tokens = 600", "state_tokens = 700").replace(
        "window_lines = 3", "window_lines = 4"
    )
    training = training.replace("ema = 0.5\n", 'choose_by = "command_loss"\n')
    recipe = folder / "start.toml"
    head = head.replace("[model]", '[model]\ntuning = "full"')
    recipe.write_text(head + training, encoding="utf-8")
    made = Run(recipe=recipe, out=folder / "start", cache=folder / "cache", command="citewell train policy")
    train(made, lambda line: None, open_school)
    return folder


def write_recipe(folder: Path, name: str = "browsing.toml", reward: str = "found", **changes: Any) -> Path:
    """A recipe of PPO for `write_start`; `changes` are lines of [ppo]."""
    ppo = {"episodes": 16, "batch": 8, "minibatch": 16, "learning_rate": 0.003, "warmup": 0, "beta": 0.02}
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in (ppo | changes).items())
    question = {"question": QUESTION.question, "answers": list(QUESTION.answers)}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")
    asked_otherwise = question | {"question": f"Please tell: {QUESTION.question}"}
    (folder / "dev.jsonl").write_text(json.dumps(asked_otherwise) + "\n")
    file = folder / name
    file.write_text(
        f"""
[model]
start = {json.dumps(str(folder / "start"))}
[[data]]
name = "asked"
files = ["questions.jsonl"]
license = "CC0"
[[dev]]
name = "dev"
files = ["dev.jsonl"]
license = "CC0"
[episodes]
fewest_actions = 6
most_actions = 6
command_tokens = 40
answer_phases = 2
answer_tokens = 12
[reward]
kind = "{reward}"
missing = 0.0
[ppo]
{lines}
kl_budget = 1000.0
[value]
network = "head"
learning_rate = 0.01
warmup = 0
[training]
threads = 1
ema = 0.5
eval_every = 100
""",
        encoding="utf-8",
    )
    return file
