"""The policy's recipe that comes with Citewell can be read, and the handbook is right about it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from citewell.browser.episode import Episode, Step, read_episodes
from citewell.browser.pairs import pairs
from citewell.browser.training.config import load_config

ROOT = Path(__file__).parents[3]


def test_the_recipe_can_be_read() -> None:
    config = load_config(ROOT / "recipes" / "citewell-browser.toml")
    assert all(source.license for source in config.data)
    assert config.measured
    assert config.browser.limits.actions == config.browser.actions


@pytest.fixture
def example() -> str:
    """The episode that the handbook shows."""
    page = (ROOT / "docs" / "browser-data.md").read_text(encoding="utf-8")
    found = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_documented_episode_is_read(example: str, tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_text(json.dumps(json.loads(example)) + "\n", encoding="utf-8")
    (episode,) = read_episodes(file)
    assert [pair.command for pair in pairs(episode, 500)] == [f"Search {episode.question}"]
    assert "Michelangelo" in episode.quotes[0].text


@pytest.mark.parametrize("kind", [Episode, Step])
def test_the_handbook_lists_all_fields(kind: type, example: str) -> None:
    page = (ROOT / "docs" / "browser-data.md").read_text(encoding="utf-8")
    for name in kind.__dataclass_fields__:  # type: ignore[attr-defined]
        assert f"| `{name}` |" in page
        assert f'"{name}"' in example
