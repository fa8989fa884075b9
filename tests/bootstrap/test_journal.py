"""The journal survives a process that is killed at any byte, and is read as it was written."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest

from citewell.bootstrap.journal import Journal
from citewell.bootstrap.types import Outcome, TeacherUsage
from citewell.core.errors import CitewellError, InputError
from tests.bootstrap.outcomes import drop, fault, sample

OUTCOMES: list[Outcome] = [
    sample("a", "Ça va?"),
    drop("b", "short"),
    fault("c"),
    sample("d", "Why?"),
    drop("e", "empty", scores=None),
]

NEW: dict[str, Outcome] = {"c": sample("c", "Why?")}


def test_outcomes_come_back_in_order_from_several_shards(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 2)
    journal.append(OUTCOMES[:1])
    journal.append(OUTCOMES[1:4])
    Journal(tmp_path, 2).append(OUTCOMES[4:])
    assert list(journal.outcomes()) == OUTCOMES
    assert [shard.name for shard in journal.shards()] == ["00000.jsonl", "00001.jsonl", "00002.jsonl"]
    assert [shard.read_bytes().count(b"\n") for shard in journal.shards()] == [2, 2, 1]


def test_failed_rows_of_older_runs_are_read(tmp_path: Path) -> None:
    (tmp_path / "outcomes").mkdir()
    line = {"outcome": "fault", "key": "c", "question": "Why?", "error": "No answer.", "attempts": 2}
    (tmp_path / "outcomes" / "00000.jsonl").write_bytes(msgspec.json.encode(line) + b"\n")
    (found,) = Journal(tmp_path, 2).outcomes()
    assert found.usage == TeacherUsage()


def test_a_line_that_was_cut_at_any_byte_is_written_again(tmp_path: Path) -> None:
    whole = b"".join(msgspec.json.encode(outcome) + b"\n" for outcome in OUTCOMES[:2])
    first = whole.index(b"\n") + 1
    journal = Journal(tmp_path, 10)
    journal.append(OUTCOMES[:1])
    (shard,) = journal.shards()
    for size in (first, first + 1, *range(first + 2, len(whole) - 1, 29), len(whole) - 1):
        shard.write_bytes(whole[:size])
        assert list(journal.outcomes()) == OUTCOMES[:1]
        again = Journal(tmp_path, 10)
        again.repair()
        again.append(OUTCOMES[1:2])
        assert shard.read_bytes() == whole


def test_a_shard_that_was_made_but_not_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 1)
    journal.append(OUTCOMES[:1])
    (tmp_path / "outcomes" / "00001.jsonl").touch()
    again = Journal(tmp_path, 1)
    again.repair()
    again.append(OUTCOMES[1:3])
    assert list(again.outcomes()) == OUTCOMES[:3]


def test_outcomes_are_replaced_in_their_places(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 2)
    journal.append(OUTCOMES)
    before = [shard.stat().st_mtime_ns for shard in journal.shards()]
    journal.replace({"c": sample("c", "How?")})
    assert list(journal.outcomes()) == [*OUTCOMES[:2], sample("c", "How?"), *OUTCOMES[3:]]
    after = [shard.stat().st_mtime_ns for shard in journal.shards()]
    assert (before[0], before[2]) == (after[0], after[2])


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 10)
    journal.append(OUTCOMES[:2])
    (shard,) = journal.shards()
    shard.write_bytes(shard.read_bytes().replace(b'"drop"', b'"drip"'))
    with pytest.raises(InputError, match=r"00000\.jsonl, line 2 is not an outcome"):
        list(journal.outcomes())


def test_a_shard_that_is_damaged_is_named(tmp_path: Path) -> None:
    (tmp_path / "outcomes").mkdir()
    whole = gzip.compress(b"".join(msgspec.json.encode(outcome) + b"\n" for outcome in OUTCOMES))
    (tmp_path / "outcomes" / "00000.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    for read in (lambda: list(Journal(tmp_path, 10).outcomes()), lambda: Journal(tmp_path, 10).replace(NEW)):
        with pytest.raises(InputError, match=r"00000\.jsonl\.gz cannot be read: .*ended"):
            read()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "outcomes").write_text("in the way")
    with pytest.raises(CitewellError, match="cannot be written"):
        Journal(tmp_path, 10).append(OUTCOMES[:1])


def test_gzipped_shards_are_complete_and_what_follows_goes_into_new_ones(tmp_path: Path) -> None:
    Journal(tmp_path, 10).append(OUTCOMES[:3])
    (shard,) = Journal(tmp_path, 10).shards()
    shard.with_name(f"{shard.name}.gz").write_bytes(gzip.compress(shard.read_bytes()))
    shard.unlink()
    journal = Journal(tmp_path, 10)
    journal.repair()
    journal.append(OUTCOMES[3:])
    assert list(Journal(tmp_path, 10).outcomes()) == OUTCOMES
    assert [shard.name for shard in journal.shards()] == ["00000.jsonl.gz", "00001.jsonl"]
    journal.replace({"c": sample("c", "Question c?")})
    assert [outcome.key for outcome in journal.outcomes()] == ["a", "b", "c", "d", "e"]
    assert list(journal.outcomes())[2] == sample("c", "Question c?")
