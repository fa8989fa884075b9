"""`citewell keys` from outside: a key is printed once, and refused once it is revoked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import citewell
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.server.access.authenticator import Authenticator
from citewell.server.access.errors import NoKeyError, WrongKeyError
from citewell.server.store.database import open_store
from tests.nursery import Nursery

ROOT = Path(citewell.__file__).parents[1]
Keys = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def keys(nursery: Nursery, tmp_path: Path) -> Keys:
    """Run `citewell keys` with a data folder of its own."""
    variables = os.environ | {"CITEWELL_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return nursery.run("citewell.cli.main:main", "keys", *arguments, env=variables | more, cwd=tmp_path)

    return run


async def test_from_creating_to_revoking(keys: Keys, tmp_path: Path) -> None:
    assert "No keys yet" in keys("list").stdout
    created = keys("create", "Ada's laptop", "--scope", "ask", "--rate", "30", "--days", "90")
    assert created.returncode == 0, created.stderr
    secret = created.stdout.strip()
    assert "not shown again" in created.stderr
    assert secret not in created.stderr
    (listed,) = map(json.loads, keys("list", "--json").stdout.splitlines())
    assert (listed["name"], listed["status"], listed["scopes"]) == ("Ada's laptop", "active", ["ask"])
    assert (listed["rate_per_minute"], listed["daily"]) == (30, None)
    line = keys("list").stdout
    assert all(
        part in line for part in ("Ada's laptop", listed["id"], "active", "ask", "30 per minute", "expires")
    )

    file = tmp_path / "data" / "citewell.sqlite3"
    async with open_store(f"sqlite:///{file}") as store:
        authenticator = Authenticator(store.keys)
        assert (await authenticator.admit(f"Bearer {secret}", "ask")).key_id == listed["id"]
        assert keys("revoke", listed["id"]).returncode == 0
        with pytest.raises(WrongKeyError):
            await authenticator.admit(f"Bearer {secret}", "ask")
        with pytest.raises(NoKeyError):
            await authenticator.admit(None, "ask")
    assert "revoked" in keys("list").stdout
    kept = b"".join(path.read_bytes() for path in file.parent.glob("citewell.sqlite3*"))
    assert listed["id"].encode() in kept
    assert secret.split("_", 2)[2].encode() not in kept


def test_the_database_is_the_service_s(keys: Keys, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'another.sqlite3'}"
    made = json.loads(keys("create", "a", "--json", CITEWELL_SERVER__DATABASE_URL=url).stdout)
    assert made["secret"].startswith(f"cw_{made['id']}_")
    assert made["scopes"] == ["ask", "feedback"]
    assert "No keys yet" in keys("list").stdout
    assert not (tmp_path / "data").exists()
    assert made["id"] in keys("list", "--database", url).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["create", " "], 2, "is not a name for a key"),
        (["create", "a\x1b[31m"], 2, "is not a name for a key"),
        (["create", "a", "--scope", "everything"], 2, "everything"),
        (["create", "a", "--rate", "0"], 2, "--rate"),
        (["create", "a", "--days", "0"], 2, "--days"),
        (["revoke", "0123456789abcdef"], 2, "key 0123456789abcdef does not exist"),
        (["list", "--database", "mysql://me:hidden@host/name"], 2, "server.database_url is wrong"),
        (["list", "--database", "postgresql://me:hidden@127.0.0.1:1/name"], 1, "127.0.0.1:1/name failed"),
    ],
)
def test_what_cannot_be_done_is_said(keys: Keys, arguments: list[str], code: int, message: str) -> None:
    done = keys(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "hidden" not in done.stderr
    assert "Traceback" not in done.stderr


def test_reading_makes_no_database(keys: Keys, tmp_path: Path) -> None:
    with indexing(EmbeddedCatalog(tmp_path / "data"), "whales") as indexer:
        page = SourceDocument("https://whales.example/", b"Whales sing.", "text/plain", "Song")
        index_documents(indexer, "whales", [page])
    before = set(tmp_path.rglob("*"))
    usual = tmp_path / "data" / "citewell.sqlite3"
    listed = keys("list")
    assert (
        listed.returncode,
        f"No keys yet, since the database {usual} does not exist." in listed.stdout,
    ) == (
        0,
        True,
    )
    assert keys("list", "--json").stdout == ""
    assert keys("share", "whales").stdout == "whales can be read by everyone who may ask.\n"
    assert keys("share", "whales", "--everyone").returncode == 0
    for refused in (keys("revoke", "0123456789abcdef"), keys("share", "whales", "--key", "Ada")):
        assert refused.returncode == 2, refused.stderr
    named = tmp_path / "none.sqlite3"
    for command in (["list"], ["list", "--json"], ["revoke", "0123456789abcdef"], ["share", "whales"]):
        done = keys(*command, "--database", f"sqlite:///{named}")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"The database {named} does not exist." in done.stderr
    assert set(tmp_path.rglob("*")) - before == set()


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'alembic' else found(name, *more)\n"
    )
    program = "import sys; from citewell.cli.main import main; main(['keys', *sys.argv[1:]])"
    variables = {
        "CITEWELL_DATA_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
    }

    def keys(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, *arguments]
        return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)

    done = keys("list")
    assert done.returncode == 2
    assert "needs the package alembic" in done.stderr
    assert "[server]'" in done.stderr
    assert keys("--help").returncode == 0


async def test_a_collection_is_shared_with_some(keys: Keys, tmp_path: Path) -> None:
    with indexing(EmbeddedCatalog(tmp_path / "data"), "whales") as indexer:
        page = SourceDocument("https://whales.example/", b"Whales sing.", "text/plain", "Song")
        index_documents(indexer, "whales", [page])
    assert keys("share", "whales").stdout == "whales can be read by everyone who may ask.\n"
    keys("create", "Ada's laptop", "--scope", "ask")
    accounts = {
        "CITEWELL_SERVER__ACCOUNTS": '{"bob@example.org": ["ask"]}',
        "CITEWELL_SERVER__ACCOUNT_HEADER": "X-Forwarded-Email",
        "CITEWELL_SERVER__TRUSTED_PROXIES": "127.0.0.2",
    }
    sharing = ("share", "whales", "--key", "Ada's laptop", "--account", "bob@example.org")
    assert keys(*sharing, **accounts).stdout == (
        "whales can be read by the key Ada's laptop, the account bob@example.org.\n"
    )
    async with open_store(f"sqlite:///{tmp_path / 'data' / 'citewell.sqlite3'}") as store:
        readers = (await store.readers.all())["whales"]
    assert (readers.keys, readers.accounts) == ({"Ada's laptop"}, {"bob@example.org"})
    for arguments, words in (
        (("whales", "--key", "Ada"), "No active key has the name 'Ada'"),
        (("whales", "--account", "eve"), "The account 'eve' may not use this service"),
        (("nets", "--key", "Ada's laptop"), "There is no collection 'nets'"),
        (("whales", "--everyone", "--key", "Ada's laptop"), "Leave out --key"),
    ):
        refused = keys("share", *arguments)
        assert refused.returncode == 2, refused.stderr
        assert words in refused.stderr
    shown = {"collection": "whales", "keys": ["Ada's laptop"], "accounts": ["bob@example.org"]}
    assert json.loads(keys("share", "whales", "--json").stdout) == shown
    assert keys("share", "whales", "--everyone").stdout == "whales can be read by everyone who may ask.\n"
