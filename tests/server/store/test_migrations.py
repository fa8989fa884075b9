"""The tables are made once, as the code has them, and a newer version's are left alone."""

from __future__ import annotations

import importlib
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text

from citewell.server.api.answer_reply import answer_response
from citewell.server.store.address import read_address, store_url
from citewell.server.store.comparisons import RATINGS
from citewell.server.store.database import open_store
from citewell.server.store.engine import open_migrating_engine
from citewell.server.store.errors import StoreError
from citewell.server.store.jobs import StoredJob
from citewell.server.store.migrate import migrate
from citewell.server.store.tables import METADATA

from .samples import answer, comparison

if TYPE_CHECKING:
    from .conftest import Program


def test_migrations_make_the_tables_that_the_code_uses(url: str) -> None:
    address = read_address(url)
    assert migrate(address) == (
        "0001",
        "0002",
        "0003",
        "0004",
        "0005",
        "0006",
        "0007",
        "0008",
        "0009",
        "0010",
        "0011",
    )
    assert migrate(address) == ()
    engine = open_migrating_engine(address)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_processes_that_start_at_once_migrate_once(url: str, program: Program) -> None:
    processes = [program("migrator.py", url) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = sorted(process.communicate(timeout=60)[0].strip() for process in processes)
    assert printed == ["", "", "", "0001 0002 0003 0004 0005 0006 0007 0008 0009 0010 0011"]
    assert [process.returncode for process in processes] == [0, 0, 0, 0]


def test_a_migration_that_fails_leaves_nothing_behind(url: str) -> None:
    address = read_address(url)
    engine = open_migrating_engine(address)
    if address.file:
        address.file.parent.mkdir()
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE keys (id INTEGER)"))  # one of the last that are made
    with pytest.raises(StoreError, match="keys"):
        migrate(address)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE keys"))
    engine.dispose()
    assert migrate(address) == (
        "0001",
        "0002",
        "0003",
        "0004",
        "0005",
        "0006",
        "0007",
        "0008",
        "0009",
        "0010",
        "0011",
    )


def test_tables_of_a_newer_version_are_left_alone(url: str) -> None:
    address = read_address(url)
    migrate(address)
    engine = open_migrating_engine(address)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match="newer Citewell"):
        migrate(address)


def forget_studies(connection: Connection) -> None:
    """Bring the tables back to where they were before there were studies and what came later."""
    for name in ("studies", "study_items", "salts", "requests", "readers"):
        connection.execute(text(f"DROP TABLE {name}"))
    for name in ("comparisons", "rankings", "ratings"):
        connection.execute(text(f"DROP INDEX ix_{name}_study_item_id"))
        connection.execute(text(f"ALTER TABLE {name} DROP COLUMN study_item_id"))
    for name in ("comparisons", "rankings"):
        connection.execute(text(f"ALTER TABLE {name} DROP COLUMN rater"))
    connection.execute(text("ALTER TABLE ratings DROP COLUMN system"))
    connection.execute(text("ALTER TABLE comparisons DROP COLUMN ratings"))
    for name in RATINGS:
        connection.execute(text(f"ALTER TABLE comparisons ADD COLUMN {name} SMALLINT"))


async def test_stored_comparisons_keep_their_ratings(url: str) -> None:
    rated, flagged = comparison(), comparison(ratings={}, flag="unclear")
    async with open_store(url) as store:
        for each in (rated, flagged):
            await store.comparisons.add(each)
    engine = open_migrating_engine(read_address(url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0007'"))
        forget_studies(connection)
        values = ", ".join(f"{name} = {value}" for name, value in rated.ratings.items())
        connection.execute(text(f"UPDATE comparisons SET {values} WHERE id = '{rated.id}'"))
    engine.dispose()
    async with open_store(url) as store:
        assert [each async for each in store.comparisons.each()] == [rated, flagged]
        first, second = [(await store.pseudonyms()).of("key 1") for _ in range(2)]
    assert first == second
    assert len(first or "") == 12


async def test_stored_answers_get_their_new_names(url: str) -> None:
    body = {
        "status": "answered",
        "answer": "Because.",
        "references": [{"number": 1, "also": ["https://b.example"]}],
        "candidates": [{"score": 1.0, "value": 0.5}],
    }
    old, running = answer(status="done", body=body), answer()
    async with open_store(url) as store:
        await store.answers.add(old)
        await store.answers.add(running)
    engine = open_migrating_engine(read_address(url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0004'"))
        connection.execute(text("ALTER TABLE jobs DROP COLUMN documents"))
        connection.execute(text("DROP INDEX ix_answers_thread_id"))
        for name in ("thread", "title"):
            connection.execute(text(f"ALTER TABLE answers DROP COLUMN {name}"))
        forget_studies(connection)
    engine.dispose()
    async with open_store(url) as store:
        found, unanswered = await store.answers.get(old.id), await store.answers.get(running.id)
    assert found is not None
    assert found.body == {
        "outcome": "answered",
        "answer": "Because.",
        "rewritten": None,
        "fallback": None,
        "references": [{"number": 1, "duplicate_urls": ["https://b.example"]}],
        "candidates": [{"score": 1.0, "adjusted_score": 0.5}],
    }
    assert unanswered is not None
    assert unanswered.body is None
    assert (found.thread, unanswered.thread) == (old.id, running.id)


async def test_what_is_not_there_is_null_in_stored_rows(url: str) -> None:
    quotation = {"text": "Bats.", "citations": [1], "support": 1.0, "supported": True}
    body = {
        "outcome": "answered",
        "answer": "Bats.",
        "sentences": [quotation],
        "references": [{"number": 1, "url": "", "title": "", "text": "", "score": 0.0, "date": ""}],
        "failures": [{"url": "x", "reason": "y", "kind": ""}],
        "quotations": [],
        "fallback": "",
    }
    step = {"state": "", "command": "Top", "kind": "top", "reason": "", "title": "Bats", "url": ""}
    episode = {"id": "e", "question": "q", "policy": "p", "steps": [step], "quotes": [], "ending": "Answer"}
    old = answer(status="done", body=body)
    job = StoredJob("1", "documents", "done", 2, 2, "", old.created, old.created, {}, None)
    documents = [
        {"name": "a", "status": "indexed", "reason": "", "url": "u", "title": "", "passages": 3},
        {"name": "b", "status": "waiting"},
    ]
    async with open_store(url) as store:
        await store.answers.add(old, episode | {"answer": "", "created": "2026-01-01"})
        await store.jobs.add(replace(job, documents=documents))
    engine = open_migrating_engine(read_address(url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0009'"))
        connection.execute(text("DROP TABLE readers"))
    engine.dispose()
    async with open_store(url) as store:
        found, kept, done = (
            await store.answers.get(old.id),
            await store.answers.episode(old.id),
            await store.jobs.get("1"),
        )
    assert found is not None
    shown = answer_response(found)
    assert (shown.fallback, shown.rewritten) == (None, None)
    assert (shown.sentences[0].before, shown.references[0].date, shown.failures[0].kind) == (None,) * 3
    assert kept is not None
    assert (kept["answer"], kept["created"]) == (None, "2026-01-01")
    assert kept["steps"] == [step | {"reason": None, "url": None}]
    assert done is not None
    assert done.documents == [
        {"name": "a", "status": "indexed", "reason": None, "url": "u", "title": None, "passages": 3},
        {"name": "b", "status": "waiting", "passages": None},
    ]


def test_migrations_are_part_of_the_package() -> None:
    assert importlib.import_module("citewell.server.store.migrations.versions.v0001_first").revision == "0001"


async def test_the_file_is_its_owner_s_and_waits_for_the_disk(file: Path) -> None:
    async with open_store(f"sqlite:///{file}"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_any_folder_name_will_do(tmp_path: Path) -> None:
    folder = tmp_path / "50% of a folder #1"
    async with open_store(store_url("", folder)) as store:
        await store.ping()
    assert (folder / "citewell.sqlite3").is_file()
