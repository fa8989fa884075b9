"""Which demonstrations a policy learns from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from citewell.browser.episode import write_episodes
from citewell.browser.state import TakenQuote
from citewell.browser.training.config import load_config
from citewell.browser.training.sources import read_data
from citewell.core.training.sources import DataFolders

from .made_up import demonstrations, write_recipe


def test_what_people_demonstrated_is_learned_without_a_reward(tmp_path: Path) -> None:
    quotes = (TakenQuote("t", "d", "https://d.example", "Two."),)
    people = [
        replace(one, policy="human", reward=None, quotes=quotes, answer="Two [1].")
        for one in demonstrations()
    ]
    write_episodes(people, tmp_path / "demonstrations.jsonl")
    (tmp_path / "questions.jsonl").write_text('{"question": "who", "answers": ["nobody"]}\n')
    told: list[str] = []
    data = read_data(load_config(write_recipe(tmp_path)), DataFolders(tmp_path), told.append)
    assert told[:2] == [
        "made-up: 0 of 12 episodes have enough reward",
        "made-up: 12 more are of people, and nobody judged them",
    ]
    assert {pair.kind for pair in data.train[0].pairs} == {"search", "end", "answer"}
