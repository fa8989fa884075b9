from __future__ import annotations

from pathlib import Path

from citewell.core.near_duplicates import NearDuplicates
from citewell.scorer.data.config import SplitConfig
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.splits import divide, part
from citewell.scorer.data.types import ComparisonData
from tests.scorer.data.files import ALL, answers, write

SPLITS = SplitConfig(dev=0.2, test=0.2, near=0.6)


def data(folder: Path, questions: list[str], name: str) -> ComparisonData:
    rows = [{"question": each, "answers": answers(("a", 1), ("b", 2))} for each in questions]
    return read_comparisons(write(folder, rows, name), ALL)


def asked(first: int, last: int) -> list[str]:
    return [f"What does word{n} mean for term{n} in place{n}?" for n in range(first, last)]


def test_each_question_is_in_one_split_and_all_of_its_data_with_it(tmp_path: Path) -> None:
    everything = data(tmp_path, asked(0, 300), "a.jsonl")
    division = divide([everything], SPLITS)
    parts = {split: part(everything, division, split) for split in ("train", "dev", "test")}
    assert sum(len(each.groups) for each in parts.values()) == 300
    assert 40 < len(parts["test"].groups) < 80
    for each in parts.values():
        assert {group.key for group in each.groups} == {voted.group for voted in each.voted}


def test_near_questions_of_two_sources_are_in_one_split(tmp_path: Path) -> None:
    first = data(tmp_path, asked(0, 100), "a.jsonl")
    near = [f"So what does word{n} mean, for term{n}, in place{n} or town{n}?" for n in range(100)]
    second = data(tmp_path, near, "b.jsonl")
    division = divide([first, second], SPLITS)
    questions = {group.key: group.question for each in (first, second) for group in each.groups}
    for split in ("dev", "test"):
        held = [questions[key] for key, where in division.splits.items() if where == split]
        index = NearDuplicates(held, SPLITS.near)
        others = [questions[key] for key, where in division.splits.items() if where != split]
        assert held
        assert not any(index.near(question) for question in others)


def test_data_added_at_the_end_moves_no_question(tmp_path: Path) -> None:
    before = divide([data(tmp_path, asked(0, 50), "a.jsonl")], SPLITS).splits
    after = divide([data(tmp_path, asked(0, 150), "a.jsonl")], SPLITS).splits
    assert before.items() <= after.items()


def test_two_halves_share_no_question_and_no_near_one(tmp_path: Path) -> None:
    near = [f"So what does word{n} mean, for term{n}, in place{n} or town{n}?" for n in range(100)]
    sources = [data(tmp_path, asked(0, 300), "a.jsonl"), data(tmp_path, near, "b.jsonl")]
    halves = [divide(sources, SPLITS.model_copy(update={"half": half})) for half in ("first", "second")]
    train = [
        [group.question for each in sources for group in part(each, half, "train").groups] for half in halves
    ]
    assert all(len(each) > 80 for each in train)
    first = NearDuplicates(train[0], SPLITS.near)
    assert not any(first.near(question) for question in train[1])
    tests = [{group.key for each in sources for group in part(each, half, "test").groups} for half in halves]
    assert tests[0] == tests[1] != set()
    voted = [{each.group for each in part(sources[0], half, "train").voted} for half in halves]
    assert not voted[0] & voted[1]
