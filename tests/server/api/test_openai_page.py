"""The handbook's pages about OpenAI's clients and about metrics say what is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.api.conftest import Service, Start

DOCS = Path(__file__).parents[3] / "docs"
OPENAI = (DOCS / "service-openai.md").read_text(encoding="utf-8")
MONITORING = (DOCS / "service-monitoring.md").read_text(encoding="utf-8")


@pytest.fixture
def handbook_service(start: Start, tmp_path: Path) -> Service:
    return start(data_dir=tmp_path, search__collection="handbook")


def test_the_programs_of_the_page_get_cited_answers(handbook_service: Service) -> None:
    programs = [(["bash", "-c"], code) for code in re.findall(r"^```bash\n(.*?)^```", OPENAI, re.M | re.S)]
    programs += [
        ([sys.executable, "-c"], code) for code in re.findall(r"^```py\n(.*?)^```", OPENAI, re.M | re.S)
    ]
    assert len(programs) == 3
    for interpreter, code in programs:
        own = code.replace("http://127.0.0.1:8090", handbook_service.url).replace("cw_…", "none")
        done = subprocess.run([*interpreter, own], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if "embeddings" in code:
            near, far = map(float, done.stdout.split())
            assert near > far
        else:
            assert re.search(r"\[[1-5]\]", done.stdout), done.stdout


def test_every_metric_is_explained(service: Service) -> None:
    text = service.client.get("/metrics").text
    names = {
        name for name in re.findall(r"^# TYPE (citewell_\w+)", text, re.M) if not name.endswith("_created")
    }
    assert len(names) > 10
    assert {name for name in names if f"`{name}`" not in MONITORING} == set()


def test_every_key_of_the_field_is_explained(service: Service) -> None:
    schemas = service.client.get("/schema").json()["components"]["schemas"]
    assert {key for key in schemas["ChatExtra"]["properties"] if f"`{key}`" not in OPENAI} == set()
