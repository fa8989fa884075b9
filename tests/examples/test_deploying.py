"""The files that deploy the service agree with the code, and open nothing that they need not."""

from __future__ import annotations

import configparser
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from citewell.core.settings import Settings, load_settings, setting_names

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNIT = (ROOT / "deploy" / "citewell.service").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return found


def test_every_variable_that_is_set_is_a_setting(services: dict[str, Any]) -> None:
    known = {"CITEWELL_" + name.replace(".", "__").upper() for name in setting_names()}
    texts = (DOCKERFILE, UNIT, str(services["citewell"]["environment"]))
    variables = {name for text in texts for name in re.findall(r"CITEWELL_[A-Z_]+[A-Z]", text)}
    assert len(variables) > 5
    assert variables <= known


def test_the_service_alone_is_published_and_to_this_computer_alone(services: dict[str, Any]) -> None:
    ports = {name: service["ports"] for name, service in services.items() if "ports" in service}
    (published,) = ports.pop("citewell")
    assert ports == {}
    assert published.startswith("127.0.0.1:")
    assert published.endswith(f":{Settings().server.port}")
    assert [name for name, service in services.items() if "network_mode" in service] == []


def test_the_databases_have_no_way_out_and_a_secret_each(services: dict[str, Any]) -> None:
    networks = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["networks"]
    inside = {name for name, network in networks.items() if (network or {}).get("internal")}
    for name, secret in (("postgres", "POSTGRES_PASSWORD"), ("valkey", "VALKEY_PASSWORD")):
        assert set(services[name]["networks"]) <= inside
        assert services[name]["environment"][secret] == f"${{{secret}:?}}"  # without a default
    assert not inside & set(services["searxng"]["networks"])
    assert all("healthcheck" in services[name] for name in ("postgres", "valkey", "searxng"))
    assert "HEALTHCHECK" in DOCKERFILE


def test_the_limits_are_kept_by_a_server_without_root(services: dict[str, Any]) -> None:
    """The image of Valkey gives up root only where the command begins with the server itself."""
    assert services["valkey"]["command"][0] == "valkey-server"


def test_the_search_engine_of_compose_gives_json() -> None:
    wanted = yaml.safe_load((ROOT / "deploy" / "searxng.yml").read_text(encoding="utf-8"))
    assert "json" in wanted["search"]["formats"]


def test_running_questions_end_before_the_service_is_killed(services: dict[str, Any]) -> None:
    drain = load_settings({}).server.drain_seconds
    assert int(services["citewell"]["stop_grace_period"].removesuffix("s")) > drain
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(UNIT)
    assert int(unit["Service"]["TimeoutStopSec"]) > drain


def test_the_image_gets_all_packages_and_the_extras_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {
        name.removesuffix("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]
    }
    let_in = set(re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.M))
    assert packages <= let_in
    assert all(list(ROOT.glob(name)) for name in let_in)
    assert "pip install --no-deps --require-hashes -r requirements.lock" in DOCKERFILE


def test_the_lock_has_a_version_and_sums_of_everything_that_is_needed() -> None:
    """`make lock` writes it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r"^LOCKED_EXTRAS := (.+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    wanted = [*project["dependencies"], "setuptools>=77"]
    wanted += [each for extra in extras.split() for each in project["optional-dependencies"][extra]]
    wanted += re.findall(r"^\w.*==.*", (ROOT / "weights.txt").read_text(encoding="utf-8"), re.M)
    locked: dict[str, set[str]] = {}
    entries = re.split(r"\n(?=\w)", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    for entry in entries:
        found = re.match(r"([\w.-]+)(?:\[[\w,]+\])?==(\S+)", entry)
        assert found, entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
        locked.setdefault(canonicalize_name(found[1]), set()).add(found[2])
    for requirement in map(Requirement, wanted):
        versions = locked.get(canonicalize_name(requirement.name), set())
        assert any(requirement.specifier.contains(each, prereleases=True) for each in versions), requirement


def test_the_image_runs_as_an_ordinary_user() -> None:
    last = DOCKERFILE.split("\nFROM ")[-1]
    (user,) = re.findall(r"^USER (\d+):\1$", last, re.M)  # a number: Kubernetes sees that it is not root
    assert f"--uid {user} " in last
    assert "apt-get" not in DOCKERFILE
    assert re.search(r"pip uninstall .*\bpip\b", last)
