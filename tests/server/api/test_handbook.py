"""The commands of the handbook's page about the service work as they stand there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.server.api.conftest import Service, Start

PAGE = Path(__file__).parents[3] / "docs" / "service.md"
COMMANDS = [
    block
    for block in re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    if "curl" in block
]


def test_the_commands_of_the_page_work_one_after_another(start: Start, tmp_path: Path) -> None:
    service = start()
    for command in COMMANDS:
        own = command.replace("http://127.0.0.1:8090", service.url)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", own.replace("curl -s", "curl --fail-with-body -s")],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, command + done.stdout + done.stderr
        assert '"detail"' not in done.stdout.partition("{")[2][:200]
    assert '"thumbs":1' in (tmp_path / "feedback.jsonl").read_text()
    assert '"preferred":0' in (tmp_path / "comparisons.jsonl").read_text()


def test_every_event_of_a_stream_is_explained() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = "queued searching searched browsed fetched failed ranked notice quoted token scored done error"
    assert [name for name in names.split() if f"| `{name}` |" not in page] == []


def test_the_pages_name_every_address(service: Service) -> None:
    page = "".join(page.read_text(encoding="utf-8") for page in PAGE.parent.glob("service*.md"))
    paths = service.client.get("/schema").json()["paths"]
    page = re.sub(r"{\w+}", "{}", page)
    shown = {re.sub(r"{\w+}", "{}", path) for path in paths if path.startswith("/v1/")}
    assert {path for path in shown if path not in page} == set()
