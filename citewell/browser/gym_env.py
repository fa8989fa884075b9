"""The text browser as an environment of Gymnasium (https://gymnasium.farama.org), for reinforcement learning.

Importing this module registers `citewell/Browser-v0`, so that `gymnasium.make` and `gymnasium.make_vec` find
it under `citewell.browser.gym_env:citewell/Browser-v0`. It needs the package gymnasium.
"""

from __future__ import annotations

import asyncio
import string
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import gymnasium
from gymnasium import spaces

from citewell.browser.environment import LONGEST_COMMAND, Browser
from citewell.browser.episode import Episode
from citewell.browser.episodes import EpisodeLog, Question
from citewell.core.errors import InputError

ID = "citewell/Browser-v0"

_CHARACTERS_A_TOKEN = 64  # at most, and by far: tokens of several spaces are the longest ones


class AnyText(spaces.Text):
    """All texts up to a length; samples have the letters, digits and signs of ASCII."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=string.printable)

    def contains(self, x: Any) -> bool:
        """Return True if `x` is text within the maximum length."""
        return isinstance(x, str) and len(x) <= self.max_length


class Range(NamedTuple):
    """Minimum and maximum actions of an episode; WebGPT drew 20 to 100 in training (§3.2)."""

    least: int
    most: int


class BrowserEnv(gymnasium.Env[str, str]):
    """One browser; observations are states as text, actions are commands as text.

    Every episode has a question of `questions`, drawn by the seed of `reset`, or `options={"question": ...}`.
    The reward is 0 until the episode ends, and is then computed by `reward`. An invalid command counts as an
    action. The maximum of actions is part of the environment (the state shows how many are left), so that
    reaching it terminates and does not truncate.

    `info` has the question, the quotes so far (the references of an answer), and whether the action was
    valid, with the reason if not; at the end also the ending and the `Episode`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        start: Callable[[], Browser],
        questions: Sequence[Question],
        reward: Callable[[Episode], float],
        *,
        actions: Range | None = None,
        runner: asyncio.Runner | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Browse with the browser that `start` returns.

        The maximum of actions is drawn from `actions`, or else is that of the question or the browser. A web
        whose connections belong to an event loop needs that loop's `runner`. Raises `InputError` if there are
        no questions.
        """
        if not questions:
            raise InputError("There is no question to browse for.", "Give at least one.")
        self.render_mode = render_mode
        self._browser = start()
        self._questions = questions
        self._reward = reward
        self._actions = actions
        self._own = None if runner else asyncio.Runner()
        self._runner = runner or self._own
        self._notes = EpisodeLog("gymnasium")
        self.observation_space = AnyText(_CHARACTERS_A_TOKEN * self._browser.limits.state_tokens)
        self.action_space = AnyText(LONGEST_COMMAND)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode; `options` may contain `question`, a `Question`."""
        super().reset(seed=seed)
        drawn = self._questions[int(self.np_random.integers(len(self._questions)))]
        question: Question = (options or {}).get("question", drawn)
        most = question.actions
        if self._actions:
            most = int(self.np_random.integers(self._actions.least, self._actions.most, endpoint=True))
        self._notes = EpisodeLog("gymnasium")
        reset = self._browser.reset(question.text, answer=question.answer, actions=most)
        state = self._run(reset)
        return str(state), self._info("", None)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out a command; return the state, the reward, whether the episode ended, False, and `info`."""
        state, step, ended = self._run(self._browser.step(action))
        self._notes.add(step)
        episode = self._notes.episode(self._browser, ended) if ended else None
        reward = float(self._reward(episode)) if episode else 0.0
        return str(state), reward, ended is not None, False, self._info(step.reason, episode)

    def render(self) -> str:
        """Return the state as text."""
        return str(self._browser.state)

    def close(self) -> None:
        """Close the event loop if the environment created it."""
        if self._own:
            self._own.close()

    def _run(self, coroutine: Any) -> Any:
        assert self._runner is not None
        return self._runner.run(coroutine)

    def _info(self, reason: str, episode: Episode | None) -> dict[str, Any]:
        info: dict[str, Any] = {
            "question": self._browser.question,
            "quotes": [asdict(quote) for quote in self._browser.quotes],
            "valid": not reason,
            "reason": reason,
        }
        return info | ({"ending": episode.ending, "episode": episode} if episode else {})


gymnasium.register(ID, entry_point="citewell.browser.gym_env:BrowserEnv")
