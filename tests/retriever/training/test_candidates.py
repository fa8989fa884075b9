"""Candidates and hard negatives, with an encoder that counts letters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from citewell.core.training.sources import DataFolders
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.training.candidates import Miner, corpus_of, nearest
from citewell.retriever.training.config import EncoderRecipe, MiningConfig
from citewell.retriever.training.rows import LabeledRow, RowSource, known_answers
from citewell.retriever.training.sources import MiningPool, read_data


class Letters:
    """An encoder whose vectors are the counts of letters, of unit length."""

    name = "letters"
    fingerprint = "letters"
    dimension = 26

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        return self.encode_passages(questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        counts = [[text.lower().count(chr(97 + letter)) for letter in range(26)] for text in passages]
        vectors = np.array(counts, dtype=np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def told() -> list[str]:
    return []


def miner(tmp_path: Path, told: list[str], **changes: object) -> Miner:
    pytest.importorskip("faiss", reason="faiss, of the extra `dense`, is not installed")
    config = MiningConfig.model_validate({"margin": 0.0, "overlap": 0.99} | changes)
    return Miner(Letters(), config, tmp_path, told.append)


def mined(
    miner: Miner,
    rows: Sequence[LabeledRow],
    candidates: Sequence[str],
    count: int,
    known: Sequence[LabeledRow] = (),
) -> tuple[LabeledRow, ...]:
    """Mine for rows, with candidates, and with what other sources know."""
    pool = MiningPool(candidates, known_answers([RowSource("", (*rows, *known))]))
    return miner.mine(rows, pool, count)


ROW = LabeledRow("aabb", ("aabb", "zzz"), (1.0, 0.0), ("bab",))


def negatives(row: LabeledRow) -> tuple[str, ...]:
    return tuple(text for text, target in zip(row.passages, row.targets, strict=True) if target == 0)


def test_nearest_passages_come_first() -> None:
    pytest.importorskip("faiss", reason="faiss, of the extra `dense`, is not installed")
    letters = Letters()
    found = nearest(letters.encode_questions(["aab"]), letters.encode_passages(["zz", "aab", "b", "aa"]), 3)
    assert found.places.tolist() == [[1, 3, 2]]
    assert found.scores[0, 0] == pytest.approx(1)
    assert (np.diff(found.scores) < 0).all()


def test_passages_that_differ_in_case_or_space_are_one() -> None:
    assert corpus_of(["A  b", "a b", "c"]).passages == ("a b", "c")


def test_the_nearest_wrong_passages_become_negatives(tmp_path: Path, told: list[str]) -> None:
    (row,) = mined(miner(tmp_path, told), [ROW], ["aab", "abc", "xyz", "a"], 3)
    assert row.passages[:2] == ROW.passages
    assert negatives(row) == ("zzz", "aab", "abc")
    assert told == ["mined hard negatives from 6 passages; 1 of 1 questions have all 3"]


def test_what_may_answer_the_question_is_no_negative(tmp_path: Path, told: list[str]) -> None:
    others = ["abab", "bab x", "aab", "abc"]  # as near as the positive; holds the answer
    (row,) = mined(miner(tmp_path, told), [ROW], others, 9)
    assert negatives(row) == ("zzz", "aab", "abc")
    (row,) = mined(miner(tmp_path, told, answers=False), [ROW], others, 9)
    assert "bab x" in row.passages
    (row,) = mined(miner(tmp_path, told, margin=0.1), [ROW], others, 9)
    assert negatives(row) == ("zzz", "abc")
    assert told[-1].endswith("0 of 1 questions have all 9")


def test_copies_of_a_positive_are_no_negatives(tmp_path: Path, told: list[str]) -> None:
    row = LabeledRow("wolves hunt", ("Wolves hunt deer in winter.",), (1.0,))
    others = ["deer in winter", "bears fish in rivers"]
    (found,) = mined(miner(tmp_path, told, margin=-1.0), [row], others, 2)
    assert negatives(found) == ("bears fish in rivers",)


def test_a_positive_of_the_same_question_in_another_row_is_no_negative(
    tmp_path: Path, told: list[str]
) -> None:
    rows = [
        LabeledRow("aabb", ("aabb",), (1.0,)),
        LabeledRow("AABB", ("aab",), (1.0,)),
        LabeledRow("xy", ("xy",), (1.0,)),
    ]
    first, *_ = mined(miner(tmp_path, told), rows, [], 2)
    assert negatives(first) == ("xy",)


def test_a_positive_of_the_same_question_in_another_source_is_no_negative(
    tmp_path: Path, told: list[str]
) -> None:
    known = [LabeledRow("AABB ", ("aab", "abc"), (1.0, 0.0))]
    (row,) = mined(miner(tmp_path, told), [ROW], ["aab", "abc"], 9, known)
    assert negatives(row) == ("zzz", "abc")


def test_all_sources_of_a_recipe_are_known_before_negatives_are_mined(tmp_path: Path) -> None:
    for name, passage in (("first", "aabb"), ("second", "aab"), ("third", "xy")):
        row = {
            "question": "aabb" if name != "third" else "xy",
            "positive": [passage],
            "hard_negative": ["zz"],
        }
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    about = {"format": "pairs", "label": "positives", "license": "CC0"}
    first, second, dev = (
        about | {"name": name, "files": [f"{name}.jsonl"]} for name in ("first", "second", "third")
    )
    recipe = EncoderRecipe.model_validate(
        {"data": [first | {"negatives": 3}, second], "dev": [dev], "objectives": [{"name": "contrastive"}]}
    )
    pools: list[MiningPool] = []

    def mine(rows: Sequence[LabeledRow], pool: MiningPool, negatives: int) -> tuple[LabeledRow, ...]:
        pools.append(pool)
        return tuple(rows)

    data = read_data(recipe, DataFolders(tmp_path), mine)
    assert [source.name for source in data.train] == ["first", "second"]
    assert [each.known for each in pools] == [{"aabb": {"aabb", "aab"}, "xy": {"xy"}}]


def test_bm25_finds_what_the_encoder_does_not(tmp_path: Path, told: list[str]) -> None:
    row = LabeledRow("why do cats purr", ("Content cats purr.",), (1.0,))
    others = [*(f"whydocatspurr {number}" for number in range(9)), "Dogs bark at cats that are far away."]
    (plain,) = mined(miner(tmp_path, told, depth=1, margin=-1.0), [row], others, 5)
    (fused,) = mined(miner(tmp_path, told, depth=1, skip=0, bm25=True, margin=-1.0), [row], others, 5)
    assert set(plain.passages) <= set(fused.passages)
