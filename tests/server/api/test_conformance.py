"""Schemathesis asks every address of the API in all ways that its description has, and in others."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.small_service import BATS
from citewell.core.settings import Settings
from tests.server.api.conftest import make_key, serving
from tests.server.places import four_places

pytestmark = pytest.mark.long

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
EXAMPLES = 2  # of each address, beside those that cover each part of its description
PATIENCE = (
    120  # seconds for a reply: an answer takes more than the usual 10 while other tests use the processor
)
ANSWERED = ("feedback", "ratings", "events", "episode")


def test_no_address_has_a_fault_or_an_undocumented_reply(
    settings: Callable[..., Settings], collection_data: Path, tmp_path: Path
) -> None:
    """What CONTRIBUTING.md runs with more examples against a service of your own."""
    cheap = {"retriever__prefilter": 2, "retriever__k": 2, "retriever__max_tokens": 32}
    own = shutil.copytree(collection_data, tmp_path / "data")  # collections are deleted, too
    with (
        four_places(own) as places,
        serving(settings(**places, server__rate_per_minute=0, **cheap)) as service,
    ):
        key = make_key(service, "ask", "feedback", "export", "admin")
        answer = service.client.post("/v1/answers", json={"question": BATS}, headers=key).json()["id"]
        operations = [f"/v1/answers/{{answer_id}}/{name}" for name in ANSWERED]
        (tmp_path / "schemathesis.toml").write_text(
            "".join(
                f'[[operations]]\ninclude-path = "{path}"\nparameters = {{ "path.answer_id" = "{answer}" }}\n'
                for path in operations
            )
        )
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                *("run", f"{service.url}/schema/openapi.json", "--checks", CHECKS, "--no-color"),
                *("--header", f"Authorization: {key['Authorization']}", "--phases", "coverage,fuzzing"),
                *("--max-examples", str(EXAMPLES), "--seed", "1", "--generation-deterministic"),
                *("--request-timeout", str(PATIENCE)),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout
